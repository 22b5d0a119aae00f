"""A thin QR factorisation that columns enter and leave."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from .arrays import Array


class UpdatedQR:
    """A_F = Q R for a changing set F of columns.

    A column enters by Gram–Schmidt with one reorthogonalisation, which keeps Q orthonormal to
    rounding, and leaves by Givens rotations: O(m k) each, where a fresh factorisation takes O(m k²).
    """

    def __init__(self, rows: int, capacity: int = 32, dependent: float = 1e-12) -> None:
        self.size = 0
        self.dependent = dependent
        """A column is dependent when this fraction of it, or less, lies outside the span of others."""
        self._q = np.empty((capacity, rows))
        self._r = np.zeros((capacity, capacity))

    @property
    def q(self) -> Array:
        """Q, m × k."""
        return self._q[: self.size].T

    @property
    def r(self) -> Array:
        """R, k × k, upper triangular."""
        return self._r[: self.size, : self.size]

    def append(self, column: Array) -> bool:
        """Add a column at the end; False, and no change, if it depends on those already there."""
        self._reserve(self.size + 1)
        q = self.q
        coefficients = q.T @ column
        rest = column - q @ coefficients
        again = q.T @ rest
        rest -= q @ again
        length = float(np.linalg.norm(rest))
        if length <= self.dependent * float(np.linalg.norm(column)) or self.size == len(column):
            return False
        k = self.size
        self._r[:k, k] = coefficients + again
        self._r[k, :k] = 0.0
        self._r[k, k] = length
        self._q[k] = rest / length
        self.size += 1
        return True

    def remove(self, position: int) -> None:
        """Take the column at `position` out; later ones move up."""
        from .kernels.givens import remove_column

        remove_column(self._q, self._r, self.size, position)
        self.size -= 1

    def project(self, v: Array) -> Array:
        """Qᵀ v: the coordinates of the projection of v on the span of the columns."""
        return self.q.T @ v

    def solve(self, coordinates: Array) -> Array:
        """R⁻¹ c: with c = Qᵀv, the least-squares coefficients of v."""
        return np.asarray(solve_triangular(self.r, coordinates, check_finite=False))

    def solve_transposed(self, v: Array) -> Array:
        """R⁻ᵀ v."""
        return np.asarray(solve_triangular(self.r, v, trans=1, check_finite=False))

    def _reserve(self, size: int) -> None:
        if size <= len(self._q):
            return
        capacity = 2 * len(self._q)
        q = np.empty((capacity, self._q.shape[1]))
        q[: self.size] = self._q[: self.size]
        r = np.zeros((capacity, capacity))
        r[: self.size, : self.size] = self.r
        self._q, self._r = q, r
