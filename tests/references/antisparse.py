"""Exact rational solutions of small ℓ∞-penalised problems, by enumeration of the sign patterns.

x solves min ½|y - A x|² + λ |x|∞ with c = |x|∞ > 0 if and only if, for w = Aᵀ(y - A x),
|w|₁ = λ and x_j = sign(w_j) c wherever w_j != 0; x = 0 solves it if and only if |Aᵀy|₁ <= λ. Some
solution has independent columns A_Q, s, where Q are the coordinates with |x_j| < c and s is the
signed sum of all others, so one of the 3^n patterns gives it by one linear system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

Vector = list[Fraction]


@dataclass(frozen=True)
class ExactAntisparse:
    """A solution; level, theta and w are the same for every solution."""

    x: Vector
    level: Fraction
    theta: Vector
    w: Vector
    objective: Fraction


def exact_antisparse(
    A: ArrayLike, y: ArrayLike, penalty: float, guess: ArrayLike | None = None
) -> ExactAntisparse:
    """A solution proved by its optimality conditions; `guess` only says where to look first."""
    columns = [[Fraction(v) for v in column] for column in np.asarray(A, dtype=float).T.tolist()]
    target = [Fraction(v) for v in np.asarray(y, dtype=float).tolist()]
    weight = Fraction(float(penalty))
    for pattern in _patterns(len(columns), guess):
        x = _candidate(columns, target, weight, pattern)
        if x is None:
            continue
        found = judged(columns, target, weight, x)
        if found is not None:
            return found
    raise AssertionError("no pattern satisfies the optimality conditions")


def exact_objective(A: ArrayLike, y: ArrayLike, penalty: float, x: ArrayLike) -> Fraction:
    """½|y - A x|² + λ |x|∞ of floating-point numbers, without rounding."""
    columns = [[Fraction(v) for v in column] for column in np.asarray(A, dtype=float).T.tolist()]
    target = [Fraction(v) for v in np.asarray(y, dtype=float).tolist()]
    exact = [Fraction(v) for v in np.asarray(x, dtype=float).tolist()]
    rho = _residual(columns, target, exact)
    level = max((abs(v) for v in exact), default=Fraction(0))
    return _dot(rho, rho) / 2 + Fraction(float(penalty)) * level


def judged(
    columns: list[Vector], target: Vector, weight: Fraction, x: Vector
) -> ExactAntisparse | None:
    """x with its dual solution if it is optimal."""
    rho = _residual(columns, target, x)
    w = [_dot(column, rho) for column in columns]
    level = max((abs(v) for v in x), default=Fraction(0))
    total = sum((abs(v) for v in w), Fraction(0))
    if total > weight or (level > 0 and total < weight):
        return None
    if any(v * g != level * abs(g) for v, g in zip(x, w, strict=True)):
        return None
    return ExactAntisparse(x, level, rho, w, _dot(rho, rho) / 2 + weight * level)


def _patterns(n: int, guess: ArrayLike | None) -> Iterator[tuple[int, ...] | None]:
    """None for x = 0; then what the guess suggests; then all sign patterns but the free one."""
    yield None
    if guess is not None:
        x = np.asarray(guess, dtype=float)
        level = np.abs(x).max(initial=0.0)
        yield tuple(int(s) for s in np.where(np.abs(x) == level, np.sign(x), 0.0))
    for pattern in product((1, -1, 0), repeat=n):
        if any(pattern):
            yield pattern


def _candidate(
    columns: list[Vector], target: Vector, weight: Fraction, pattern: tuple[int, ...] | None
) -> Vector | None:
    """The stationary point of a pattern; None where its columns are dependent."""
    if pattern is None or not any(pattern):
        return [Fraction(0)] * len(columns)
    free = [j for j, s in enumerate(pattern) if s == 0]
    merged = [
        sum((s * column[i] for s, column in zip(pattern, columns, strict=True)), Fraction(0))
        for i in range(len(target))
    ]
    basis = [columns[j] for j in free] + [merged]
    side = [_dot(column, target) for column in basis]
    side[-1] -= weight
    z = _solve([[_dot(a, b) for b in basis] for a in basis], side)
    if z is None:
        return None
    x = [s * z[-1] for s in pattern]
    for j, value in zip(free, z[:-1], strict=True):
        x[j] = value
    return x


def _residual(columns: list[Vector], target: Vector, x: Vector) -> Vector:
    return [
        value - sum((c[i] * v for c, v in zip(columns, x, strict=True)), Fraction(0))
        for i, value in enumerate(target)
    ]


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def _solve(matrix: list[Vector], side: Vector) -> Vector | None:
    """Gauss–Jordan elimination; None for a singular matrix."""
    rows = [[*row, value] for row, value in zip(matrix, side, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i, row in enumerate(rows):
            if i != k and row[k] != 0:
                rows[i] = [v - row[k] * p for v, p in zip(row, rows[k], strict=True)]
    return [row[-1] for row in rows]
