"""One problem as every contestant gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .functions import Array, Function


@dataclass(frozen=True)
class LossProblem:
    """min F(A x) + λ sum x over 0 <= x <= upper; A is an F-ordered float64 array or a csc_array."""

    A: Any
    y: Array
    function: Function
    upper: float = np.inf
    linear: float = 0.0

    lower = 0.0

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self.A)

    def project(self, x: Array) -> Array:
        return np.clip(x, self.lower, self.upper)

    def objective(self, x: Array) -> float:
        value, _ = self.function.value_and_slope(np.asarray(self.A @ x), self.y)
        return value + self.linear * float(np.sum(x))

    def start(self) -> Array:
        """0; where the loss is infinite there, equal coordinates that predict the counts in total."""
        x = np.zeros(self.A.shape[1])
        if self.function.finite_at_zero:
            return x
        counted = self.y > 0.0
        total = float(np.sum(np.asarray(self.A @ np.ones_like(x))[counted]))
        return self.project(np.full_like(x, float(np.sum(self.y)) / total))

    def scale(self) -> float:
        """P at the start: what relative gaps are relative to."""
        return self.objective(self.start())


def make(
    A: Any, y: Any, function: Function, upper: float = np.inf, linear: float = 0.0
) -> LossProblem:
    """A problem in the layout that this class promises."""
    if sparse.issparse(A):
        matrix = sparse.csc_array(A, dtype=np.float64)
        matrix.sort_indices()
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    else:
        matrix = np.asfortranarray(A, dtype=np.float64)
    return LossProblem(matrix, np.ascontiguousarray(y, dtype=np.float64), function, upper, linear)
