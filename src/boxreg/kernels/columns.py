"""Products with some columns of a dense A, read where they are."""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums
from .lines import add_four


@compiled_sums
def correlate_rows(columns, chosen, v):  # type: ignore[no-untyped-def]
    """a_jᵀv for the chosen columns; row j of `columns` is a_j."""
    out = np.empty(chosen.shape[0])
    for p in range(chosen.shape[0]):
        column = columns[chosen[p]]
        total = 0.0
        for i in range(len(v)):
            total += np.float64(column[i]) * v[i]
        out[p] = total
    return out


@compiled_sums
def weighted_squares_of_rows(columns, chosen, weights):  # type: ignore[no-untyped-def]
    """sum_i ω_i a_ij² for the chosen columns."""
    out = np.empty(chosen.shape[0])
    for p in range(chosen.shape[0]):
        column = columns[chosen[p]]
        total = 0.0
        for i in range(len(weights)):
            a = np.float64(column[i])
            total += weights[i] * a * a
        out[p] = total
    return out


@compiled_sums
def combine_rows(columns, chosen, weights):  # type: ignore[no-untyped-def]
    """The sum of the chosen columns, each times its weight, four at a time."""
    out = np.zeros(columns.shape[1])
    whole = len(chosen) - len(chosen) % 4
    for p in range(0, whole, 4):
        first, second = columns[chosen[p]], columns[chosen[p + 1]]
        third, fourth = columns[chosen[p + 2]], columns[chosen[p + 3]]
        four = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
        add_four(out, first, second, third, fourth, *four)
    for p in range(whole, len(chosen)):
        column, weight = columns[chosen[p]], weights[p]
        for i in range(len(out)):
            out[i] += weight * np.float64(column[i])
    return out
