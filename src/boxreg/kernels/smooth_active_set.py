"""Box-constrained fits of any smooth loss to a small dense matrix, in one compiled call.

    minimise sum_i f([A x]_i; y_i) + cᵀx   over   l <= x <= u

Newton's method, as `solvers/newton.py` has it: each step minimises a weighted least-squares model over
the variables that are inside their bounds or want to be, by sweeps of coordinate descent as long as
these gain much, then by the active set on orthogonal factors, and goes towards its minimum as far as P
falls. Slopes along the way decide how far, so that P itself, which has fewer digits near its minimum, is
never looked at. A dual point comes with the answer: -f'(p') at the prediction p' next to p where the
slopes of variables inside their bounds have the right sign by a few rounding errors.
"""

from __future__ import annotations

import numpy as np

from ..losses.kinds import KULLBACK_LEIBLER, LOGISTIC
from ..rounding import UNIT_ROUNDOFF
from .box_certificates import gamma, size_of
from .compiling import branch, branch_sums, compiled, inner, leaf
from .orthogonal_active_set import HELD, Task, Where, advance, residual_of
from .orthogonal_factor import back_substitute, enter, new_factor
from .row_losses import Rows, curvatures_at, ideal_predictions, residual_at
from .vectors import correlate_columns, floats, indices, row_product, square, table

_LEAST_LESS, _LEAST_CAUTION = 0.01, 1e-8
"""What a full step leaves of κ, at least, and the least of κ. After a short step full ones leave more,
the root of that, and its square after two full ones."""
_SHORT, _MORE = 0.25, 10.0
"""A shorter step, in full ones, or none at all, multiplies κ by the second."""
_SLOPES, _LEVEL, _INSIDE = 20, 0.1, 0.1
"""Slopes that a search along a step looks at; it ends at one of this share of the first; how far from
both ends of what is left it looks, as a share of that."""
_STRAIGHT, _FARTHEST = 0.3, 2.0**40
"""A whole step at the end of which P falls by more than this share of its slope goes on, as in the tails
of a logistic loss; and how far steps go."""
_SWEEPS, _FEW = 6, 24
"""Sweeps of coordinate descent that stand for the minimum of a model far from the solution; with no more
variables than this factors take no longer."""
_SLOWER, _WORTH_MORE = 0.5, 1e3
"""Sweeps go on as long as each step promises less than this share of the one before, and more than so
many times the gap asked for."""
_NEARLY = 1e-3
"""The last step is one that promises less than this share of the gap asked for."""
_PART = 0.25
"""Rounding errors are rarely this share of their bound."""
_SPARE, _TRIES, _CORRECTIONS = 8.0, 4, 4
"""Signs of slopes that the dual point keeps, in their rounding errors; how often it is sought with more
columns, and how many steps that takes, at most."""
_CLOSE = 0.25
"""Slopes may be off by this share of that."""
_MIXTURES = 4
"""Shares of the starting point in a first guess: 0, a thousandth, a hundredth, a tenth."""


