"""Moves of an active set: `boxreg.kernels.box_moves` and `box_steps`, by the threads of a block."""

from __future__ import annotations

import math
from collections import namedtuple

from numba import cuda

from ..box_moves import FREE, LOWER, UPPER
from ..growing_factor import INDEPENDENT
from .compiling import block, within
from .factor import append, pulled, remove, solve
from .reductions import choose, total

FIXED = 3
"""A state beside LOWER, FREE and UPPER: equal bounds. Twice the state of a bound says that the variable
is barred from leaving it for now."""

Place = namedtuple("Place", ["start", "pull", "shift", "state", "base", "lower", "upper"])
"""Per variable: w₀; w₀ - G_B d_B; d; where it is; x₀; the bounds."""

Scratch = namedtuple("Scratch", ["room", "places"])
"""A number and an index for each thread."""


@within
def bound_shift(state, low, high, at):  # type: ignore[no-untyped-def]
    """d_j of a variable that is held: to its bound, or nowhere if it has none."""
    bound = high if state in (UPPER, 2 * UPPER) else low
    return bound - at if -math.inf < bound < math.inf else 0.0


@block
def hold(gram, place, j, d):  # type: ignore[no-untyped-def]
    """Variable j, not in F, moves to d_j = d: the pull on the others changes."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    change = d - place.shift[j]
    cuda.syncthreads()
    if t == 0:
        place.shift[j] = d
    if change != 0.0:
        for i in range(t, len(place.pull), threads):
            place.pull[i] -= change * gram[j, i]
    cuda.syncthreads()


@block
def survey(gram, free, count, place, inverse_norms, noise, scratch):  # type: ignore[no-untyped-def]
    """½ dᵀG d - w₀ᵀd = -½ dᵀ(w₀ + w), and the held variable whose slope points inwards most steeply.

    The slopes w = pull - G_F d_F are over ||a_j|| for the choice, which is -1 if none points inwards by
    more than `noise`.
    """
    value, best, found = 0.0, noise, len(place.state)
    for j in range(cuda.threadIdx.x, len(place.state), cuda.blockDim.x):
        w, k = place.pull[j], 0
        while k + 3 < count:
            first = gram[free.chosen[k], j] * free.goal[k]
            second = gram[free.chosen[k + 1], j] * free.goal[k + 1]
            third = gram[free.chosen[k + 2], j] * free.goal[k + 2]
            fourth = gram[free.chosen[k + 3], j] * free.goal[k + 3]
            w -= (first + second) + (third + fourth)
            k += 4
        while k < count:
            w -= gram[free.chosen[k], j] * free.goal[k]
            k += 1
        value += place.shift[j] * (place.start[j] + w)
        state = place.state[j]
        if state in (LOWER, UPPER):
            score = -state * w * inverse_norms[j]
            if score > best:
                best, found = score, j
    j = choose(best, found, scratch.room, scratch.places)
    return -0.5 * total(value, scratch.room), j if j < len(place.state) else -1


@block
def bar(place, j):  # type: ignore[no-untyped-def]
    """Let j not enter until something else has lowered the objective."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        place.state[j] *= 2
    cuda.syncthreads()


@block
def lift_bars(place):  # type: ignore[no-untyped-def]
    """Nothing is barred any more."""
    for j in range(cuda.threadIdx.x, len(place.state), cuda.blockDim.x):
        if place.state[j] == 2 * LOWER:
            place.state[j] = LOWER
        elif place.state[j] == 2 * UPPER:
            place.state[j] = UPPER
    cuda.syncthreads()


@block
def enter(gram, free, count, place, j):  # type: ignore[no-untyped-def]
    """Let j become free if its column is independent of F; barred otherwise. The size of F."""
    grown = append(gram, free, count, j, place.pull[j], INDEPENDENT)
    at = place.shift[j]
    if grown == count:
        bar(place, j)
        return count
    if at != 0.0:
        hold(gram, place, j, 0.0)
        pulled(free, grown, place.pull)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        place.shift[j], place.state[j] = at, FREE
    cuda.syncthreads()
    return grown


@block
def descend(gram, free, count, place):  # type: ignore[no-untyped-def]
    """Fit F, and again without the variables that break a bound, until none does; the size of F."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    while count > 0:
        solve(free, count)
        some = 0
        for k in range(t, count, threads):
            j = free.chosen[k]
            side = _side_beyond(place, j, free.goal[k])
            if side != FREE:
                place.state[j], some = side, 1
        if not cuda.syncthreads_or(some):
            break
        for k in range(count - 1, -1, -1):
            side = place.state[free.chosen[k]]
            if side != FREE:
                count = _leave(gram, free, count, place, k, side)
    for k in range(t, count, threads):
        place.shift[free.chosen[k]] = free.goal[k]
    cuda.syncthreads()
    return count


@within
def _side_beyond(place, j, d):  # type: ignore[no-untyped-def]
    """The bound that x_j would be at or beyond; FREE if there is none."""
    x = place.base[j] + d
    if x <= place.lower[j]:
        return LOWER
    return UPPER if x >= place.upper[j] else FREE


@block
def move(gram, free, count, place, scratch):  # type: ignore[no-untyped-def]
    """Go towards the fit of F, as far as the first bound; what meets it leaves; and so on.

    Returns the size of F.
    """
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    while count > 0:
        solve(free, count)
        share, first = _first_bound(free, count, place, scratch)
        for k in range(t, count, threads):
            j, goal = free.chosen[k], free.goal[k]
            if first >= 0:
                goal = place.shift[j] + share * (goal - place.shift[j])
            place.shift[j] = goal
        cuda.syncthreads()
        if first < 0:
            break
        side = _side_beyond(place, free.chosen[first], free.goal[first])
        count = _leave(gram, free, count, place, first, side)
    return count


@block
def _first_bound(free, count, place, scratch):  # type: ignore[no-untyped-def]
    """How far the fit can be gone towards, and the position in F of what stops it; -1 if nothing."""
    least, first = math.inf, count
    for k in range(cuda.threadIdx.x, count, cuda.blockDim.x):
        j = free.chosen[k]
        side = _side_beyond(place, j, free.goal[k])
        if side == FREE:
            continue
        at, way = place.base[j] + place.shift[j], free.goal[k] - place.shift[j]
        left = (place.upper[j] if side == UPPER else place.lower[j]) - at
        share = max(left / way, 0.0) if way * side > 0.0 else 0.0
        if share < least:
            least, first = share, k
    if not cuda.syncthreads_or(1 if first < count else 0):
        return 1.0, -1
    first = choose(-least, first, scratch.room, scratch.places)
    share = -scratch.room[0]
    cuda.syncthreads()
    return min(share, 1.0), first


@block
def _leave(gram, free, count, place, at, side):  # type: ignore[no-untyped-def]
    """The variable at position `at` of F goes to its bound on that side."""
    j = free.chosen[at]
    d = bound_shift(side, place.lower[j], place.upper[j], place.base[j])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        place.state[j], place.shift[j] = side, 0.0
    count = remove(free, count, at)
    cuda.syncthreads()
    if d != 0.0:
        hold(gram, place, j, d)
        pulled(free, count, place.pull)
    return count
