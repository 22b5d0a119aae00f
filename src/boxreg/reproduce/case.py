"""A problem of an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds

from ..arrays import Array
from ..workloads import Workload


@dataclass(frozen=True, eq=False)
class Case:
    """What is handed to `solve`, by name."""

    name: str
    A: Any
    y: Array
    lower: float
    upper: float
    loss: str = "least_squares"

    @classmethod
    def of(cls, drawn: Workload) -> Case:
        """A synthetic workload."""
        return cls(drawn.name, drawn.A, drawn.y, drawn.lower, drawn.upper)

    @property
    def data(self) -> tuple[Any, Array, float, float]:
        """The positional arguments of `solve`."""
        return self.A, self.y, self.lower, self.upper

    @property
    def bounded(self) -> bool:
        """Whether every coordinate has two finite bounds."""
        return bool(np.isfinite(self.upper))

    @cached_property
    def squared_norm(self) -> float:
        """||A||², the square of the largest singular value; off every clock."""
        start = np.ones(min(self.A.shape))
        return float(svds(self.A, k=1, v0=start, tol=1e-10, return_singular_vectors=False)[0]) ** 2

    def saturation(self, x: Array) -> float:
        """Share of the coordinates of x at a bound."""
        return float(np.mean((x == self.lower) | (x == self.upper)))
