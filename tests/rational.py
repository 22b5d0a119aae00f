"""Floating-point numbers taken at their word: products and linear systems in rational arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Vector = list[Fraction]


def exact(values: Iterable[Any]) -> Vector:
    """The numbers as fractions."""
    return [v if isinstance(v, Fraction) else Fraction(float(v)) for v in values]


def inner(u: Iterable[Any], v: Iterable[Any]) -> Fraction:
    """uᵀv."""
    return sum((a * b for a, b in zip(exact(u), exact(v), strict=True)), Fraction(0))


def slopes(A: Any, theta: Iterable[Any], c: Any = None) -> Vector:
    """Aᵀtheta - c."""
    t = exact(theta)
    costs = np.zeros(np.shape(A)[1]) if c is None else c
    columns = np.asarray(A, dtype=float).T
    return [inner(a, t) - Fraction(float(b)) for a, b in zip(columns, costs, strict=True)]


def largest_product(A: Any, theta: Iterable[Any], c: Any = None) -> Fraction:
    """max_j a_jᵀtheta - c_j."""
    return max(slopes(A, theta, c))


def solved(matrix: Sequence[Vector], rhs: Vector) -> Vector:
    """The solution of a regular linear system, by elimination."""
    rows = [[*row, b] for row, b in zip(matrix, rhs, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def projected(columns: Any, h: Any, theta: Any, c: Any) -> Vector:
    """theta - H A z with A_ᵀtheta' = c: the point of `EqualityMetric`, exactly."""
    a, weights, t = np.asarray(columns, dtype=float), exact(h), exact(theta)
    fractions = [exact(column) for column in a.T]
    scaled = [[w * v for w, v in zip(weights, column, strict=True)] for column in fractions]
    gram = [[inner(u, v) for v in scaled] for u in fractions]
    z = solved(gram, slopes(a, t, c))
    return [
        v - sum((z[j] * scaled[j][i] for j in range(len(z))), Fraction(0)) for i, v in enumerate(t)
    ]
