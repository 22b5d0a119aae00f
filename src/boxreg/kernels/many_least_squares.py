"""Box-constrained least squares for a block of right-hand sides that share A.

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
    describe,
    gamma,
    least_squares_gap,
    new_box,
    prediction_error,
    push,
    size_of,
)
from .box_moves import FREE, LOWER, UPPER, face, new_moves
from .chaining import chain
from .compiling import branch, compiled, inner, leaf, leaf_sums
from .growing_factor import append, new_factor
from .vectors import floats, indices, table

REFINEMENTS = 4
ENOUGH = 1e-4
"""A solve ends where the objective cannot fall by more than this share of the gap asked for: with nearly
dependent columns exchanges go on for long that change nothing that can be told."""
BEYOND = 2
"""Steps of refinement after the target has been met."""

Room = namedtuple(
    "Room",
    [
        "factor", "moves", "slopes", "residuals", "trial", "states", "orders", "counts", "waiting",
        "base", "start", "spare", "theta", "box",
    ],
)  # fmt: skip
"""What a block is solved in. For each right-hand side: slopes, ρ, x, the set it was found with and its
size, who waits; for one at a time: the start of a solve, its slopes, slopes and theta to certify."""


@inner
def new_room(model, count):  # type: ignore[no-untyped-def]
    """For blocks of up to so many: memory that is new to a process may cost as much as a solve."""
    m, n = model.rows.shape
    most = min(m, n)
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
    )


@inner
def solve_block(model, Y, lower, upper, way, tol, warm, used, room, answers):  # type: ignore[no-untyped-def]
    """Solve the right-hand sides Y[p], p in `used`; a gap above its target is left to others.

    `lower` and `upper` have one row, or one for each right-hand side.
    """
    (m, n), per, left = model.rows.shape, len(lower) > 1, len(used)
    rounds, factor, moves = 3 * n + 30, room.factor, room.moves
    slopes, residuals, trial, box = room.slopes, room.residuals, room.trial, room.box
    states, orders, counts, waiting = room.states, room.orders, room.counts, room.waiting
    base, start, spare, theta = room.base, room.start, room.spare, room.theta
    _forget(moves)
    describe(lower[0], upper[0], box)
    if warm:
        chain(Y, used, floats(left))
    correlate_block(model.rows, Y, used, left, slopes)
    count = conform(model, factor, moves, 0, lower[0], upper[0])
    for k in range(left):
        p = used[k]
        waiting[k] = p
        low, high = lower[p if per else 0], upper[p if per else 0]
        if not warm and k > 0:
            count = _forget(moves)
        if per or not warm:
            count = conform(model, factor, moves, count, low, high)
        scale, target = _begin(model, Y[p], low, high, base, slopes[p], start, theta, tol)
        answers.scales[p], answers.targets[p], answers.gaps[p] = scale, target, np.inf
        noise = UNIT_ROUNDOFF * (m + 2) * size_of(Y[p])
        count = settle(model, factor, moves, count, base, start, low, high, noise, rounds)
        _record(factor, moves, count, base, low, high, trial[p], states[p], orders[p])
        counts[p] = count
    for attempt in range(REFINEMENTS + 1):
        _fresh_slopes(model, Y, trial, residuals, waiting, left, slopes)
        still = 0
        for k in range(left):
            p = waiting[k]
            low, high = lower[p if per else 0], upper[p if per else 0]
            if per:
                describe(low, high, box)
            _copy(residuals[p], theta)
            _copy(slopes[p], spare)
            reach = _judge(model, box, way, trial[p], residuals[p], theta, spare, p, answers)
            noise = UNIT_ROUNDOFF * ((m + 2) * size_of(residuals[p]) + (counts[p] + 2) * reach)
            if _done(model, states[p], slopes[p], low, high, noise, attempt, p, answers):
                continue
            waiting[still] = p
            still += 1
            count = _resume(model, factor, moves, states[p], orders[p], counts[p])
            face(model, moves, low, high)
            _copy(trial[p], base)
            count = settle(model, factor, moves, count, base, slopes[p], low, high, noise, rounds)
            _record(factor, moves, count, base, low, high, trial[p], states[p], orders[p])
            counts[p] = count
        left = still
        if left == 0:
            break


@compiled
def solve_blocks(model, Y, valid, lower, upper, way, tol, warm, cuts, answers):  # type: ignore[no-untyped-def]
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
            found = answers_within(answers, first, last)
            solve_block(model, Y[first:last], low, high, way, tol, warm, used, room, found)


@branch
def _fresh_slopes(model, Y, trial, residuals, waiting, left, slopes):  # type: ignore[no-untyped-def]
    """ρ = y - A x and Aᵀρ of those that wait."""
    for k in range(left):
        combine(model.columns, trial[waiting[k]], residuals[waiting[k]])
        _subtract(Y[waiting[k]], residuals[waiting[k]])
    correlate_block(model.rows, residuals, waiting, left, slopes)


@leaf
def _done(model, state, w, low, high, noise, attempt, p, answers):  # type: ignore[no-untyped-def]
    """Whether another solve from here has nothing to gain, or too many were made."""
    proved = answers.gaps[p] <= answers.targets[p]
    if attempt == (BEYOND if proved else REFINEMENTS):
        return True
    if answers.gaps[p] <= ENOUGH * answers.targets[p]:
        return True
    return proved and _optimal(model, state, w, low, high, noise)


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
def _begin(model, y, low, high, base, products, start, residual, tol):  # type: ignore[no-untyped-def]
    """The projection of 0 on the box as base, its slopes; P₀ and the gap asked for.

    The last is no less than what rounding leaves meaningful.
    """
    some = False
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
    scale = 0.5 * size * size
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
def _judge(model, box, way, x, residual, theta, w, p, answers):  # type: ignore[no-untyped-def]
    """Certify x; keep it if nothing better was proved before. Returns sum |x_j| ||a_j||."""
    m, size = len(residual), size_of(residual)
    drift, count = prediction_error(x, model.norms)
    error = gamma(m + 2) * size * SLACK
    error = push(w, theta, model.norms, box, way, error)
    gap = np.inf
    if error >= 0.0:
        gap = least_squares_gap(x, w, theta, residual, model.norms, box, way, error, drift)
    if gap <= answers.gaps[p]:
        answers.gaps[p], answers.objectives[p] = gap, 0.5 * size * size
        _copy(x, answers.X[p])
        if len(answers.theta):
            _copy(theta, answers.theta[p])
    return drift / (gamma(count + 2) * SLACK)


@leaf
def _optimal(model, state, w, low, high, noise):  # type: ignore[no-untyped-def]
    """Whether no slope points inwards by more than rounding."""
    for j in range(len(w)):
        allowed = noise * model.norms[j]
        if abs(w[j]) <= allowed or low[j] == high[j]:
            continue
        if state[j] == FREE or (state[j] == LOWER) == (w[j] > 0.0) or low[j] == -np.inf == -high[j]:
            return False
    return True
