"""Linear dependence of columns, decided in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from .arrays import Array

_TAKES_PART = 1e-9
"""Columns with less than this share in a computed combination are left out of the first try."""

_MOST_OPERATIONS = 1_000_000
"""Operations with integers of any length that one test may take: a few tenths of a second."""

_MOST_COLUMNS = 40
"""Columns that one combination may have: the exact solution of a system grows with their cube."""


def in_span(basis: Array, others: Array) -> bool:
    """Whether each of the other columns is exactly a linear combination of those of the basis.

    The coefficients are computed in floating point first, to see which columns take part; then they
    are solved for exactly on as many rows, and all rows are checked. False means not proved.
    """
    if not others.shape[1]:
        return True
    if not basis.shape[1]:
        return not others.any()
    scale = np.linalg.norm(basis, axis=0)
    shares = np.linalg.lstsq(basis / scale, others, rcond=None)[0]
    budget = _MOST_OPERATIONS
    for k in range(others.shape[1]):
        share = np.abs(shares[:, k])
        some = np.flatnonzero(share > _TAKES_PART * float(share.max(initial=0.0)))
        for part in (some, np.arange(len(share))):
            budget -= len(others) * (len(part) + 1) + 10 * len(part) ** 3
            if budget < 0 or len(part) > _MOST_COLUMNS:
                return False
            if _combines(basis[:, part], others[:, k]):
                break
        else:
            return False
    return True


def _combines(columns: Array, column: Array) -> bool:
    """Whether the column is exactly a combination of the others, all of which take part."""
    size = columns.shape[1]
    if not column.any() or not size:
        return not column.any()
    unit = columns / np.linalg.norm(columns, axis=0)
    rows = qr(unit.T, mode="r", pivoting=True)[1][:size]
    weights = _solved(columns[rows], column[rows])
    if weights is None:
        return False
    bottom = math.lcm(*(weight.denominator for weight in weights))
    tops = [int(weight * bottom) for weight in weights]
    exact = _integers(np.column_stack([columns, column]))
    return not np.any(exact.dot(np.array([*tops, -bottom], dtype=object)) != 0)


def _integers(values: Array) -> npt.NDArray[np.object_]:
    """The values as integers of any length, all multiplied by the same power of two."""
    mantissas, exponents = np.frexp(values)
    used = mantissas != 0.0
    least = int(exponents[used].min(initial=0)) if used.any() else 0
    whole = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    powers = np.power(2, np.where(used, exponents - least, 0).astype(object))
    return np.asarray(whole * powers)


def _solved(matrix: Array, column: Array) -> list[Fraction] | None:
    """The exact solution of a square system by elimination; None where it is singular."""
    size = len(matrix)
    table = [
        [Fraction(float(v)) for v in row] + [Fraction(float(value))]
        for row, value in zip(matrix, column, strict=True)
    ]
    for k in range(size):
        pivot = next((i for i in range(k, size) if table[i][k] != 0), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        for i in range(size):
            if i != k and table[i][k] != 0:
                factor = table[i][k] / table[k][k]
                table[i] = [a - factor * b for a, b in zip(table[i], table[k], strict=True)]
    return [table[k][size] / table[k][k] for k in range(size)]
