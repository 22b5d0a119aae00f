"""What (x, theta) proves of a dense problem with a loss that kernels know: `boxreg.duality`, compiled.

The same sums of non-negative terms with the same allowances for rounding, and as in
`boxreg.certificate` a gap that has room for a second computation: every error is charged three times,
but signs are proved with errors as they are.

w_j = 0, which is asked of theta where x_j has no bounds, cannot hold in floating point. But an exact
theta' is next to theta, with |theta'_i - theta_i| <= r · √h_i · rows_i, as in
`equality_columns.EqualityMetric` with h = f''(p): every statement about theta' is one about theta with
that much more error.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..losses.kinds import KULLBACK_LEIBLER, SQUARES
from ..rounding import AGAIN, FAINT, SLACK, SMALLEST_NORM, TINY, UNDERFLOW, UNIT_ROUNDOFF
from .box_certificates import gamma, prediction_error, size_of
from .brackets import row_bracket
from .certified_fit import free_columns
from .compiling import branch, branch_sums, compiled, inner
from .orthogonal_active_set import Task
from .row_losses import Rows, curvatures, residual_at
from .smooth_active_set import predict
from .vectors import correlate_columns, floats, table

Cost = namedtuple("Cost", ["c", "size", "unit"])
"""c, |c_j| with all that was summed up (of no length without costs), and the relative error of c_j."""


@compiled
def prove(  # type: ignore[no-untyped-def]
    columns, norms, c, size, unit, lower, upper,
    kind, parameter, background, target, weights, split, largest, roundoff,
    x, theta, p, w,
):  # fmt: skip
    """A gap for (x, theta), how much of it is an allowance for rounding, the gap without room for a
    second computation, and how far a feasible theta' may be from theta, in norm.

    p and w are written to. `largest` is the Lipschitz constant of f', or inf; `roundoff` is its relative
    error in units roundoff. Both gaps are inf where theta is not proved feasible.
    """
    n, m = columns.shape
    rows, cost = Rows(kind, parameter, background, target, weights, split), Cost(c, size, unit)
    rho = floats(m)
    predict(columns, x, p)
    finite = residual_at(rows, p, rho)
    correlate_columns(columns, theta, w)
    if len(size):
        for j in range(n):
            w[j] -= c[j]
    independent, way, spread = _to_free(columns, norms, lower, upper, rows, p)
    if not (finite and independent):
        return np.inf, np.inf, np.inf, 0.0
    error, own = (
        gamma(m + 2) * size_of(theta) * SLACK,
        2.0 * UNIT_ROUNDOFF * roundoff * size_of(rho),
    )
    drift = unit + 2.0 * UNIT_ROUNDOFF if len(size) else 0.0
    off, count = prediction_error(x, norms)
    relative = gamma(count + 4) * SLACK
    apart, wide = 0.0, off
    if largest < np.inf:
        apart = _distance(theta, rho)
        wide = off + (AGAIN - 1.0) * (off + (own / largest if largest > 0.0 else 0.0))
    else:
        wide = AGAIN * off
    cost_off = drift * _largest(size, lower, upper)
    moved = _way_to_free(w, norms, way, error, cost_off)
    moved_again = _way_to_free(w, norms, way, AGAIN * error, AGAIN * cost_off)
    exactly = _way_to_free(w, norms, way, 0.0, 0.0)
    length = size_of(spread)
    bare = _brackets(rows, p, theta, spread, exactly, 0.0, 0.0)
    box = _box(x, w, norms, cost, lower, upper, error + moved * length, drift, False)
    exact = _box(x, w, norms, cost, lower, upper, exactly * length, 0.0, False)
    again = AGAIN * error + moved_again * length
    box_again = _box(x, w, norms, cost, lower, upper, again, AGAIN * drift, True)
    if largest < np.inf:
        slope = apart + own
        near = _brackets(rows, p, theta, spread, moved, 0.0, 0.0)
        near += _cost_of_error(slope + moved * length, off, largest)
        far = _brackets(rows, p, theta, spread, moved_again, 0.0, 0.0)
        far += _cost_of_error(slope + moved_again * length, wide, largest)
    else:
        near = _brackets(rows, p, theta, spread, moved, relative, off)
        far = _brackets(rows, p, theta, spread, moved_again, AGAIN * relative, wide)
    tight = (near + box) * SLACK
    if not tight < np.inf:
        return np.inf, np.inf, np.inf, 0.0
    gap = max((far + box_again) * SLACK, tight) * SLACK
    allowed = max(box - exact, 0.0) + FAINT * m + max(near - bare, 0.0)
    allowed += (SLACK - 1.0) * tight + (gap - tight)
    return gap, min(allowed, gap), tight, moved * length


@compiled
def screen(  # type: ignore[no-untyped-def]
    columns, norms, c, size, unit, lower, upper,
    x, theta, w, constants, gap, moved, screened,
):  # fmt: skip
    """-1 or 1 to `screened` where the gap sphere proves that x_j is at its lower or upper bound, and it
    is there.

    sum_i (theta'_i - theta*_i)² / L_i <= 2 gap, L_i the `constants` and theta' within `moved` of theta.
    """
    n, m = columns.shape
    error, radius = gamma(m + 2) * size_of(theta) * SLACK + moved, np.sqrt(2.0 * gap) * SLACK
    drift = unit + 2.0 * UNIT_ROUNDOFF if len(size) else 0.0
    for j in range(n):
        screened[j] = 0
        if not lower[j] < upper[j] or lower[j] < x[j] < upper[j]:
            continue
        reach = _reach(columns[j], constants)
        distance = (radius * reach + _doubt(norms, Cost(c, size, unit), error, drift, j)) * SLACK
        if w[j] + distance < 0.0 and x[j] == lower[j]:
            screened[j] = -1
        elif w[j] - distance > 0.0 and x[j] == upper[j]:
            screened[j] = 1


@branch_sums
def _reach(column, constants):  # type: ignore[no-untyped-def]
    """√(sum_i L_i a_ij²)."""
    total = 0.0
    for i in range(len(column)):
        if column[i] != 0.0:
            total += constants[i] * column[i] * column[i]
    return np.sqrt(total) * SLACK


@inner
def _to_free(columns, norms, lower, upper, rows, p):  # type: ignore[no-untyped-def]
    """Whether the columns of variables without bounds are proved independent in the metric of f''; what
    that says of the way to a theta' that is orthogonal to them, and √h_i · rows_i."""
    n, m = columns.shape
    free = 0
    for j in range(n):
        free += lower[j] == -np.inf and upper[j] == np.inf and norms[j] > 0.0
    none, roots, ones = floats(0), floats(m), floats(m)
    for i in range(m):
        ones[i] = 1.0
    task = Task(table(free, m), none, floats(free), floats(free), floats(free), floats(free), none)
    if free:
        curvatures(rows, p, roots)
    k = 0
    for j in range(n):
        if lower[j] == -np.inf and upper[j] == np.inf and norms[j] > 0.0:
            for i in range(m):
                task.columns[k, i] = roots[i] * columns[j, i]
            task.norms[k] = size_of(task.columns[k])
            task.cost[k], task.lower[k], task.upper[k] = 0.0, -np.inf, np.inf
            if not task.norms[k] > SMALLEST_NORM:
                return False, free_columns(ones, task)[1], none
            k += 1
    independent, way = free_columns(ones, task)
    if not (independent and free):
        return independent, way, none
    k = 0
    for j in range(n):  # `chosen` are places among all columns from here on
        if lower[j] == -np.inf and upper[j] == np.inf and norms[j] > 0.0:
            way.free[k] = j
            k += 1
    for i in range(m):
        roots[i] *= way.rows[i] * SLACK
    return True, way, roots


@branch
def _way_to_free(w, norms, way, error, cost):  # type: ignore[no-untyped-def]
    """r: how far theta' is, over √h_i · rows_i."""
    total, largest = 0.0, 0.0
    for k in range(len(way.free)):
        j = way.free[k]
        off = (abs(w[j]) + error * norms[j] + cost) / way.scale[k]
        total += off * off
        largest = max(largest, off)
    size = np.sqrt(total)
    if size < UNDERFLOW:
        size = np.sqrt(float(len(way.free))) * largest
    return size / way.least * SLACK if size > 0.0 else 0.0


@branch
def _largest(size, lower, upper):  # type: ignore[no-untyped-def]
    """The largest cost, with all that was summed up, of a variable without bounds."""
    most = 0.0
    for j in range(len(size)):
        if lower[j] == -np.inf and upper[j] == np.inf:
            most = max(most, size[j])
    return most


@branch_sums
def _distance(theta, rho):  # type: ignore[no-untyped-def]
    """||theta - rho||, larger where squares underflow."""
    total, largest = 0.0, 0.0
    for i in range(len(theta)):
        away = abs(theta[i] - rho[i])
        total += away * away
        largest = max(largest, away)
    apart = np.sqrt(total)
    return apart if apart >= UNDERFLOW else np.sqrt(float(len(theta))) * largest


@branch
def _cost_of_error(slope, off, largest):  # type: ignore[no-untyped-def]
    """What an error of the prediction adds to the brackets, at most."""
    return slope * off + 0.5 * largest * off * off + TINY if off > 0.0 else 0.0


@branch
def _brackets(rows, p, theta, spread, moved, relative, off):  # type: ignore[no-untyped-def]
    """The sum of all brackets, each at the worst of its predictions and of its theta'.

    Predictions are off by `relative` |p_i| in rows of positive data, and by `off` in others.
    """
    total = 0.0
    for i in range(len(p)):
        kind = rows.kind if i < rows.split else SQUARES
        k, b, weight, y = rows.parameter, rows.background[i], rows.weights[i], rows.target[i]
        away, low, shift = off, -np.inf, moved * spread[i] if len(spread) else 0.0
        if kind == KULLBACK_LEIBLER:
            away, low = relative * abs(p[i]), 0.0
        bound = row_bracket(kind, k, b, weight, max(p[i] + away, low), theta[i] + shift, y)
        for corner in range(1, 4):
            if (corner % 2 == 0 or away > 0.0) and (corner < 2 or shift > 0.0):
                end = p[i] - away if corner % 2 else p[i] + away
                other = theta[i] - shift if corner > 1 else theta[i] + shift
                bound = max(bound, row_bracket(kind, k, b, weight, max(end, low), other, y))
        total += bound
    return total * (1.0 + gamma(len(p) + 1))


@branch
def _doubt(norms, cost, error, drift, j):  # type: ignore[no-untyped-def]
    """How far w_j may be from the truth."""
    doubt = error * norms[j]
    if 0.0 < error < UNDERFLOW and norms[j] > 0.0:
        doubt += TINY
    return doubt + drift * cost.size[j] if len(cost.size) else doubt


@branch
def _box(x, w, norms, cost, lower, upper, error, drift, signed):  # type: ignore[no-untyped-def]
    """sum (u_j - x_j) w_j⁺ + (x_j - l_j) w_j⁻, each w_j at its worst; inf where a sign is not proved.

    `signed`: signs that a missing bound asks for are taken to be proved.
    """
    total, some = 0.0, False
    for j in range(len(x)):
        if lower[j] == -np.inf and upper[j] == np.inf and norms[j] > 0.0:
            continue  # w_j = 0 for theta'
        doubt, slope = _doubt(norms, cost, error, drift, j), w[j]
        if signed and upper[j] == np.inf:
            slope = min(slope, -doubt)
        elif signed and lower[j] == -np.inf:
            slope = max(slope, doubt)
        rising, falling = max(doubt + slope, 0.0), max(doubt - slope, 0.0)
        if (upper[j] == np.inf and rising > 0.0) or (lower[j] == -np.inf and falling > 0.0):
            return np.inf
        above = upper[j] - x[j] if upper[j] < np.inf else 0.0
        below = x[j] - lower[j] if lower[j] > -np.inf else 0.0
        total += above * rising + below * falling
        some |= (above > 0.0 and rising > 0.0) or (below > 0.0 and falling > 0.0)
    total *= 1.0 + gamma(len(x) + 4)
    return total + 2.0 * TINY if some and total < UNDERFLOW else total
