"""Products with a sparse A, held by columns: (data, indices, indptr).

Row numbers are read as unsigned: numba then leaves out the test for indices counted from the end,
which would keep these loops from being vectorised (a product takes 0.8 instead of 3 ns an entry).
"""

from __future__ import annotations

import numpy as np
from numba import njit

_SUMS = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_SUMS)
def correlate(data, indices, indptr, v):  # type: ignore[no-untyped-def]
    """Aᵀ v."""
    n = indptr.shape[0] - 1
    out = np.empty(n)
    for j in range(n):
        values, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
        total = 0.0
        for k in range(len(values)):
            total += values[k] * v[np.uintp(rows[k])]
        out[j] = total
    return out


@njit(cache=True, nogil=True)
def combine(data, indices, indptr, m, chosen, weights):  # type: ignore[no-untyped-def]
    """The sum of the chosen columns, each times its weight."""
    out = np.zeros(m)
    for p in range(chosen.shape[0]):
        j, weight = chosen[p], weights[p]
        values, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
        for k in range(len(values)):
            out[np.uintp(rows[k])] += weight * values[k]
    return out


@njit(cache=True, nogil=True, fastmath=_SUMS)
def gram(data, indices, indptr, m, left, right):  # type: ignore[no-untyped-def]
    """a_iᵀa_j: each a_i is spread over a vector of length m, which the a_j then read."""
    out = np.empty((left.shape[0], right.shape[0]))
    spread = np.zeros(m)
    for p in range(left.shape[0]):
        i = left[p]
        values, rows = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        for k in range(len(values)):
            spread[np.uintp(rows[k])] = values[k]
        for q in range(right.shape[0]):
            j = right[q]
            others, places = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
            total = 0.0
            for k in range(len(others)):
                total += others[k] * spread[np.uintp(places[k])]
            out[p, q] = total
        for k in range(len(values)):
            spread[np.uintp(rows[k])] = 0.0
    return out


@njit(cache=True, nogil=True)
def has_duplicates(indices, indptr, m):  # type: ignore[no-untyped-def]
    """Whether some column stores two entries for one row."""
    owner = np.full(m, -1, dtype=np.int64)
    for j in range(indptr.shape[0] - 1):
        rows = indices[indptr[j] : indptr[j + 1]]
        for k in range(len(rows)):
            i = np.uintp(rows[k])
            if owner[i] == j:
                return True
            owner[i] = j
    return False