@compiled
def solve(  # type: ignore[no-untyped-def]  # noqa: PLR0915
    columns, cost, lower, upper,
    kind, parameter, background, target, weights, split,
    x, theta, fine, most, again,
):  # fmt: skip
    """Move x to the minimum, and write a dual point to theta.

    Returns steps, products of length m, and whether the last step promised next to nothing beside
    `fine`. x has to be in the box, with a derivative in every row; `again`: it is an answer already.
    """
    n, m = columns.shape
    rows = Rows(kind, parameter, background, target, weights, split)
    norms, w, p, rho, ahead = floats(n), floats(n), floats(m), floats(m), floats(m)
    trial, h, mood = floats(m), floats(m), floats(4)
    for j in range(n):
        norms[j] = np.sqrt(square(columns[j]))
    mood[0], mood[1], mood[2], mood[3] = 1.0, 1.0, _LEAST_LESS, 0.0
    room = Task(table(n, m), floats(m), floats(n), floats(n), floats(n), floats(n), floats(n))
    where = Where(floats(n), floats(m), np.empty(n, dtype=np.int8), floats(n), indices(16))
    used, factor = indices(n), new_factor(min(n, m), m)
    steps, made, size, count, solved = 0, 3 * n, 0, 0, False
    guess, sweeping, before = kind >= KULLBACK_LEIBLER and not again, n > _FEW and not again, np.inf
    predict(columns, x, p)
    while steps < most and residual_at(rows, p, rho) and not solved:
        correlate_columns(columns, rho, w)
        noise = _PART * gamma(m + 2) * size_of(rho)
        size = _movable(x, w, cost, lower, upper, norms, noise, guess, used)
        if size == 0:
            solved, count = True, 0
            break
        _bend(rows, p, rho, ahead, mood, guess, h)
        task, place = _model(columns, cost, lower, upper, x, h, rho, room, where, used, size, guess)
        rough, more = sweeping and not guess, 2 * _SWEEPS * size
        if rough:
            _sweep(task, place)
        else:
            count, _, more, _ = advance(task, place, factor, 0, 0.0, False, (3 * size + 30, np.inf))
        steps += 1
        made += 2 * n + 3 * size + more
        promised, fixed = _along(columns, cost, x, rho, used, size, place.x, ahead)
        if not promised > 0.0:
            solved = not (guess or rough)
            guess, sweeping = False, sweeping and not rough
            continue
        if rough:
            sweeping = _WORTH_MORE * fine < promised < _SLOWER * before
            before = promised
        if guess:
            share = _mixed(rows, p, ahead, promised, fixed, rho, trial)
        else:
            # With costs P may fall for ever, to where no row has any curvature.
            reach = _reach(x, lower, upper, used, size, place.x) if fixed == 0.0 else 1.0
            share = _how_far(rows, p, ahead, promised, fixed, reach, rho, trial)
            if not _learned(mood, share, rough):
                break
            sweeping &= share >= _SHORT
            solved = not rough and share >= 1.0 and promised <= _NEARLY * fine
        guess = False
        for k in range(size):
            j = used[k]
            moved = x[j] + share * (place.x[k] - x[j]) if share != 1.0 else place.x[k]
            x[j] = min(max(moved, lower[j]), upper[j])
        predict(columns, x, p)
        # theta = 0 then proves it, whoever is inside: on to rounding errors would take as long again.
        solved |= _above_least(rows, cost, p, rho, ahead) <= _NEARLY * fine
    if residual_at(rows, p, theta) and solved:
        made += _signed(
            rows, columns, cost, lower, upper, norms,
            room, factor, size, count, used, h, p, theta, w, rho, trial,
        )  # fmt: skip
    return steps, made, solved


@branch
def _above_least(rows, cost, p, rho, ideal):  # type: ignore[no-untyped-def]
    """An upper bound on P(x) - min F by convexity, F'(p) (p - argmin F); rho and `ideal` are written to.

    inf with costs, and for the logistic loss, which has no minimum.
    """
    if rows.kind == LOGISTIC or not residual_at(rows, p, rho):
        return np.inf
    ideal_predictions(rows, ideal)
    total = 0.0
    for value in cost:
        if value != 0.0:
            return np.inf
    for i in range(len(p)):
        total += rho[i] * (ideal[i] - p[i])
    return total


@branch
def _bend(rows, p, rho, ahead, mood, guess, h):  # type: ignore[no-untyped-def]
    """The curvature of a model at p, to h; for a first guess that around argmin f, and slopes to rho."""
    if not guess:
        curvatures_at(rows, p, mood[0], mood[1], h)
        return
    ideal_predictions(rows, ahead)
    curvatures_at(rows, ahead, 0.0, 0.0, h)
    for i in range(len(p)):
        rho[i] = h[i] * (ahead[i] - p[i])


