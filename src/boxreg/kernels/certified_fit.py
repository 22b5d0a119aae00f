"""Least squares between bounds, solved and proved in one call.

The active set on orthogonal factors finds x. theta is the residual, moved into the dual cone where
variables without one bound ask for it: along -1 where A >= 0, otherwise along the t with

    a_jᵀt = -||a_j||   (+||a_j|| without a lower bound, 0 with both)   for the free columns A_F = Q R,

t = Q R⁻ᵀ(…), after columns whose sign rounding leaves in doubt have been added to F. Gap and screening
are those of `box_certificates` and of `safe_regions.two_point_ball`. Variables without any bound need
the proof of `equality_columns` and are left to others, as is whatever is not proved here.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import COMBINATION, MARGIN, SLACK, TINY, UNDERFLOW, UNIT_ROUNDOFF
from .box_certificates import (
    Way,
    describe,
    gamma,
    least_squares_gap,
    new_box,
    prediction_error,
    push,
    size_of,
)
from .compiling import branch, branch_sums, compiled, inner, leaf_sums
from .orthogonal_active_set import FREE, advance, begin, enter, new_factor, residual_of, usual
from .vectors import correlate_columns, floats

Proof = namedtuple(
    "Proof",
    ["gap", "rounding", "objective", "dual_objective", "scale", "target", "rounds", "products"],
)
"""The gap, how much of it is an allowance for rounding, P(x), D(theta), P₀, the gap asked for, rounds,
and products of length m. The gap is inf where nothing is proved, NaN where squares are not finite."""


@compiled
def solve(columns, b, lower, upper, x, theta, screened, tol, atol, max_rounds):  # type: ignore[no-untyped-def]
    """Write the answer to x, a dual point to theta, and -1, 0 or 1 to `screened`; returns a `Proof`."""
    (n, m), none = columns.shape, floats(len(columns))
    for j in range(n):
        x[j], screened[j], none[j] = 0.0, 0, 0.0
    task, where = begin(columns, b, none, lower, upper, x, False)
    if not usual(task):
        return Proof(np.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 0, n)
    norms, residual, w = task.norms, where.residual, where.slopes
    residual_of(task, where)
    drift, _ = prediction_error(x, norms)
    size = size_of(residual)
    scale = 0.5 * size * size
    target = max(tol * scale, atol, drift * drift)
    factor = new_factor(min(n, m), m)
    count, rounds, made, _ = advance(task, where, factor, 0, 0.0, False, max_rounds)
    residual_of(task, where)
    correlate_columns(columns, residual, w)
    made += 4 * n
    box = new_box(n)
    describe(lower, upper, box)
    size = size_of(residual)
    error = gamma(m + 2) * size * SLACK
    slopes = floats(n)
    for i in range(m):
        theta[i] = residual[i]
    for j in range(n):
        slopes[j] = w[j]
        if lower[j] == -np.inf and upper[j] == np.inf:
            return Proof(np.inf, 0.0, 0.5 * size * size, -np.inf, scale, target, rounds, made)
    pushed = push(slopes, theta, norms, box, _nowhere(), error)
    if pushed < 0.0:
        way = _direction(task, where, factor, count, box, error)
        made += 3 * n
        pushed = push(slopes, theta, norms, box, way, error)
    gap, least = np.inf, np.inf
    if pushed >= 0.0:
        none_there = _nowhere()
        drift, _ = prediction_error(x, norms)
        gap = least_squares_gap(x, slopes, theta, residual, norms, box, none_there, pushed, drift)
        least = least_squares_gap(x, slopes, theta, residual, norms, box, none_there, 0.0, 0.0)
        if gap < UNDERFLOW and size > 0.0:
            gap += TINY
        _screen(task, x, residual, theta, w, slopes, box, gap, drift, pushed, screened)
    rounding = gap - least if gap < np.inf and least < np.inf else 0.0
    dual = _dual_objective(b, theta, slopes, box)
    return Proof(gap, rounding, 0.5 * size * size, dual, scale, target, rounds, made)


@inner
def _nowhere():  # type: ignore[no-untyped-def]
    """No direction, and no free columns."""
    none = np.empty(0)
    return Way(none, none, 0.0, 0.0, np.empty(0, dtype=np.intp), none, 1.0, none)


@inner
def _direction(task, where, factor, count, box, error):  # type: ignore[no-untyped-def]
    """A direction in which the variables whose sign is in doubt become feasible, if there is one."""
    columns = task.columns
    n, m = columns.shape
    t, products, none = floats(m), floats(n), np.empty(0)
    nonnegative = True
    for j in range(n):
        for value in columns[j]:
            nonnegative &= value >= 0.0
    if nonnegative:
        for i in range(m):
            t[i] = -1.0
    else:
        count = _take_in_doubt(task, where, factor, count, box, error)
        _towards(task, factor, count, box, t)
    correlate_columns(columns, t, products)
    size = size_of(t)
    bound = gamma(m + 2) * size * SLACK
    return Way(t, products, size, bound, np.empty(0, dtype=np.intp), none, 1.0, none)


@branch
def _take_in_doubt(task, where, factor, count, box, error):  # type: ignore[no-untyped-def]
    """Add to the factor what is at a bound with a sign that may be wrong; the new size of F."""
    doubt = 2.0 * MARGIN * (error + COMBINATION * size_of(where.residual))
    for j in range(len(where.x)):
        if box.side[j] == 0.0 or where.state[j] == FREE:
            continue
        if box.side[j] * where.slopes[j] + doubt * task.norms[j] > 0.0:
            count += enter(task, factor, count, j)
    return count


@branch_sums
def _towards(task, factor, count, box, t):  # type: ignore[no-untyped-def]
    """t = Q u, Rᵀu = -side_j ||a_j||."""
    u = factor.step
    for i in range(len(t)):
        t[i] = 0.0
    for k in range(count):
        j, column = factor.chosen[k], factor.upper[k]
        value = -box.side[j] * task.norms[j]
        for i in range(k):
            value -= column[i] * u[i]
        u[k] = value / column[k]
        row = factor.q[k]
        for i in range(len(t)):
            t[i] += u[k] * row[i]


@branch_sums
def _screen(task, x, residual, theta, w, slopes, box, gap, drift, error, screened):  # type: ignore[no-untyped-def]
    """Where the two-point ball proves that x_j is at a bound, and it is there.

    Its centre is (theta + rho) / 2, its radius √(gap - ¼ ||theta - rho||²). rho is known up to the error
    of the prediction and its own rounding.
    """
    m, size, away = len(residual), size_of(residual), 0.0
    for i in range(m):
        step = theta[i] - residual[i]
        away += step * step
    off = drift + UNIT_ROUNDOFF * size
    apart = max(np.sqrt(away) / SLACK - off * SLACK, 0.0) if away > UNDERFLOW else 0.0
    radius = np.sqrt(max(gap - 0.25 * apart * apart, 0.0)) * SLACK
    centre_error = 0.5 * (error + gamma(m + 2) * size * SLACK + off)
    centre_error += 2.0 * UNIT_ROUNDOFF * (size + size_of(theta))
    for j in range(len(x)):
        if task.lower[j] == task.upper[j]:
            continue
        centre = 0.5 * (w[j] + slopes[j])
        reach = (radius + centre_error) * task.norms[j] * SLACK
        if centre + reach < 0.0 and x[j] == task.lower[j]:
            screened[j] = -1
        elif centre - reach > 0.0 and x[j] == task.upper[j]:
            screened[j] = 1


@leaf_sums
def _dual_objective(b, theta, slopes, box):  # type: ignore[no-untyped-def]
    """D(theta) = theta·(y - theta / 2) - sum_j sup { t w_j }, an infinite bound not counted."""
    total = 0.0
    for i in range(len(b)):
        total += theta[i] * (b[i] - 0.5 * theta[i])
    for j in range(len(slopes)):
        total -= box.high[j] * max(slopes[j], 0.0) + box.low[j] * min(slopes[j], 0.0)
    return total
