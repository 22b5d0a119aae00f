"""Primal solvers: one file each, and the registry of their names."""

from __future__ import annotations

from typing import Any

from .active_set import ActiveSet
from .base import PrimalSolver
from .chambolle_pock import ChambollePock
from .coordinate_descent import CoordinateDescent
from .interior_point import InteriorPoint
from .newton import Newton
from .projected_gradient import ProjectedGradient
from .sparse_descent import SparseDescent
from .working_set import WorkingSet

SOLVERS: dict[str, type[PrimalSolver[Any]]] = {
    "active_set": ActiveSet,
    "chambolle_pock": ChambollePock,
    "coordinate_descent": CoordinateDescent,
    "interior_point": InteriorPoint,
    "newton": Newton,
    "projected_gradient": ProjectedGradient,
    "sparse_descent": SparseDescent,
    "working_set": WorkingSet,
}

__all__ = [
    "SOLVERS",
    "ActiveSet",
    "ChambollePock",
    "CoordinateDescent",
    "InteriorPoint",
    "Newton",
    "PrimalSolver",
    "ProjectedGradient",
    "SparseDescent",
    "WorkingSet",
]