@branch
def _learned(mood, share, rough):  # type: ignore[no-untyped-def]
    """Let κ, caution and optimism, follow from how far a step went; False where it went nowhere and
    nothing can change that. Sweeps that went nowhere say nothing."""
    if share >= 1.0:
        mood[0], mood[1] = max(mood[2] * mood[0], _LEAST_CAUTION), mood[2] * mood[1]
        if mood[3] == 1.0:
            mood[2] = max(mood[2] * mood[2], _LEAST_LESS)
    elif not (rough and share < _SHORT):
        if share == 0.0 and mood[0] >= 1.0:
            return False
        mood[1] = 0.0
        if share < _SHORT:
            mood[0], mood[2] = min(_MORE * mood[0], 1.0), np.sqrt(mood[2])
    mood[3] = 1.0 if share >= 1.0 else 0.0
    return True


@branch_sums
def _sweep(task, place):  # type: ignore[no-untyped-def]
    """A few sweeps of coordinate descent on a model."""
    x, residual = place.x, place.residual
    residual_of(task, place)
    for _ in range(_SWEEPS):
        for j in range(len(x)):
            norm, column = task.norms[j], task.columns[j]
            slope = row_product(task.columns, j, residual) - task.cost[j]
            if norm > 0.0:
                moved = min(max(x[j] + slope / (norm * norm), task.lower[j]), task.upper[j])
                step = moved - x[j]
                if step != 0.0:
                    x[j] = moved
                    for i in range(len(residual)):
                        residual[i] -= step * column[i]


@branch_sums
def predict(columns, x, p):  # type: ignore[no-untyped-def]
    """p = A x."""
    for i in range(len(p)):
        p[i] = 0.0
    for j in range(len(x)):
        value, column = x[j], columns[j]
        if value != 0.0:
            for i in range(len(p)):
                p[i] += value * column[i]


@branch
def _movable(x, w, cost, lower, upper, norms, noise, everyone, used):  # type: ignore[no-untyped-def]
    """Fill `used` with the variables inside their bounds and those that want to be: how many. None if
    none wants to move by more than noise."""
    size, wanting = 0, everyone
    for j in range(len(x)):
        w[j] -= cost[j]
        if not (lower[j] < upper[j] and norms[j] > 0.0):
            continue
        inside = lower[j] < x[j] < upper[j]
        slope = abs(w[j]) if inside else (w[j] if x[j] <= lower[j] else -w[j])
        steep = slope > noise * norms[j]
        if inside or steep or everyone:
            used[size] = j
            size += 1
        wanting |= steep
    return size if wanting else 0


@inner
def _model(  # type: ignore[no-untyped-def]
    columns, cost, lower, upper, x, h, rho, room, where, used, size, at_zero
):  # fmt: skip
    """Least squares with curvature h and slopes rho at A x, and where to start, everything HELD."""
    task = Task(
        room.columns[:size], room.b, room.cost[:size], room.lower[:size],
        room.upper[:size], room.norms[:size], room.scale[:size],
    )  # fmt: skip
    place = Where(
        where.x[:size], where.residual, where.state[:size], where.slopes[:size], where.listed
    )
    roots = where.residual
    for i in range(len(h)):
        roots[i] = np.sqrt(h[i])
        task.b[i] = rho[i] / roots[i]
    for k in range(size):
        j = used[k]
        _weigh(columns, j, roots, x[j], task, k)
        task.cost[k], task.lower[k], task.upper[k] = cost[j], lower[j], upper[j]
        place.x[k] = min(max(0.0, lower[j]), upper[j]) if at_zero else x[j]
        place.state[k] = HELD
    return task, place


@branch_sums
def _weigh(columns, j, roots, value, task, k):  # type: ignore[no-untyped-def]
    """Column k of a model is a_j times the roots; what it has in x is added to b."""
    source, out, b, total = columns[j], task.columns[k], task.b, 0.0
    for i in range(len(roots)):
        entry = roots[i] * source[i]
        out[i] = entry
        total += entry * entry
    if value != 0.0:
        for i in range(len(roots)):
            b[i] += value * out[i]
    task.norms[k] = np.sqrt(total)
    task.scale[k] = task.norms[k]


