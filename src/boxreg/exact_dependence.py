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

_PRIME = 2**31 - 1
"""Products of two residues fit into 64 bits."""

_MOST_RESIDUES = 1e7
"""Operations with residues that are worth their time: a tenth of a second."""

_MOST_COLUMNS = 40
"""Columns that one combination may have: the exact solution of a system grows with their cube."""


def in_span(basis: Array, others: Array) -> bool:
    """Whether each of the other columns is exactly a linear combination of those of the basis.

    The coefficients are computed in floating point first, to see which columns take part; then they
    are solved for exactly on as many rows, and all rows are checked. False means not proved.

    Before that all is done modulo a prime, which takes next to no time. A basis that spans all rows
    there does so over the rationals, too, as its determinant is not 0; and columns that are not in the
    span there are not over the rationals, unless a coefficient has the prime in its denominator.
    """
    if not others.shape[1]:
        return True
    if not basis.shape[1]:
        return not others.any()
    if basis.size * (basis.shape[1] + others.shape[1]) <= _MOST_RESIDUES:
        rank, all_inside = _modulo_a_prime(basis, others)
        if rank == len(basis) or not all_inside:
            return all_inside
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


def _modulo_a_prime(basis: Array, others: Array) -> tuple[int, bool]:
    """The rank of the basis modulo 2³¹ - 1, and whether its span has all other columns."""
    table = _residues(np.column_stack([basis, others]))
    rank = 0
    for k in range(basis.shape[1]):
        left = np.flatnonzero(table[rank:, k])
        if not len(left):
            continue
        pivot = rank + int(left[0])
        table[[rank, pivot]] = table[[pivot, rank]]
        table[rank] = table[rank] * pow(int(table[rank, k]), -1, _PRIME) % _PRIME
        below = table[rank + 1 :]
        below -= below[:, k : k + 1] * table[rank] % _PRIME
        below %= _PRIME
        rank += 1
        if rank == len(table):
            break
    return rank, not table[rank:, basis.shape[1] :].any()


def _residues(values: Array) -> npt.NDArray[np.int64]:
    """The values, multiplied by a power of two that makes them whole, modulo 2³¹ - 1.

    2³¹ is 1 there, so that of an exponent its residue modulo 31 will do.
    """
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64) % _PRIME
    powers = np.left_shift(np.int64(1), np.mod(exponents.astype(np.int64), 31))
    return np.asarray(whole * powers % _PRIME)


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
