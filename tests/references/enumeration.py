"""Box-constrained least squares by trying all 3^n bound patterns, in rational arithmetic.

Slow and simple on purpose: a reference for the exact active-set method on tiny problems.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from references.box_problem import FloatArray


def enumerated_optimum(
    A: FloatArray, y: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[Fraction, list[Fraction]]:
    """(objective, theta) of the best feasible stationary point over all bound patterns.

    Patterns with dependent free columns are skipped: some solution has independent ones.
    """
    columns = [[Fraction(v) for v in column] for column in A.T.tolist()]
    boxes: list[tuple[float, float]] = list(zip(lower.tolist(), upper.tolist(), strict=True))
    states = [
        [Fraction(lo), None] if math.isinf(hi) else [Fraction(lo), None, Fraction(hi)]
        for lo, hi in boxes
    ]
    candidates = []
    for pattern in itertools.product(*states):  # None marks a free coordinate
        theta = [Fraction(v) for v in y.tolist()]
        for column, value in zip(columns, pattern, strict=True):
            theta = theta if value is None else _subtract(theta, value, column)
        free = [j for j, value in enumerate(pattern) if value is None]
        system = [
            [*(_dot(columns[j], columns[k]) for k in free), _dot(columns[j], theta)] for j in free
        ]
        z = _gauss(system)
        if z is None or any(
            not boxes[j][0] <= v <= boxes[j][1] for j, v in zip(free, z, strict=True)
        ):
            continue
        for j, v in zip(free, z, strict=True):
            theta = _subtract(theta, v, columns[j])
        candidates.append((_dot(theta, theta) / 2, theta))
    return min(candidates)


def _dot(p: list[Fraction], q: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(p, q, strict=True)), Fraction(0))


def _subtract(p: list[Fraction], factor: Fraction, q: list[Fraction]) -> list[Fraction]:
    return [a - factor * b for a, b in zip(p, q, strict=True)]


def _gauss(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve a square system given with its right-hand side; None if it is singular."""
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = _subtract(rows[i], rows[i][k], rows[k])
    return [row[-1] for row in rows]