@branch_sums
def _along(columns, cost, x, rho, used, size, goal, ahead):  # type: ignore[no-untyped-def]
    """ahead = A d, d the way from x to the goal: the slope of -P along d, and the share of costs."""
    fixed, promised = 0.0, 0.0
    for i in range(len(ahead)):
        ahead[i] = 0.0
    for k in range(size):
        j = used[k]
        step, column = goal[k] - x[j], columns[j]
        if step != 0.0:
            fixed -= cost[j] * step
            for i in range(len(ahead)):
                ahead[i] += step * column[i]
    for i in range(len(ahead)):
        promised += rho[i] * ahead[i]
    return promised + fixed, fixed


@branch
def _reach(x, lower, upper, used, size, goal):  # type: ignore[no-untyped-def]
    """The largest s with x + s d in the box, at least 1."""
    reach = np.inf
    for k in range(size):
        j = used[k]
        step = goal[k] - x[j]
        if step != 0.0:
            reach = min(reach, ((upper[j] if step > 0.0 else lower[j]) - x[j]) / step)
    return max(reach, 1.0)


@branch
def _slope(rows, p, ahead, share, fixed, rho, trial):  # type: ignore[no-untyped-def]
    """The slope of -P at x + s d along d; -inf where a row has no derivative."""
    for i in range(len(p)):
        trial[i] = p[i] + share * ahead[i]
    if not residual_at(rows, trial, rho):
        return -np.inf
    total = fixed
    for i in range(len(p)):
        total += rho[i] * ahead[i]
    return total


@branch
def _how_far(rows, p, ahead, promised, fixed, reach, rho, trial):  # type: ignore[no-untyped-def]
    """An s at which P(x + s d) has nearly stopped to fall; 0 where none is found.

    1, or where that is too far, less; twice that, and so on, where P still falls steeply there.
    """
    end = _slope(rows, p, ahead, 1.0, fixed, rho, trial)
    if end >= -_LEVEL * promised:
        share = 1.0
        while end > _STRAIGHT * promised and 2.0 * share <= reach and share < _FARTHEST:
            end = _slope(rows, p, ahead, 2.0 * share, fixed, rho, trial)
            if end < 0.0:
                break
            share *= 2.0
        return share
    low, high, start, share = 0.0, 1.0, promised, 1.0
    for _ in range(_SLOPES):
        apart = start - end
        share = low + (high - low) * (start / apart if apart < np.inf else 0.5)
        edge = _INSIDE * (high - low)
        share = min(max(share, low + edge), high - edge)
        slope = _slope(rows, p, ahead, share, fixed, rho, trial)
        if abs(slope) <= _LEVEL * promised:
            return share
        if slope > 0.0:
            low, start = share, slope
        else:
            high, end = share, slope
    return low


@branch
def _mixed(rows, p, ahead, promised, fixed, rho, trial):  # type: ignore[no-untyped-def]
    """How far to go towards a first guess.

    Nearly all the way if every row has a derivative there, and P does not rise more steeply than it was
    promised to fall.
    """
    left = 0.0
    for _ in range(_MIXTURES):
        share = 1.0 - left
        if _slope(rows, p, ahead, share, fixed, rho, trial) >= -promised:
            return share
        left = 10.0 * left if left > 0.0 else 1e-3
    return _how_far(rows, p, ahead, promised, fixed, 1.0, rho, trial)


@branch
def _signed(  # type: ignore[no-untyped-def]
    rows, columns, cost, lower, upper, norms,
    room, factor, size, count, used, h, p, theta, w, rho, trial,
):  # fmt: skip
    """Move theta to -f'(p + A_F z) with slopes of 0 for F, or a few rounding errors to their right side.

    That is Newton's method again, for costs that differ by these rounding errors. Whatever else has a
    slope on the wrong side joins F, and the factor is made anew with the curvature there. Returns
    products made.
    """
    m, made = len(p), 0
    task = Task(room.columns, room.b, room.cost, room.lower, room.upper, room.norms, room.scale)
    member, goal, step, ahead = room.lower, room.upper, room.scale, room.b
    for k in range(len(used)):
        member[k] = 0.0
    for k in range(count):
        member[factor.chosen[k]] = 1.0
    for attempt in range(_TRIES):
        if attempt > 0:
            count = _factored(rows, columns, cost, used, size, member, p, h, task, factor)
            made += count * (count + 1)
        for _ in range(_CORRECTIONS):
            made += len(w) + count
            off = _slopes_off(
                columns, cost, lower, upper, norms, used, factor, count, theta, w, goal
            )
            if not off > _CLOSE:
                break
            promised = _correction(columns, used, factor, count, goal, step, ahead)
            fixed = promised
            for i in range(m):
                fixed -= theta[i] * ahead[i]
            share = _how_far(rows, p, ahead, promised, fixed, 1.0, rho, trial)
            for i in range(m):
                p[i] += share * ahead[i]
            residual_at(rows, p, theta)
            if share < 1.0:
                break
        size, more = _join(w, cost, lower, upper, norms, used, size, member, size_of(theta), m)
        if more == 0 and not off > _CLOSE:
            break
    return made


