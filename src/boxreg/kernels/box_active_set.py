"""A small box-constrained quadratic problem by an active set, from any start.

    minimise ½ dᵀG d - w₀ᵀd   over   l <= x₀ + d <= u

w₀ are the slopes at the base x₀: solving again from the answer, with slopes from a fresh residual, is
a step of refinement. Every variable is at its lower bound, free, or at its upper bound. Given the free
ones F, G_FF d_F = w₀_F - G_FB d_B; what breaks its bound goes there, all at once, until nothing does.
Then the steepest of those whose slope points inwards become free, a batch at a time. That is fast, and
can fail to lower the objective: then the set is put back and one variable enters by the rule of Lawson
and Hanson, going no farther than the first bound it meets. The objective falls from set to set, so
none comes back.
"""

from __future__ import annotations

import numpy as np

from .box_moves import BATCH, FREE, LOWER, UPPER, face, hold, steepest, value_of
from .box_steps import bound_shift, enter, move, remember, restore
from .compiling import branch
from .growing_factor import INDEPENDENT, append, remove

_FEW = 16
"""Up to this many free variables, bounds are met one by one from the start: solving again is cheap."""
_CAUTION = 4
"""Single steps after a batch that failed; twice as many after the next."""


@branch
def conform(model, factor, moves, count, lower, upper):  # type: ignore[no-untyped-def]
    """Make the states possible under these bounds; returns the size of F.

    Variables with equal bounds do not move; those without bounds are free from the start.
    """
    state = moves.state
    for k in range(count - 1, -1, -1):
        j = factor.chosen[k]
        if lower[j] == upper[j]:
            count = remove(model, factor, count, k)
            state[j] = LOWER
    for j in range(len(state)):
        if state[j] == FREE:
            continue
        none_below, none_above = lower[j] == -np.inf, upper[j] == np.inf
        if none_below and none_above:
            grown = append(model, factor, count, j, INDEPENDENT)
            state[j] = FREE if grown > count else LOWER
            count = grown
        elif none_above and state[j] == UPPER:
            state[j] = LOWER
        elif none_below and state[j] == LOWER:
            state[j] = UPPER
    face(model, moves, lower, upper)
    return count


@branch
def settle(model, factor, moves, count, base, start, lower, upper, noise, rounds):  # type: ignore[no-untyped-def]
    """Solve from the states at hand; returns the size of F, and the rounds made.

    `start` are the slopes w₀ at `base`; the answer is `base + moves.shift`, its slopes `moves.slopes`.
    """
    facing = moves.facing
    _begin(model, moves, base, start, lower, upper)
    count = move(model, factor, moves, count, base, lower, upper, count <= _FEW)
    best, caution, penance, barred = value_of(moves, start), 0, _CAUTION, False
    made = 0
    while made < rounds:
        gentle = caution > 0 or count <= _FEW
        size = steepest(moves, noise, 1 if caution else BATCH)
        if size == 0:
            break
        made += 1
        before = count
        if not gentle:
            remember(factor, moves, count)
        count = enter(model, factor, moves, count, size)
        if count == before:
            facing[moves.found[0]], barred = 0.0, True
            continue
        count = move(model, factor, moves, count, base, lower, upper, gentle)
        value = value_of(moves, start)
        if value < best:
            best, caution = value, max(caution - 1, 0)
            if barred:
                face(model, moves, lower, upper)
                barred = False
        elif gentle:  # no gain but rounding's
            for e in range(size):
                facing[moves.found[e]] = 0.0
            barred = True
        else:
            count = restore(model, factor, moves, before, count, start)
            caution, penance = penance, 2 * penance
    if barred:
        face(model, moves, lower, upper)
    return count, made


@branch
def _begin(model, moves, base, start, lower, upper):  # type: ignore[no-untyped-def]
    """Put held variables at their bounds, and free ones inside theirs."""
    state, shift, pull = moves.state, moves.shift, moves.pull
    for j in range(len(base)):
        pull[j] = start[j]
        if state[j] == FREE:
            shift[j] = min(max(base[j] + shift[j], lower[j]), upper[j]) - base[j]
        else:
            shift[j] = 0.0
    for j in range(len(base)):
        if state[j] != FREE:
            d = bound_shift(state[j], lower[j], upper[j], base[j])
            if d != 0.0:
                hold(model, moves, j, d)
