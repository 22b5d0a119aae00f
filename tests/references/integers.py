"""Box-constrained least squares on integers, and an exact solver for its normal equations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class IntegerProblem:
    """min 1/2 |B z - b|^2 subject to p <= z <= q, all data integer, q_j None for +inf.

    Equivalent to min 1/2 |A x - y|^2, l <= x <= u through x_j = unit_j z_j: with c_j the
    denominator of column j and s a common multiple of the other denominators,

        B_j = c_j A_j,   b = s y,   z_j = s x_j / c_j.

    Scaling each column by itself keeps the integers short when column norms differ widely.
    """

    columns: list[list[int]]
    target: list[int]
    lower: list[int]
    upper: list[int | None]
    unit: list[Fraction]

    @classmethod
    def from_floats(
        cls, A: ArrayLike, y: ArrayLike, lower: ArrayLike, upper: ArrayLike
    ) -> IntegerProblem:
        """Convert floating-point data without rounding; reject what the problem class excludes."""
        a, rhs = np.asarray(A), np.asarray(y)
        lo, hi = np.asarray(lower), np.asarray(upper)
        if a.ndim != 2 or rhs.shape != a.shape[:1] or not lo.shape == hi.shape == a.shape[1:]:
            raise ValueError("A must be m x n, y of length m, lower and upper of length n")
        if not all(np.isfinite(v).all() for v in (a, rhs, lo)) or not (lo <= hi).all():
            raise ValueError("A, y and lower must be finite and lower <= upper")

        columns, c = [], []
        for j in range(a.shape[1]):
            ratios = [v.as_integer_ratio() for v in a[:, j].tolist()]
            c.append(math.lcm(*(q for _, q in ratios)))
            columns.append([p * (c[j] // q) for p, q in ratios])
        b = [Fraction(v) for v in rhs.tolist()]
        p = [Fraction(v) / c[j] for j, v in enumerate(lo.tolist())]
        q = [None if math.isinf(v) else Fraction(v) / c[j] for j, v in enumerate(hi.tolist())]
        s = math.lcm(*(v.denominator for v in (*b, *p, *q) if v is not None))
        return cls(
            columns=columns,
            target=[int(s * v) for v in b],
            lower=[int(s * v) for v in p],
            upper=[None if v is None else int(s * v) for v in q],
            unit=[Fraction(v, s) for v in c],
        )

    @cached_property
    def gram(self) -> list[list[int]]:
        """B^T B."""
        n = len(self.columns)
        g = [[0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i, n):
                g[i][j] = g[j][i] = dot(self.columns[i], self.columns[j])
        return g

    @cached_property
    def moments(self) -> list[int]:
        """B^T b."""
        return [dot(column, self.target) for column in self.columns]

    def within(self, j: int, z: Fraction) -> bool:
        """Whether z lies strictly between the bounds of coordinate j."""
        q = self.upper[j]
        return self.lower[j] < z and (q is None or z < q)


def solve_semidefinite(
    gram: Sequence[Sequence[int]], rhs: Sequence[int]
) -> tuple[list[int], list[int], int]:
    """Fraction-free Gauss-Jordan elimination (Bareiss) on a Gram matrix.

    Returns (kept, p, d): `kept` indexes a maximal independent set of columns, chosen greedily
    from the left, and p / d solves the system restricted to it, with d > 0 its determinant.  No
    pivoting: the k-th pivot is a principal minor, zero exactly when column k depends on those
    kept before it, and every division is exact because each entry is a minor as well.
    """
    n = len(rhs)
    rows = [[*gram[i], rhs[i]] for i in range(n)]
    kept: list[int] = []
    previous = 1
    for k in range(n):
        pivot_row = rows[k]
        pivot = pivot_row[k]
        if pivot == 0:
            continue
        for i in range(n):
            if i != k:
                row = rows[i]
                factor = row[k]
                for j in range(k + 1, n + 1):
                    row[j] = (pivot * row[j] - factor * pivot_row[j]) // previous
        previous = pivot
        kept.append(k)
    return kept, [rows[k][n] for k in kept], previous


def dot(p: Sequence[int], q: Sequence[int]) -> int:
    """The inner product of two integer vectors."""
    return sum(map(int.__mul__, p, q))
