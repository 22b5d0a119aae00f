"""Cyclic coordinate descent for ½||y - Ax||² over a box.

`fastmath` allows only reassociation and contraction, so that the sums vectorise. Nothing here feeds
a bound: every check recomputes its residual and products outside these loops.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_SUMS = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_SUMS)
def dense_epochs(columns, x, residual, lower, upper, squared_norms, order, epochs):  # type: ignore[no-untyped-def]
    """Run epochs over `order`; row j of `columns` is column a_j. Returns the updates made."""
    m = residual.shape[0]
    updates = 0
    for _ in range(epochs):
        for j in order:
            column = columns[j]
            slope = 0.0
            for i in range(m):
                slope += column[i] * residual[i]
            moved = min(max(x[j] + slope / squared_norms[j], lower[j]), upper[j])
            step = moved - x[j]
            if step != 0.0:
                x[j] = moved
                for i in range(m):
                    residual[i] -= step * column[i]
                updates += 1
    return updates


@njit(cache=True, nogil=True, fastmath=_SUMS)
def csc_epochs(csc, x, residual, lower, upper, squared_norms, order, epochs):  # type: ignore[no-untyped-def]
    """Run epochs over `order` on (data, indices, indptr). Returns the updates made."""
    data, indices, indptr = csc
    updates = 0
    for _ in range(epochs):
        for j in order:
            values, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
            slope = 0.0
            for k in range(len(values)):
                slope += values[k] * residual[np.uintp(rows[k])]
            moved = min(max(x[j] + slope / squared_norms[j], lower[j]), upper[j])
            step = moved - x[j]
            if step != 0.0:
                x[j] = moved
                for k in range(len(values)):
                    residual[np.uintp(rows[k])] -= step * values[k]
                updates += 1
    return updates
