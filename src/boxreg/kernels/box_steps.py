"""Steps of an active set: variables enter F, F is fitted, what meets a bound leaves."""

from __future__ import annotations

import numpy as np

from .box_moves import FREE, LOWER, UPPER, hold, refresh_slopes
from .compiling import branch, leaf
from .growing_factor import INDEPENDENT, append, remove, solve_factored

_DISTINCT = 1e-3
"""A column joins a batch if this share of its squared norm, or more, is new."""


@leaf
def bound_shift(state, low, high, at):  # type: ignore[no-untyped-def]
    """d_j of a variable that is held: to its bound, or nowhere if it has none."""
    bound = high if state == UPPER else low
    return bound - at if -np.inf < bound < np.inf else 0.0


@leaf
def remember(factor, moves, count):  # type: ignore[no-untyped-def]
    """Note the set and where it is, to be able to go back."""
    old = moves.old
    for k in range(count):
        old.chosen[k] = factor.chosen[k]
    for j in range(len(old.shift)):
        old.shift[j], old.state[j] = moves.shift[j], moves.state[j]
        old.slopes[j], old.facing[j] = moves.slopes[j], moves.facing[j]


@branch
def restore(model, factor, moves, before, count, start):  # type: ignore[no-untyped-def]
    """Put the set back that was noted; what is in place already stays."""
    old, same = moves.old, 0
    while same < min(count, before) and factor.chosen[same] == old.chosen[same]:
        same += 1
    size = same
    for k in range(same, before):
        size = append(model, factor, size, old.chosen[k], 0.0)
    for j in range(len(start)):
        moves.state[j] = old.state[j]
        moves.slopes[j], moves.facing[j] = old.slopes[j], old.facing[j]
        moves.pull[j] = start[j]
        moves.shift[j] = 0.0
    for j in range(len(start)):
        if moves.state[j] != FREE and old.shift[j] != 0.0:
            hold(model, moves, j, old.shift[j])
    for j in range(len(start)):
        if moves.state[j] == FREE:
            moves.shift[j] = old.shift[j]
    return size


@leaf
def enter(model, factor, moves, count, size):  # type: ignore[no-untyped-def]
    """Let the variables found enter that are independent enough; returns the size of F."""
    first = count
    for e in range(size):
        j = moves.found[e]
        grown = append(model, factor, count, j, INDEPENDENT if e == 0 else _DISTINCT)
        if grown == count and count == first:
            break  # where the steepest depends on the free columns it is barred first
        if grown > count:
            at = moves.shift[j]
            if at != 0.0:
                hold(model, moves, j, 0.0)
            moves.shift[j], moves.state[j], moves.facing[j] = at, FREE, 0.0
            count = grown
    return count


@leaf
def _leave(model, factor, moves, count, at, side, base, lower, upper):  # type: ignore[no-untyped-def]
    """The variable at position `at` of F goes to its bound on that side."""
    j = factor.chosen[at]
    moves.state[j], moves.shift[j] = side, 0.0
    moves.facing[j] = -side * model.inverse[j]
    count = remove(model, factor, count, at)
    d = bound_shift(side, lower[j], upper[j], base[j])
    if d != 0.0:
        hold(model, moves, j, d)
    return count


@leaf
def move(model, factor, moves, count, base, lower, upper, gentle):  # type: ignore[no-untyped-def]
    """To the fit of F, or as far as bounds allow, and the slopes there; returns the size of F."""
    if gentle:
        count = _cautious(model, factor, moves, count, base, lower, upper)
    else:
        count = _descend(model, factor, moves, count, base, lower, upper)
    refresh_slopes(model, factor, moves, count)
    return count


@leaf
def _descend(model, factor, moves, count, base, lower, upper):  # type: ignore[no-untyped-def]
    """Fit F, and again without the variables that break a bound, until none does."""
    goal, leaving = moves.goal, moves.leaving
    while count > 0:
        solve_factored(factor, count, moves.pull, goal)
        some = False
        for k in range(count):
            j = factor.chosen[k]
            x = base[j] + goal[k]
            leaving[k] = x <= lower[j] or x >= upper[j]
            some |= leaving[k]
        if not some:
            break
        for k in range(count - 1, -1, -1):
            if leaving[k]:
                j = factor.chosen[k]
                side = LOWER if base[j] + goal[k] <= lower[j] else UPPER
                count = _leave(model, factor, moves, count, k, side, base, lower, upper)
    for k in range(count):
        moves.shift[factor.chosen[k]] = goal[k]
    return count


@leaf
def _cautious(model, factor, moves, count, base, lower, upper):  # type: ignore[no-untyped-def]
    """Go towards the fit of F, as far as the first bound; what meets it leaves; and so on."""
    goal, shift = moves.goal, moves.shift
    while count > 0:
        solve_factored(factor, count, moves.pull, goal)
        step, first, side = 1.0, -1, LOWER
        for k in range(count):
            j = factor.chosen[k]
            at, way = base[j] + shift[j], goal[k] - shift[j]
            if base[j] + goal[k] <= lower[j]:
                share = max((at - lower[j]) / -way, 0.0) if way < 0.0 else 0.0
                if share < step or first < 0:
                    step, first, side = share, k, LOWER
            elif base[j] + goal[k] >= upper[j]:
                share = max((upper[j] - at) / way, 0.0) if way > 0.0 else 0.0
                if share < step or first < 0:
                    step, first, side = share, k, UPPER
        for k in range(count):
            j = factor.chosen[k]
            moved = goal[k] if first < 0 else shift[j] + step * (goal[k] - shift[j])
            shift[j] = moved
        if first < 0:
            break
        count = _leave(model, factor, moves, count, first, side, base, lower, upper)
    return count
