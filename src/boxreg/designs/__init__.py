"""Designs: one class for each way to hold A."""

from .base import Design
from .dense import DenseDesign
from .device import ArrayDesign
from .operator import OperatorDesign
from .sparse import SparseDesign
from .stacked import StackedDesign

__all__ = [
    "ArrayDesign",
    "DenseDesign",
    "Design",
    "OperatorDesign",
    "SparseDesign",
    "StackedDesign",
]
