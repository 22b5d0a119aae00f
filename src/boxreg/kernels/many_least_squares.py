"""Box-constrained least squares for a block of right-hand sides that share A.

    minimise ½ ||y - A x||² + ½ sum μ_j x_j² + cᵀx   over   l <= x <= u

The block goes through its products together and through its active sets one by one, each from the
set of the one before it. A set found with the Gram matrix is checked with the slopes Aᵀρ of a fresh
residual; where they disagree, that is where the next solve starts.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import SLACK, UNIT_ROUNDOFF
from .block_products import combine, correlate_block
from .blocks import answers_within, bounds_within, valid_within
from .box_active_set import conform, settle
from .box_certificates import (
    TERMS,
    bracket_of,
    describe,
    gamma,
    least_squares_gap,
    new_box,
    prediction_error,
    push,
    size_of,
    soften,
)
from .box_moves import FREE, LOWER, UPPER, face, new_moves
from .chaining import chain
from .compiling import branch, compiled, inner, leaf, leaf_sums
from .growing_factor import Model, append, factor_again, new_factor
from .vectors import floats, indices, table

REFINEMENTS = 4
ENOUGH = 1e-4
"""A solve ends where the objective cannot fall by more than this share of the gap asked for: with nearly
dependent columns exchanges go on for long that change nothing that can be told."""
BEYOND = 2
"""Steps of refinement after the target has been met."""

Terms = namedtuple("Terms", ["soft", "cost", "levels", "scaled"])
"""1 / (2 μ_j) where the ridge term makes every sign of w_j feasible (see `box_certificates.soften`), c:
both of no length where there is none. What μ is multiplied by for each right-hand side, of no length
where that is 1 for all. `scaled`: how many roundings A and Y are off by, entry by entry."""

Room = namedtuple(
    "Room",
    [
        "factor", "moves", "slopes", "residuals", "trial", "states", "orders", "counts", "waiting",
        "base", "start", "spare", "theta", "box", "soft",
    ],
)  # fmt: skip
"""What a block is solved in. For each right-hand side: slopes, ρ, x, the set it was found with and its
size, who waits; for one at a time: the start of a solve, its slopes, slopes and theta to certify, the
bounds, 1 / (2 μ_j)."""


@inner
def new_room(model, count):  # type: ignore[no-untyped-def]
    """For blocks of up to so many: memory that is new to a process may cost as much as a solve."""
    m, n = model.rows.shape
    most = n if len(model.ridge) else min(m, n)
    return Room(
        new_factor(most, 0 if len(model.gram) else m),
        new_moves(n, most, m),
        table(count, n),
        table(count, m),
        table(count, n),
        np.empty((count, n), np.int8),
        np.empty((count, most), np.int32),
        indices(count),
        indices(count),
        floats(n),
        floats(n),
        floats(n),
        floats(m),
        new_box(n),
        floats(n),
    )


@inner
def solve_block(shared, Y, lower, upper, way, terms, tol, warm, used, room, answers):  # type: ignore[no-untyped-def]
    """Solve the right-hand sides Y[p], p in `used`; a gap above its target is left to others.

    `lower` and `upper` have one row, or one for each right-hand side.
    """
    model, per, levelled = _own(shared, terms), len(lower) > 1, len(terms.levels) > 0
    if warm:
        chain(Y, used, floats(len(used)))
    _first_solves(shared, model, Y, lower, upper, terms, tol, warm, used, room, answers)
    m, left, waiting, slopes, box = len(model.rows), len(used), room.waiting, room.slopes, room.box
    for attempt in range(REFINEMENTS + 1):
        _fresh_slopes(model, Y, room.trial, room.residuals, waiting, left, slopes)
        still = 0
        for k in range(left):
            p = waiting[k]
            low, high = lower[p if per else 0], upper[p if per else 0]
            if levelled:
                _set_level(shared, terms, p, model, room.soft)
            if per or levelled:
                _frame(low, high, room.soft if levelled else terms.soft, box)
            x, rest, size, state = room.trial[p], room.residuals[p], room.counts[p], room.states[p]
            theta, w, off = room.theta, room.spare, _charge(model, terms, x, slopes[p], box)
            _copy(rest, theta)
            _copy(slopes[p], w)
            reach = _judge(model, terms, box, way, Y[p], x, rest, theta, w, p, answers)
            noise = UNIT_ROUNDOFF * ((m + 2) * size_of(rest) + (size + 2) * reach) + off
            if _done(model, box, state, slopes[p], low, high, noise, attempt, p, answers):
                continue
            waiting[still] = p
            still += 1
            count = _resume(model, room.factor, room.moves, state, room.orders[p], size)
            face(model, room.moves, low, high)
            _copy(x, room.base)
            _settled(model, room, p, count, slopes[p], low, high, noise)
        left = still
        if left == 0:
            break


@branch
def _first_solves(shared, model, Y, lower, upper, terms, tol, warm, used, room, answers):  # type: ignore[no-untyped-def]
    """Each from the set of the one before it; all then wait to be certified."""
    factor, moves, box, m = room.factor, room.moves, room.box, len(model.rows)
    per, levelled = len(lower) > 1, len(terms.levels) > 0
    if levelled:
        _set_level(shared, terms, used[0], model, room.soft)
    _forget(moves)
    _frame(lower[0], upper[0], terms.soft, box)
    correlate_block(model.rows, Y, used, len(used), room.slopes)
    count = conform(model, factor, moves, 0, lower[0], upper[0])
    for k in range(len(used)):
        p = used[k]
        room.waiting[k] = p
        low, high = lower[p if per else 0], upper[p if per else 0]
        if not warm and k > 0:
            count = _forget(moves)
        if levelled:
            _set_level(shared, terms, p, model, room.soft)
            count = factor_again(model, factor, moves.state, count)
        if per or levelled or not warm:
            count = conform(model, factor, moves, count, low, high)
        scale, target = _begin(model, terms, Y[p], low, high, room.slopes[p], room, tol)
        answers.scales[p], answers.targets[p], answers.gaps[p] = scale, target, np.inf
        noise = UNIT_ROUNDOFF * (m + 2) * size_of(Y[p])
        noise += _charge(model, terms, room.base, room.start, box)
        count = _settled(model, room, p, count, room.start, low, high, noise)


@compiled
def solve_blocks(model, Y, valid, lower, upper, way, terms, tol, warm, cuts, answers):  # type: ignore[no-untyped-def]
    """Solve blocks of rows, from cuts[b, 0] to cuts[b, 1], one after the other."""
    longest = 0
    for b in range(len(cuts)):
        longest = max(longest, cuts[b, 1] - cuts[b, 0])
    room = new_room(model, longest)
    for b in range(len(cuts)):
        first, last = cuts[b, 0], cuts[b, 1]
        used = valid_within(valid, first, last)
        if len(used):
            low, high = bounds_within(lower, first, last), bounds_within(upper, first, last)
            found, some = answers_within(answers, first, last), terms
            if len(terms.levels):
                levels = terms.levels[first:last]
                some = Terms(terms.soft, terms.cost, levels, terms.scaled)
            solve_block(model, Y[first:last], low, high, way, some, tol, warm, used, room, found)


@branch
def _settled(model, room, p, count, start, low, high, noise):  # type: ignore[no-untyped-def]
    """Solve right-hand side p from the slopes `start` at the base, and note the answer; |F|."""
    factor, moves, base, rounds = room.factor, room.moves, room.base, 3 * len(low) + 30
    count, _ = settle(model, factor, moves, count, base, start, low, high, noise, rounds)
    _record(factor, moves, count, base, low, high, room.trial[p], room.states[p], room.orders[p])
    room.counts[p] = count
    return count


@inner
def _own(model, terms):  # type: ignore[no-untyped-def]
    """The model itself, or one with its own ridge term where each right-hand side has one."""
    if len(terms.levels) == 0:
        return model
    n = len(model.norms)
    gram, rows, columns, norms = model.gram, model.rows, model.columns, model.norms
    return Model(gram, rows, columns, norms, model.roots, floats(n), floats(n))


@leaf
def _set_level(shared, terms, p, model, soft):  # type: ignore[no-untyped-def]
    """The ridge term of right-hand side p."""
    for j in range(len(soft)):
        mu = terms.levels[p] * shared.ridge[j]
        square = model.norms[j] * model.norms[j] + mu
        model.ridge[j] = mu
        model.inverse[j] = 1.0 / np.sqrt(square) if square > 0.0 else 0.0
        soft[j] = 0.5 * SLACK / mu if terms.soft[j] > 0.0 else 0.0


@leaf
def _frame(low, high, soft, box):  # type: ignore[no-untyped-def]
    """The bounds, and where a ridge term softens what they ask of w_j."""
    describe(low, high, box)
    soften(soft, box)


@leaf
def _charge(model, terms, x, w, box):  # type: ignore[no-untyped-def]
    """w - c - μ ∘ x in place of w = Aᵀρ, and the errors of that; returns the largest, over √g_jj."""
    most, priced, ridged = 0.0, len(terms.cost) > 0, len(model.ridge) > 0
    if not (priced or ridged):
        return most
    for j in range(len(x)):
        c = terms.cost[j] if priced else 0.0
        pull = model.ridge[j] * x[j] if ridged else 0.0
        w[j] -= c + pull
        box.doubt[j] = TERMS * (abs(c) + abs(pull))
        most = max(most, box.doubt[j] * model.inverse[j])
    return most


@leaf
def _value_of_terms(model, terms, x):  # type: ignore[no-untyped-def]
    """½ sum μ_j x_j² and cᵀx."""
    square, linear = 0.0, 0.0
    for j in range(len(model.ridge)):
        square += model.ridge[j] * x[j] * x[j]
    for j in range(len(terms.cost)):
        linear += terms.cost[j] * x[j]
    return 0.5 * square, linear


@branch
def _fresh_slopes(model, Y, trial, residuals, waiting, left, slopes):  # type: ignore[no-untyped-def]
    """ρ = y - A x and Aᵀρ of those that wait."""
    for k in range(left):
        combine(model.columns, trial[waiting[k]], residuals[waiting[k]])
        _subtract(Y[waiting[k]], residuals[waiting[k]])
    correlate_block(model.rows, residuals, waiting, left, slopes)


@leaf
def _done(model, box, state, w, low, high, noise, attempt, p, answers):  # type: ignore[no-untyped-def]
    """Whether another solve from here has nothing to gain, or too many were made."""
    proved = answers.gaps[p] <= answers.targets[p]
    if attempt == (BEYOND if proved else REFINEMENTS):
        return True
    if answers.gaps[p] <= ENOUGH * answers.targets[p]:
        return True
    return proved and _optimal(model, box, state, w, low, high, noise)


@leaf
def _copy(source, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = source[i]


@leaf
def _subtract(y, out):  # type: ignore[no-untyped-def]
    """ρ = y - p in place of p: rounded once."""
    for i in range(len(out)):
        out[i] = y[i] - out[i]


@leaf
def _forget(moves):  # type: ignore[no-untyped-def]
    """Start from the bounds, with nothing in F."""
    for j in range(len(moves.state)):
        moves.state[j] = LOWER
    return 0


@leaf
def _begin(model, terms, y, low, high, products, room, tol):  # type: ignore[no-untyped-def]
    """The projection of 0 on the box as base, Aᵀρ there; P₀ and the gap asked for.

    The last is no less than what rounding leaves meaningful.
    """
    base, start, residual, some = room.base, room.start, room.theta, False
    for j in range(len(base)):
        base[j] = min(max(0.0, low[j]), high[j])
        start[j] = products[j]
        some |= base[j] != 0.0
    drift = 0.0
    _copy(y, residual)
    if some:
        combine(model.columns, base, residual)
        _subtract(y, residual)
        correlate_all(model.rows, residual, start)
        drift, _ = prediction_error(base, model.norms)
    size = size_of(residual)
    square, linear = _value_of_terms(model, terms, base)
    scale = 0.5 * size * size + square + abs(linear)
    return scale, max(tol * scale, drift * drift)


@leaf_sums
def correlate_all(rows, v, out):  # type: ignore[no-untyped-def]
    """out = Aᵀ v."""
    for j in range(len(out)):
        out[j] = 0.0
    for i in range(len(v)):
        value, row = v[i], rows[i]
        for j in range(len(out)):
            out[j] += value * row[j]


@leaf
def _record(factor, moves, count, base, low, high, x, state, order):  # type: ignore[no-untyped-def]
    """The answer and the set it was found with; x is exactly in the box."""
    for j in range(len(x)):
        state[j] = moves.state[j]
        if state[j] == LOWER and low[j] > -np.inf:
            x[j] = low[j]
        elif state[j] == UPPER and high[j] < np.inf:
            x[j] = high[j]
        else:
            x[j] = min(max(base[j] + moves.shift[j], low[j]), high[j])
    for k in range(count):
        order[k] = factor.chosen[k]


@leaf
def _resume(model, factor, moves, state, order, count):  # type: ignore[no-untyped-def]
    """The set of an earlier solve again; returns its size."""
    size = 0
    for j in range(len(state)):
        moves.state[j], moves.shift[j] = state[j], 0.0
    for k in range(count):
        grown = append(model, factor, size, order[k], 0.0)
        if grown == size:
            moves.state[order[k]] = LOWER
        size = grown
    return size


@leaf
def _judge(model, terms, box, way, y, x, residual, theta, w, p, answers):  # type: ignore[no-untyped-def]
    """Certify x; keep it if nothing better was proved before. Returns sum |x_j| ||a_j||.

    Where A and y are scaled, by roots of weights, their entries are off by so many roundings from those
    of the problem: products, predictions and ρ are off by as many more.
    """
    m, size = len(residual), size_of(residual)
    drift, count = prediction_error(x, model.norms)
    reach = drift / (gamma(count + 2) * SLACK)
    if terms.scaled:
        drift += terms.scaled * UNIT_ROUNDOFF * (reach + size_of(y)) * SLACK
    error = gamma(m + 3 + terms.scaled) * size * SLACK
    error = push(w, theta, model.norms, box, way, error)
    gap = np.inf
    if error >= 0.0:
        gap = least_squares_gap(x, w, theta, residual, model.norms, box, way, error, drift)
    if not gap <= answers.targets[p] and len(terms.cost) == 0 and len(model.ridge) == 0:
        whole = bracket_of(size, size + 2.0 * UNIT_ROUNDOFF * size, size, drift) * SLACK * SLACK
        if not gap <= whole:  # theta = 0 proves P(x) - P* <= P(x), whatever the bounds
            gap = whole
            for i in range(m):
                theta[i] = 0.0
    if gap <= answers.gaps[p]:
        square, linear = _value_of_terms(model, terms, x)
        answers.gaps[p], answers.objectives[p] = gap, 0.5 * size * size + square + linear
        _copy(x, answers.X[p])
        if len(answers.theta):
            _copy(theta, answers.theta[p])
    return reach


@leaf
def _optimal(model, box, state, w, low, high, noise):  # type: ignore[no-untyped-def]
    """Whether no slope points inwards by more than rounding."""
    for j in range(len(w)):
        allowed = noise * model.norms[j] + box.doubt[j]
        if abs(w[j]) <= allowed or low[j] == high[j]:
            continue
        if state[j] == FREE or (state[j] == LOWER) == (w[j] > 0.0) or low[j] == -np.inf == -high[j]:
            return False
    return True
