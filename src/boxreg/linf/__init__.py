"""The ℓ∞-penalised (antisparse) problem."""

from .api import antisparse
from .result import AntisparseResult

__all__ = ["AntisparseResult", "antisparse"]
