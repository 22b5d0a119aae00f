"""The first sweep over a column-major A, from x = 0 (see `sweeps`): norms come with it.

Each four columns come from memory once for all of it.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums, leaf
from .lines import add_four
from .sweeps import slopes_of_four


@compiled_sums
def first_sweep(columns, target, lower, upper):  # type: ignore[no-untyped-def]
    """||a_j||², x, the residual and what holds each x_j back.

    The columns are taken in the order of `epochs.quarters`; row j of `columns` is a_j.
    """
    n = len(columns)
    squares, x, back, residual = np.zeros(n), np.zeros(n), np.zeros(n), target.copy()
    slopes, cross, own = np.empty(4), np.empty(6), np.empty(4)
    box, quarter = (lower, upper), n // 4
    for a in range(quarter):
        b, c, d = a + quarter, a + 2 * quarter, a + 3 * quarter
        first, second, third, fourth = columns[a], columns[b], columns[c], columns[d]
        slopes_of_four(first, second, third, fourth, residual, None, slopes, cross, own)
        squares[a], squares[b], squares[c], squares[d] = own[0], own[1], own[2], own[3]
        s = _step(a, slopes[0], squares, box, x, back)
        t = _step(b, slopes[1] - s * cross[0], squares, box, x, back)
        u = _step(c, slopes[2] - s * cross[1] - t * cross[3], squares, box, x, back)
        v = _step(d, slopes[3] - s * cross[2] - t * cross[4] - u * cross[5], squares, box, x, back)
        add_four(residual, first, second, third, fourth, -s, -t, -u, -v)
    for j in range(4 * quarter, n):
        column, slope = columns[j], 0.0
        for i in range(len(residual)):
            squares[j] += np.float64(column[i]) ** 2
            slope += column[i] * residual[i]
        step = _step(j, slope, squares, box, x, back)
        for i in range(len(residual)):
            residual[i] -= step * column[i]
    return squares, x, residual, back


@leaf
def _step(j, slope, squares, box, x, back):  # type: ignore[no-untyped-def]
    """Minimise over x_j, which is 0; a column of zeros stays there."""
    lower, upper = box
    if squares[j] > 0.0:
        x[j] = min(max(slope / squares[j], lower[j]), upper[j])
        back[j] = slope - x[j] * squares[j]
    return x[j]
