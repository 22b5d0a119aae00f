"""How far a point is from the minimum of least squares between bounds, as SciPy measures it."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .box_certificates import gamma, prediction_error, size_of
from .compiling import compiled, leaf
from .vectors import correlate_columns, floats, square

Optimality = namedtuple("Optimality", ["cost", "steepest", "scaled", "flat", "settled"])
"""½ ||b - A x||²; the largest slope that x may still follow; the largest slope times the distance to the
bound ahead, 1 without one; whether all slopes are rounding errors, and whether all of the former are."""


@compiled
def of_point(columns, b, x, lower, upper, fun, active):  # type: ignore[no-untyped-def]
    """Write A x - b to `fun` and which bounds are active; row j of `columns` is a_j."""
    n, m = columns.shape
    slopes, noise, reach = floats(n), floats(n), 0.0
    for i in range(m):
        fun[i] = 0.0
    for j in range(n):
        noise[j] = np.sqrt(square(columns[j]))
        value, column = x[j], columns[j]
        if value != 0.0:
            for i in range(m):
                fun[i] += value * column[i]
    for i in range(m):
        fun[i] -= b[i]
    correlate_columns(columns, fun, slopes)
    reach, _ = prediction_error(x, noise)
    size = gamma(m + 2) * size_of(fun) + reach
    for j in range(n):
        slopes[j] = -slopes[j]
        noise[j] *= size
    return Optimality(0.5 * square(fun), *_measured(x, slopes, noise, lower, upper, active))


@compiled
def of_slopes(cost, x, slopes, noise, lower, upper, active):  # type: ignore[no-untyped-def]
    """Write which bounds are active, given Aᵀ(b - A x) and what rounding may have added to it."""
    return Optimality(cost, *_measured(x, slopes, noise, lower, upper, active))


@leaf
def _measured(x, slopes, noise, lower, upper, active):  # type: ignore[no-untyped-def]
    """All but the cost. -1 in `active` at the lower, 1 at the upper bound; where they are equal, the one
    that x is pressed against."""
    steepest, scaled, flat, settled = 0.0, 0.0, True, True
    for j in range(len(x)):
        slope, rising = abs(slopes[j]), slopes[j] > 0.0
        at_lower, at_upper = x[j] == lower[j], x[j] == upper[j]
        ahead = upper[j] - x[j] if rising else x[j] - lower[j]
        scaled = max(scaled, slope * (ahead if ahead < np.inf else 1.0))
        flat = flat and slope <= noise[j]
        if ahead > 0.0:
            steepest = max(steepest, slope)
            settled = settled and slope <= noise[j]
        active[j] = 1 if at_upper else 0
        if at_lower and not (at_upper and rising):
            active[j] = -1
    return steepest, scaled, flat, settled
