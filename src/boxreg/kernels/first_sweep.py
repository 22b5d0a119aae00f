"""A survey of a column-major A that sweeps over the columns on its way, from x = 0 (see `sweeps`).

Each four columns come from memory once for both.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums, leaf
from .lines import add_four
from .survey import survey_four, survey_one
from .sweeps import slopes_of_four


@compiled_sums
def swept_by_columns(columns, target, lower, upper):  # type: ignore[no-untyped-def]
    """What `survey.by_columns` tells, then x, the residual and what holds each x_j back after a sweep.

    The columns are taken in the order of `epochs.quarters`; row j of `columns` is a_j.
    """
    n = len(columns)
    squares, sums, products, negative = np.zeros(n), np.zeros(n), np.zeros(n), 0.0
    x, back, residual = np.zeros(n), np.zeros(n), target.copy()
    slopes, cross, one = np.empty(4), np.empty(6), np.empty(3)
    box, quarter = (lower, upper), n // 4
    for a in range(quarter):
        b, c, d = a + quarter, a + 2 * quarter, a + 3 * quarter
        first, second, third, fourth = columns[a], columns[b], columns[c], columns[d]
        four = slice(a, 4 * quarter, quarter)
        sums_of = squares[four], sums[four], products[four]
        negative += survey_four(first, second, third, fourth, target, *sums_of)
        slopes_of_four(first, second, third, fourth, residual, None, slopes, cross, None)
        s = _step(a, slopes[0], squares, box, x, back)
        t = _step(b, slopes[1] - s * cross[0], squares, box, x, back)
        u = _step(c, slopes[2] - s * cross[1] - t * cross[3], squares, box, x, back)
        v = _step(d, slopes[3] - s * cross[2] - t * cross[4] - u * cross[5], squares, box, x, back)
        add_four(residual, first, second, third, fourth, -s, -t, -u, -v)
    for j in range(4 * quarter, n):
        column = columns[j]
        negative += survey_one(column, residual, one)
        slope = one[2]
        survey_one(column, target, one)
        squares[j], sums[j], products[j] = one[0], one[1], one[2]
        step = _step(j, slope, squares, box, x, back)
        for i in range(len(residual)):
            residual[i] -= step * column[i]
    return squares, sums, products, negative, x, residual, back


@leaf
def _step(j, slope, squares, box, x, back):  # type: ignore[no-untyped-def]
    """Minimise over x_j, which is 0; a column of zeros stays there."""
    lower, upper = box
    if squares[j] > 0.0:
        x[j] = min(max(slope / squares[j], lower[j]), upper[j])
        back[j] = slope - x[j] * squares[j]
    return x[j]
