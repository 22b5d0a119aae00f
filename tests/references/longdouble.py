"""Least squares in extended precision (np.longdouble, the widest the platform offers)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

LongArray: TypeAlias = NDArray[np.longdouble]

EPS = np.finfo(np.longdouble).eps


class OrthogonalBasis:
    """A = Q R over an independent subset of the columns of A, by twice-applied Gram-Schmidt.

    A column is left out when its distance to the span of those kept before it is at most
    16 sqrt(m) eps times its norm.  `kept` lists the others, in order.
    """

    def __init__(self, A: LongArray) -> None:
        m, n = A.shape
        self.kept: list[int] = []
        self._q = np.empty((min(m, n), m), dtype=np.longdouble)  # rows are orthonormal
        self._r = np.zeros((min(m, n), min(m, n)), dtype=np.longdouble)
        self._tolerance = 16 * np.sqrt(np.longdouble(m)) * EPS
        for j in range(n):
            k = len(self.kept)
            if k == m:
                break
            v, coefficients = self._remove_span(A[:, j])
            length = norm(v)
            if length > self._tolerance * norm(A[:, j]):
                self._q[k] = v / length
                self._r[:k, k], self._r[k, k] = coefficients, length
                self.kept.append(j)

    @property
    def rank(self) -> int:
        """The number of columns kept."""
        return len(self.kept)

    def _remove_span(self, v: LongArray) -> tuple[LongArray, LongArray]:
        q = self._q[: self.rank]
        first = q @ v
        v = v - first @ q
        second = q @ v
        return v - second @ q, first + second

    def solve(self, b: LongArray) -> LongArray:
        """The coefficients z of the kept columns that minimise |A_kept z - b|."""
        _, z = self._remove_span(b)
        for i in reversed(range(self.rank)):
            z[i] = (z[i] - self._r[i, i + 1 : self.rank] @ z[i + 1 :]) / self._r[i, i]
        return z

    def amplify(self, e: LongArray) -> np.longdouble:
        """A bound on |Q R^-T e'| over all |e'| <= e, namely | |R^-T| e |."""
        k = self.rank
        inverse = np.zeros((k, k), dtype=np.longdouble)  # of the lower triangle R^T
        for i in range(k):
            inverse[i] = -(self._r[:i, i] @ inverse[:i])
            inverse[i, i] += 1
            inverse[i] /= self._r[i, i]
        return np.longdouble(norm(np.abs(inverse) @ e))


def norm(a: LongArray) -> LongArray:
    """Euclidean norm of a vector, or of each column of a matrix."""
    return np.sqrt(np.sum(a * a, axis=0, dtype=np.longdouble))
