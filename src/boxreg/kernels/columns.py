"""Products with some columns of a dense A, read where they are, four far ones at once (see `lines`)."""

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_sums
from .lines import add_four, four_products, product

_TOGETHER = 8
"""Rows read at once where A lies by rows: a line of cache of each column that is written."""


@compiled
def gather_columns(A, chosen):  # type: ignore[no-untyped-def]
    """Row p is the chosen column p of an A that lies by rows, in float64."""
    m, k = A.shape[0], len(chosen)
    out = np.empty((k, m))
    whole = m - m % _TOGETHER
    for start in range(0, whole, _TOGETHER):
        for p in range(k):
            j = chosen[p]
            for i in range(_TOGETHER):
                out[p, start + i] = A[start + i, j]
    for p in range(k):
        for i in range(whole, m):
            out[p, i] = A[i, chosen[p]]
    return out


@compiled_sums
def correlate_rows(columns, chosen, v):  # type: ignore[no-untyped-def]
    """a_jᵀv for the chosen columns; row j of `columns` is a_j."""
    out, four, quarter = np.empty(len(chosen)), np.empty(4), len(chosen) // 4
    for p in range(quarter):
        q, r, s = p + quarter, p + 2 * quarter, p + 3 * quarter
        first, second = columns[chosen[p]], columns[chosen[q]]
        third, fourth = columns[chosen[r]], columns[chosen[s]]
        four_products(first, second, third, fourth, v, four)
        out[p], out[q], out[r], out[s] = four[0], four[1], four[2], four[3]
    for p in range(4 * quarter, len(chosen)):
        out[p] = product(columns[chosen[p]], v)
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
    """The sum of the chosen columns, each times its weight."""
    out, quarter = np.zeros(columns.shape[1]), len(chosen) // 4
    for p in range(quarter):
        q, r, s = p + quarter, p + 2 * quarter, p + 3 * quarter
        first, second = columns[chosen[p]], columns[chosen[q]]
        third, fourth = columns[chosen[r]], columns[chosen[s]]
        add_four(out, first, second, third, fourth, weights[p], weights[q], weights[r], weights[s])
    for p in range(4 * quarter, len(chosen)):
        column, weight = columns[chosen[p]], weights[p]
        for i in range(len(out)):
            out[i] += weight * np.float64(column[i])
    return out
