"""Least squares between bounds, solved and proved in one call.

The active set on orthogonal factors finds x. theta is the residual, moved into the dual cone where
variables without one bound ask for it: along -1 where A >= 0, otherwise along the t with

    a_jᵀt = -||a_j||   (+||a_j|| without a lower bound, 0 with both)   for the free columns A_F = Q R,

t = Q R⁻ᵀ(…), after columns whose sign rounding leaves in doubt have been added to F. Gap and screening
are those of `box_certificates` and of `safe_regions.two_point_ball`; that a theta with a_jᵀtheta = 0 on
the columns without bounds is near is proved as in `equality_columns`. What is not proved here is left to
the general way.
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
    shift_of_free,
    size_of,
)
from .compiling import branch, branch_sums, compiled, inner, leaf_sums
from .orthogonal_active_set import FREE, advance, begin, residual_of, usual
from .orthogonal_factor import enter, new_factor
from .vectors import correlate_columns, floats, row_product

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
    if not usual(task, x):
        return Proof(np.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 0, n)
    residual_of(task, where)
    drift, _ = prediction_error(x, task.norms)
    size = size_of(where.residual)
    scale = 0.5 * size * size
    target = max(tol * scale, atol, drift * drift)
    factor = new_factor(min(n, m), m)
    count, rounds, made, _ = advance(task, where, factor, 0, 0.0, False, max_rounds)
    gap, rounding, dual, more = prove(task, where, factor, count, theta, screened, target)
    size = size_of(where.residual)
    return Proof(gap, rounding, 0.5 * size * size, dual, scale, target, rounds, made + more)


@inner
def prove(task, where, factor, count, theta, screened, target):  # type: ignore[no-untyped-def]
    """A gap for x, how much of it is an allowance for rounding, D(theta), and products of length m.

    `count` columns are in the factor. theta and `screened` are written to.
    """
    x, norms, residual, w = where.x, task.norms, where.residual, where.slopes
    n, m = task.columns.shape
    residual_of(task, where)
    correlate_columns(task.columns, residual, w)
    box, slopes, size, made = new_box(n), floats(n), size_of(residual), 3 * n
    describe(task.lower, task.upper, box)
    error = gamma(m + 2) * size * SLACK
    for i in range(m):
        theta[i] = residual[i]
    for j in range(n):
        slopes[j] = w[j]
    drift, _ = prediction_error(x, norms)
    independent, way = _free_columns(task)
    gap, least, pushed = np.inf, np.inf, -1.0
    if independent:
        pushed = push(slopes, theta, norms, box, way, error)
        if pushed < 0.0:
            way = _with_direction(task, where, factor, count, box, error, way)
            made += 3 * n
            pushed = push(slopes, theta, norms, box, way, error)
    if pushed >= 0.0:
        gap = least_squares_gap(x, slopes, theta, residual, norms, box, way, pushed, drift)
    if not gap <= target:  # 0 is feasible whatever the bounds, and proves P(x) - P* <= P(x)
        for i in range(m):
            theta[i] = 0.0
        for j in range(n):
            slopes[j] = 0.0
        pushed = 0.0
        gap = least_squares_gap(x, slopes, theta, residual, norms, box, way, pushed, drift)
    least = least_squares_gap(x, slopes, theta, residual, norms, box, way, 0.0, 0.0)
    if gap < UNDERFLOW and size > 0.0:
        gap += TINY
    moved = shift_of_free(slopes, norms, way, pushed)
    _screen(task, x, residual, theta, w, slopes, gap, drift, pushed, moved, screened)
    rounding = gap - least if least < np.inf else 0.0
    return gap, rounding, _dual_objective(task.b, theta, slopes, box), made


@inner
def _free_columns(task):  # type: ignore[no-untyped-def]
    """Whether columns without bounds are proved to be independent; how far theta may have to move.

    As `equality_columns.EqualityMetric` with h = 1: B are these columns, M = A_B D⁻¹ has unit columns, V
    is the inverse of a triangular factor of M, and ||UᵀU - I|| <= ε < 1 is proved for U = M V. There is
    no direction yet.
    """
    n, m = task.columns.shape
    none, free = np.empty(0), 0
    nothing = Way(none, none, 0.0, 0.0, np.empty(0, dtype=np.intp), none, 1.0, none)
    for j in range(n):
        free += task.lower[j] == -np.inf and task.upper[j] == np.inf and task.norms[j] > 0.0
    if free == 0:
        return True, nothing
    factor, scale, rows, count = new_factor(min(free, m), m), floats(free), floats(m), 0
    for j in range(n):
        if task.lower[j] == -np.inf and task.upper[j] == np.inf and task.norms[j] > 0.0:
            if not enter(task, factor, count, j):
                return False, nothing
            count += 1
    proved = _nearly_orthonormal(task, factor, scale, rows)
    least = 1.0 / (np.sqrt(float(free)) * SLACK)
    return proved, Way(none, none, 0.0, 0.0, factor.chosen, scale, least, rows)


@branch_sums
def _invert(task, factor, scale):  # type: ignore[no-untyped-def]
    """V in place of R, of unit columns: V_kk = 1 / R_kk, V_ik = -(sum_l V_il R_lk) / R_kk.

    And `Way.scale`. Returns ||V||².
    """
    r, column, total = factor.upper, factor.step, 0.0
    for c in range(len(scale)):
        size = task.norms[factor.chosen[c]]
        for i in range(c):
            column[i] = 0.0
            for p in range(i, c):
                column[i] += r[p, i] * (r[c, p] / size)
        last = size / r[c, c]
        for i in range(c):
            r[c, i] = -column[i] * last
        r[c, c] = last
    for i in range(len(scale)):
        row = 0.0
        for c in range(i, len(scale)):
            row += r[c, i] * r[c, i]
        scale[i] = task.norms[factor.chosen[i]] / (np.sqrt(row) * SLACK)
        total += row
    return total


@branch_sums
def _nearly_orthonormal(task, factor, scale, rows):  # type: ignore[no-untyped-def]
    """Fill in `Way.scale` and `Way.rows`, U in place of Q; whether ε is at most 1/2."""
    u, chosen = factor.q, factor.chosen
    k, m = u.shape
    drift = gamma(k + 6) * np.sqrt(_invert(task, factor, scale))
    for c in range(k):
        for i in range(m):
            u[c, i] = 0.0
        for p in range(c + 1):
            value, source = factor.upper[c, p] / task.norms[chosen[p]], task.columns[chosen[p]]
            for i in range(m):
                u[c, i] += value * source[i]
    whole, off, lengths = 0.0, 0.0, 0.0
    for c in range(k):
        whole += row_product(u, c, u[c])
        for p in range(k):
            entry = row_product(u, p, u[c]) - (1.0 if p == c else 0.0)
            off += entry * entry
    for i in range(m):
        length, row = 0.0, 0.0
        for c in range(k):
            entry = task.columns[chosen[c], i] / task.norms[chosen[c]]
            length += entry * entry
            row += u[c, i] * u[c, i]
        lengths += length
        rows[i] = np.sqrt(row) + drift * np.sqrt(length)
    error = drift * np.sqrt(lengths) * SLACK
    off = np.sqrt(off) + gamma(m + 2) * whole
    off = (off + 2.0 * np.sqrt(whole) * error + error * error) * SLACK
    for i in range(m):
        rows[i] *= SLACK / (1.0 - off)
    return off <= 0.5


@inner
def _with_direction(task, where, factor, count, box, error, way):  # type: ignore[no-untyped-def]
    """The same with a direction, in which variables whose sign is in doubt become feasible."""
    columns = task.columns
    n, m = columns.shape
    t, products = floats(m), floats(n)
    downwards = len(way.free) == 0
    for j in range(n):
        downwards &= box.side[j] >= 0.0
        for value in columns[j]:
            downwards &= value >= 0.0
    if downwards:
        for i in range(m):
            t[i] = -1.0
    else:
        count = _take_in_doubt(task, where, factor, count, box, error)
        _towards(task, factor, count, box, t)
    correlate_columns(columns, t, products)
    size = size_of(t)
    bound = gamma(m + 2) * size * SLACK
    return Way(t, products, size, bound, way.free, way.scale, way.least, way.rows)


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
def _screen(task, x, residual, theta, w, slopes, gap, drift, error, moved, screened):  # type: ignore[no-untyped-def]
    """Where the two-point ball proves that x_j is at a bound, and it is there.

    Its centre is (theta + rho) / 2, its radius √(gap - ¼ ||theta - rho||²). rho is known up to the error
    of the prediction and its own rounding, theta up to the way `moved` to a feasible point.
    """
    m, size, away = len(residual), size_of(residual), 0.0
    for i in range(m):
        step = theta[i] - residual[i]
        away += step * step
    off = drift + UNIT_ROUNDOFF * size + moved
    apart = max(np.sqrt(away) / SLACK - off * SLACK, 0.0) if away > UNDERFLOW else 0.0
    radius = np.sqrt(max(gap - 0.25 * apart * apart, 0.0)) * SLACK
    centre_error = 0.5 * (error + moved + gamma(m + 2) * size * SLACK + off)
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
