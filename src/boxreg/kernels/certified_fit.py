"""Least squares between bounds with weights and costs, solved and proved in one call.

    minimise ½ sum_i ω_i (b_i - [A x]_i)² + cᵀx   over   l <= x <= u,   ω_i > 0

The active set on orthogonal factors finds x; it is given the plain problem whose rows are √ω_i times
those of A and b. What is proved is about the problem as it is posed, of which nothing is scaled: with
rho_i = ω_i (b_i - [A x]_i) and w = Aᵀtheta - c,

    P(x) - D(theta) = ½ sum_i (theta_i - rho_i)² / ω_i + sum_j (u_j - x_j) w_j⁺ + (x_j - l_j) w_j⁻.

theta is rho, moved into the dual cone where variables without one bound ask for it: along -√ω where
A >= 0, otherwise along the t = √Ω t' with

    a_jᵀt = -r_j   (+r_j without a lower bound, 0 with both),   r_j = ||√Ω a_j||,

for the free columns √Ω A_F = Q R, t' = Q R⁻ᵀ(…), after columns whose sign rounding leaves in doubt have
been added to F. Gap and screening are those of `boxreg.duality` and `safe_regions.two_point_ball`; that
a theta with w_j = 0 on the columns without bounds is near is proved as in `equality_columns`. What is
not proved here is left to the general way.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import (
    AGAIN,
    COMBINATION,
    MARGIN,
    SLACK,
    SMALLEST_NORM,
    TINY,
    UNDERFLOW,
    UNIT_ROUNDOFF,
)
from .box_certificates import (
    Way,
    describe,
    gamma,
    new_box,
    prediction_error,
    push,
    reach_of_free,
    shift_of_free,
    size_of,
    terms_nearby,
)
from .compiling import branch, branch_sums, compiled, inner, leaf_sums
from .orthogonal_active_set import FREE, Task, advance, begin, residual_of, usual
from .orthogonal_factor import enter, new_factor
from .vectors import correlate_columns, floats, indices, row_product, square, table

Posed = namedtuple("Posed", ["task", "weights", "roots", "lengths", "largest", "roundoff"])
"""The problem as it is posed; ω and √ω; what errors of w_j are multiples of, ||a_j|| + |c_j| / ||rho||;
max ω; and the relative rounding error of ω_i (b_i - p_i), given p_i."""

Proof = namedtuple(
    "Proof",
    [
        "gap",
        "rounding",
        "objective",
        "dual_objective",
        "scale",
        "target",
        "rounds",
        "products",
        "ended",
    ],
)
"""The gap, how much of it is an allowance for rounding, P(x), D(theta), P₀, the gap asked for, rounds,
products of length m, and whether the active set came to its end. The gap is inf where nothing is proved,
NaN where squares are not finite."""


@compiled
def solve(  # type: ignore[no-untyped-def]
    columns, b, weights, cost, below, ridge, lower, upper, x, theta, screened, tol, atol, limits
):
    """Write the answer to x, a dual point to theta, and -1, 0 or 1 to `screened`; returns a `Proof`.

    Row j of `columns` is a_j. Without `weights` all are 1, without `cost` all are 0. Row j of `below` is
    column j of the rows of a ridge term, or `ridge` is its weight. `limits` are the most rounds and
    products.
    """
    n, rows = len(columns), len(theta)
    columns, b, weights, kept = assemble(columns, b, weights, below, ridge, rows)
    if len(cost) == 0:
        cost = floats(n)
        for j in range(n):
            cost[j] = 0.0
    for j in range(n):
        x[j], screened[j] = 0.0, 0
    m = len(b)
    own = theta if m == rows else floats(m)
    posed, task, where = pose(columns, b, weights, cost, lower, upper, x)
    if not (usual(task, x) and _in_range(posed, x)):
        return Proof(np.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 0, n, False)
    residual_of(task, where)
    drift, _ = prediction_error(x, posed.task.norms)
    scale = 0.5 * square(where.residual) + abs(_linear(cost, x))
    target = max(tol * scale, atol, posed.largest * drift * drift)
    factor = new_factor(min(n, m), m)
    count, rounds, made, ended = advance(task, where, factor, 0, 0.0, n < 0, limits)
    gap, rounding, dual, more = prove(posed, task, where, factor, count, own, screened, target)
    if m < rows:
        _spread(own, kept, theta)
    size = _size_over(where.residual, posed.roots)
    objective = 0.5 * size * size + _linear(cost, x)
    return Proof(gap, rounding, objective, dual, scale, target, rounds, made + more, ended)


@inner
def assemble(columns, b, weights, below, ridge, rows):  # type: ignore[no-untyped-def]
    """The problem with rows of weight 0 left out, and the rows of a ridge term under the others.

    Returns a_j as rows, b, weights (none where all are 1), and which of so many rows are kept.
    """
    (n, m), some, kept, count = columns.shape, len(weights) > 0, indices(rows), 0
    if not some and rows == m:
        return columns, b, weights, kept
    every, different = floats(rows), False
    for i in range(rows):
        value = 1.0
        if i >= m:
            value = ridge if ridge > 0.0 else 1.0
        elif some:
            value = weights[i]
        if value != 0.0:
            kept[count], every[count] = i, value
            different |= value != 1.0
            count += 1
    whole, target = table(n, count), floats(count)
    for k in range(count):
        target[k] = b[kept[k]] if kept[k] < m else 0.0
    for j in range(n):
        for k in range(count):
            i = kept[k]
            if i < m:
                whole[j, k] = columns[j, i]
            elif ridge > 0.0:
                whole[j, k] = 1.0 if i - m == j else 0.0
            else:
                whole[j, k] = below[j, i - m]
    return whole, target, every[:count] if different else every[:0], kept[:count]


@branch
def _spread(values, kept, out):  # type: ignore[no-untyped-def]
    """Values in the rows that are kept, 0 in the others."""
    for i in range(len(out)):
        out[i] = 0.0
    for k in range(len(values)):
        out[kept[k]] = values[k]


@inner
def pose(columns, b, weights, cost, lower, upper, x):  # type: ignore[no-untyped-def]
    """The problem as it is posed, the plain one that is solved, and where that starts."""
    (n, m), some = columns.shape, len(weights) > 0
    every, roots, largest = floats(m), floats(m), 0.0
    for i in range(m):
        every[i] = weights[i] if some else 1.0
        roots[i], largest = np.sqrt(every[i]), max(largest, every[i])
    rows, target = _times(columns, roots) if some else columns, _times_one(b, roots) if some else b
    task, where = begin(rows, target, cost, lower, upper, x, n < 0)
    norms = _norms(columns) if some else task.norms
    asked = Task(columns, b, cost, lower, upper, norms, norms)
    roundoff = 2.0 * UNIT_ROUNDOFF if some else UNIT_ROUNDOFF
    return Posed(asked, every, roots, floats(n), largest, roundoff), task, where


@inner
def _times(columns, roots):  # type: ignore[no-untyped-def]
    """Each row of the matrix times its root."""
    rows = table(*columns.shape)
    for j in range(len(columns)):
        for i in range(len(roots)):
            rows[j, i] = roots[i] * columns[j, i]
    return rows


@inner
def _times_one(b, roots):  # type: ignore[no-untyped-def]
    """Each entry times its root."""
    scaled = floats(len(b))
    for i in range(len(b)):
        scaled[i] = roots[i] * b[i]
    return scaled


@inner
def _norms(columns):  # type: ignore[no-untyped-def]
    """||a_j||."""
    norms = floats(len(columns))
    for j in range(len(columns)):
        norms[j] = np.sqrt(square(columns[j]))
    return norms


@branch
def _in_range(posed, x):  # type: ignore[no-untyped-def]
    """Whether bounds are in order, and no product with a weight or a cost overflows or underflows."""
    task, largest, reach = posed.task, 0.0, 0.0
    usual_too = usual(task, x)
    for j in range(len(x)):
        low, high = task.lower[j], task.upper[j]
        usual_too &= low <= high and low < np.inf and high > -np.inf
    for value in posed.weights:
        usual_too &= SMALLEST_NORM <= value <= 1.0 / SMALLEST_NORM
    for value in task.b:
        largest = max(largest, abs(value))
    for j in range(len(x)):
        usual_too &= abs(task.cost[j]) <= 1.0 / SMALLEST_NORM
        largest = max(largest, task.norms[j])
        reach += abs(x[j]) * task.norms[j]
    return usual_too and (largest + reach) * max(posed.largest, 1.0) < 1.0 / SMALLEST_NORM


@branch_sums
def _linear(cost, x):  # type: ignore[no-untyped-def]
    """cᵀx."""
    total = 0.0
    for j in range(len(x)):
        total += cost[j] * x[j]
    return total


@branch_sums
def _size_over(v, roots):  # type: ignore[no-untyped-def]
    """√(sum v_i² / ω_i)."""
    total = 0.0
    for i in range(len(v)):
        value = v[i] / roots[i]
        total += value * value
    return np.sqrt(total)


@inner
def prove(posed, task, where, factor, count, theta, screened, target):  # type: ignore[no-untyped-def]
    """A gap for x, how much of it is an allowance for rounding, D(theta), and products of length m.

    `count` columns are in the factor. theta and `screened` are written to; rho takes the place of the
    residual, and its slopes that of the others.
    """
    x, rho, w, cost = where.x, where.residual, where.slopes, posed.task.cost
    n, m = task.columns.shape
    residual_of(posed.task, where)
    for i in range(m):
        rho[i] *= posed.weights[i]
    correlate_columns(posed.task.columns, rho, w)
    box, slopes, size, made = new_box(n), floats(n), size_of(rho), 3 * n
    sizeable = size >= UNDERFLOW
    describe(task.lower, task.upper, box)
    error = gamma(m + 2) * size * SLACK
    for i in range(m):
        theta[i] = rho[i]
    for j in range(n):
        w[j] -= cost[j]
        slopes[j] = w[j]
        posed.lengths[j] = posed.task.norms[j] + (abs(cost[j]) / size if sizeable else 0.0)
    drift, _ = prediction_error(x, posed.task.norms)
    independent, way = free_columns(posed.roots, task)
    gap, least, pushed = np.inf, np.inf, -1.0
    if independent and (sizeable or size == 0.0):
        pushed = push(slopes, theta, posed.lengths, box, way, error)
        if pushed < 0.0:
            way = _with_direction(posed, task, where, factor, count, box, error, way)
            made += 3 * n
            pushed = push(slopes, theta, posed.lengths, box, way, error)
    if pushed >= 0.0:
        gap = _gap(posed, x, slopes, theta, rho, box, way, pushed, drift)
    # Without costs theta = 0 is feasible whatever the bounds, and proves P(x) - P* <= P(x).
    if not gap <= target:
        for i in range(m):
            theta[i] = 0.0
        for j in range(n):
            slopes[j] = -cost[j]
        pushed = 0.0
        gap = _gap(posed, x, slopes, theta, rho, box, way, pushed, drift)
    least = _gap(posed, x, slopes, theta, rho, box, way, 0.0, 0.0)
    if gap < UNDERFLOW and size > 0.0:
        gap += TINY
    if gap < np.inf and (sizeable or size == 0.0):
        _screen(posed, task, x, rho, theta, w, slopes, gap, drift, pushed, box, way, screened)
    rounding = gap - least if least < np.inf else 0.0
    return gap, rounding, _dual_objective(posed, theta, slopes, box), made


@inner
def _gap(posed, x, slopes, theta, rho, box, way, error, drift):  # type: ignore[no-untyped-def]
    """Upper bound on P(x) - D(theta): `box_certificates.least_squares_gap` with weights and costs.

    The prediction is off by `drift`, so that rho is by max ω times that.
    """
    moved, sums = terms_nearby(x, slopes, posed.lengths, box, way, error)
    if not sums < np.inf:
        return np.inf
    apart, weighted, size = 0.0, 0.0, _size_over(rho, posed.roots)
    for i in range(len(theta)):
        away = abs(theta[i] - rho[i])
        if moved > 0.0:
            away += moved * way.rows[i]
        apart += away * away
        away /= posed.roots[i]
        weighted += away * away
    apart, weighted = np.sqrt(apart), np.sqrt(weighted)
    # rho is rounded, and so are theta / ω and b - A x by whoever computes the gap again.
    distance = weighted + 4.0 * posed.roundoff * (size + weighted)
    bracket = 0.5 * distance * distance * SLACK
    if distance > 0.0:
        bracket += TINY * _total(posed.weights)
    if drift > 0.0:
        rounded = 2.0 * posed.roundoff * size_of(rho)
        drift = AGAIN * drift + 2.0 * rounded / posed.largest
        bracket += (apart + rounded) * drift + 0.5 * posed.largest * drift * drift + TINY
    return (bracket + sums) * SLACK * SLACK  # once more for another order of summation


@leaf_sums
def _total(v):  # type: ignore[no-untyped-def]
    """sum (1 + v_i)."""
    total = 0.0
    for value in v:
        total += 1.0 + value
    return total


@inner
def free_columns(roots, task):  # type: ignore[no-untyped-def]
    """Whether columns without bounds are proved to be independent; how far theta may have to move.

    As `equality_columns.EqualityMetric` with h = ω, √ω the `roots`: B are these columns, M = √Ω A_B D⁻¹
    has unit columns, V is the inverse of a triangular factor of M, and ||UᵀU - I|| <= ε < 1 is proved
    for U = M V. There is no direction yet.
    """
    n, m = task.columns.shape
    none, free = np.empty(0), 0
    nothing = Way(none, none, 0.0, 0.0, np.empty(0, dtype=np.intp), none, 1.0, none)
    for j in range(n):
        if task.lower[j] == -np.inf and task.upper[j] == np.inf:
            free += task.norms[j] > 0.0
            if task.norms[j] == 0.0 and task.cost[j] != 0.0:  # w_j = -c_j for every theta
                return False, nothing
    if free == 0:
        return True, nothing
    factor, scale, rows, count = new_factor(min(free, m), m), floats(free), floats(m), 0
    for j in range(n):
        if task.lower[j] == -np.inf and task.upper[j] == np.inf and task.norms[j] > 0.0:
            if not enter(task, factor, count, j):
                return False, nothing
            count += 1
    proved = _nearly_orthonormal(roots, task, factor, scale, rows)
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
def _nearly_orthonormal(roots, task, factor, scale, rows):  # type: ignore[no-untyped-def]
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
        rows[i] *= roots[i] * SLACK / (1.0 - off)
    return off <= 0.5


@inner
def _with_direction(posed, task, where, factor, count, box, error, way):  # type: ignore[no-untyped-def]
    """The same with a direction, in which variables whose sign is in doubt become feasible."""
    columns = posed.task.columns
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
        count = _take_in_doubt(posed, task, where, factor, count, box, error)
        _towards(task, factor, count, box, t)
    for i in range(m):
        t[i] *= posed.roots[i]
    correlate_columns(columns, t, products)
    size = size_of(t)
    bound = gamma(m + 2) * size * SLACK
    return Way(t, products, size, bound, way.free, way.scale, way.least, way.rows)


@branch
def _take_in_doubt(posed, task, where, factor, count, box, error):  # type: ignore[no-untyped-def]
    """Add to the factor what is at a bound with a sign that may be wrong; the new size of F."""
    doubt = 2.0 * MARGIN * (error + COMBINATION * size_of(where.residual))
    for j in range(len(where.x)):
        if box.side[j] == 0.0 or where.state[j] == FREE:
            continue
        if box.side[j] * where.slopes[j] + doubt * posed.lengths[j] > 0.0:
            count += enter(task, factor, count, j)
    return count


@branch_sums
def _towards(task, factor, count, box, t):  # type: ignore[no-untyped-def]
    """t' = Q u, Rᵀu = -side_j r_j."""
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
def _screen(posed, task, x, rho, theta, w, slopes, gap, drift, error, box, way, screened):  # type: ignore[no-untyped-def]
    """Where the two-point ball proves that x_j is at a bound, and it is there.

    In the norm of 1/ω its centre is (theta + rho) / 2, its radius √(gap - ¼ ||theta - rho||²), and a_jᵀv
    is at most r_j ||v||, r_j = ||√Ω a_j||. rho is known up to the error of the prediction and its own
    rounding, theta up to the way to a feasible point.
    """
    m, size, away, across = len(rho), size_of(rho), 0.0, 0.0
    reached = reach_of_free(slopes, posed.lengths, box, way, error, 1.0)
    for i in range(m):
        step = (theta[i] - rho[i]) / posed.roots[i]
        away += step * step
        if reached > 0.0:
            step = way.rows[i] / posed.roots[i]
            across += step * step
    moved = shift_of_free(slopes, posed.lengths, box, way, error)
    off = np.sqrt(posed.largest) * drift + reached * np.sqrt(across)
    off += posed.roundoff * _size_over(rho, posed.roots)
    apart = max(np.sqrt(away) / SLACK - off * SLACK, 0.0) if away > UNDERFLOW else 0.0
    radius = np.sqrt(max(gap - 0.25 * apart * apart, 0.0)) * SLACK
    rounded = posed.largest * drift + posed.roundoff * size + moved
    centre_error = 0.5 * (error + moved + gamma(m + 2) * size * SLACK + rounded)
    centre_error += 2.0 * UNIT_ROUNDOFF * (size + size_of(theta))
    for j in range(len(x)):
        if task.lower[j] == task.upper[j]:
            continue
        centre = 0.5 * (w[j] + slopes[j])
        reach = (radius * task.norms[j] + centre_error * posed.lengths[j]) * SLACK
        if centre + reach < 0.0 and x[j] == task.lower[j]:
            screened[j] = -1
        elif centre - reach > 0.0 and x[j] == task.upper[j]:
            screened[j] = 1


@leaf_sums
def _dual_objective(posed, theta, slopes, box):  # type: ignore[no-untyped-def]
    """D(theta) = sum theta_i (b_i - ½ theta_i / ω_i) - sum sup { t w_j }, infinite bounds left out."""
    total, b, weights = 0.0, posed.task.b, posed.weights
    for i in range(len(b)):
        total += theta[i] * (b[i] - 0.5 * theta[i] / weights[i])
    for j in range(len(slopes)):
        total -= box.high[j] * max(slopes[j], 0.0) + box.low[j] * min(slopes[j], 0.0)
    return total