@branch
def _factored(rows, columns, cost, used, size, member, p, h, task, factor):  # type: ignore[no-untyped-def]
    """Factor the columns of F in the metric of f''(p); how many are independent."""
    curvatures_at(rows, p, _LEAST_CAUTION, 0.0, h)
    for i in range(len(h)):
        h[i] = np.sqrt(h[i])
    count = 0
    for k in range(size):
        if member[k] > 0.0:
            task.cost[k] = cost[used[k]]
            _weigh(columns, used[k], h, 0.0, task, k)
            count += enter(task, factor, count, k)
    return count


@branch
def _slopes_off(  # type: ignore[no-untyped-def]
    columns, cost, lower, upper, norms, used, factor, count, theta, w, goal
):  # fmt: skip
    """How far slopes of F are from what they should be, to `goal`; and beside that, the most."""
    correlate_columns(columns, theta, w)
    unit, off = _SPARE * gamma(len(theta) + 2) * size_of(theta), 0.0
    for k in range(count):
        j = used[factor.chosen[k]]
        spare = unit * norms[j] + 4.0 * _SPARE * UNIT_ROUNDOFF * abs(cost[j])
        goal[k] = w[j] - cost[j] + _side(lower[j], upper[j]) * spare
        off = max(off, abs(goal[k]) / spare)
    return off


@branch_sums
def _correction(columns, used, factor, count, goal, step, ahead):  # type: ignore[no-untyped-def]
    """ahead = A_F z, RᵀR z = goal; the product of goal and z."""
    for k in range(count):
        column, value = factor.upper[k], goal[k]
        for i in range(k):
            value -= column[i] * step[i]
        step[k] = value / column[k]
    back_substitute(factor.upper, count, step)
    promised = 0.0
    for i in range(len(ahead)):
        ahead[i] = 0.0
    for k in range(count):
        value, column = step[k], columns[used[factor.chosen[k]]]
        promised += goal[k] * value
        for i in range(len(ahead)):
            ahead[i] += value * column[i]
    return promised


@branch
def _join(w, cost, lower, upper, norms, used, size, member, length, m):  # type: ignore[no-untyped-def]
    """Let what has a slope on the wrong side join F: how many are used, and how many joined."""
    unit, more = 0.5 * _SPARE * gamma(m + 2) * length, 0
    for j in range(len(w)):
        side = _side(lower[j], upper[j])
        doubt = unit * norms[j] + 2.0 * _SPARE * UNIT_ROUNDOFF * abs(cost[j])
        if side == 0.0 or norms[j] == 0.0 or side * (w[j] - cost[j]) <= -doubt:
            continue
        k = 0
        while k < size and used[k] != j:
            k += 1
        if k == size:
            used[size] = j
            size += 1
            member[k] = 0.0
        if member[k] == 0.0:
            member[k] = 1.0
            more += 1
    return size, more


@leaf
def _side(low, high):  # type: ignore[no-untyped-def]
    """The sign that w_j must not have: 1 without an upper bound, -1 without a lower one, 0 elsewhere."""
    if high == np.inf:
        return 1.0 if low > -np.inf else 0.0
    return -1.0 if low == -np.inf else 0.0
