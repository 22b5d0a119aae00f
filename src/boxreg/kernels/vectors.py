"""The few array operations the small solver is made of, each compiled once.

numba compiles NumPy functions anew for every combination of argument types; going through these keeps
the combinations, and so the time of the first call, few.
"""

from __future__ import annotations

import numpy as np

from .compiling import branch_sums, inner, leaf, leaf_sums


@inner
def floats(size):  # type: ignore[no-untyped-def]
    """A vector, not filled."""
    return np.empty(size)


@inner
def indices(size):  # type: ignore[no-untyped-def]
    """A vector of indices, not filled."""
    return np.empty(size, dtype=np.intp)


@inner
def flags(size):  # type: ignore[no-untyped-def]
    """A mask, all False."""
    mask = np.empty(size, dtype=np.bool_)
    for i in range(size):
        mask[i] = False
    return mask


@inner
def table(rows, columns):  # type: ignore[no-untyped-def]
    """A matrix, not filled."""
    return np.empty((rows, columns))


@branch_sums
def row_product(rows, p, v):  # type: ignore[no-untyped-def]
    """Row p times v."""
    row = rows[p]
    total = 0.0
    for i in range(len(v)):
        total += row[i] * v[i]
    return total


@leaf_sums
def correlate_columns(columns, v, out):  # type: ignore[no-untyped-def]
    """out = Aᵀ v, four columns at a time."""
    whole = len(columns) - len(columns) % 4
    for j in range(0, whole, 4):
        first, second, third, fourth = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        p, q, r, s = 0.0, 0.0, 0.0, 0.0
        for i in range(len(v)):
            value = v[i]
            p += first[i] * value
            q += second[i] * value
            r += third[i] * value
            s += fourth[i] * value
        out[j], out[j + 1], out[j + 2], out[j + 3] = p, q, r, s
    for j in range(whole, len(columns)):
        out[j] = row_product(columns, j, v)


@leaf
def rest(b, columns, chosen, weights, count, out):  # type: ignore[no-untyped-def]
    """out = b less the first `count` chosen columns, each times its weight, two at a time."""
    for i in range(len(out)):
        out[i] = b[i]
    for p in range(0, count - 1, 2):
        first, second, s, t = columns[chosen[p]], columns[chosen[p + 1]], weights[p], weights[p + 1]
        for i in range(len(out)):
            out[i] -= s * first[i] + t * second[i]
    if count % 2:
        last, s = columns[chosen[count - 1]], weights[count - 1]
        for i in range(len(out)):
            out[i] -= s * last[i]


@inner
def cross(rows, first, stop):  # type: ignore[no-untyped-def]
    """Products of rows first … stop with rows 0 … stop, by BLAS."""
    out = table(stop - first, stop)
    np.dot(rows[first:stop], rows[:stop].T, out)
    return out


@branch_sums
def square(v):  # type: ignore[no-untyped-def]
    """||v||²."""
    total = 0.0
    for i in range(len(v)):
        total += v[i] * v[i]
    return total
