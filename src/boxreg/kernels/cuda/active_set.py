"""The active set of `boxreg.kernels.box_active_set` for many right-hand sides, a block of threads each.

    minimise ½ dᵀG d - w₀ᵀd   over   l <= x₀ + d <= u

One variable enters at a time, by the rule of Lawson and Hanson: the objective falls from set to set, so
none comes back. A block takes a run of right-hand sides, each from the set of the one before it and its
factor, less what breaks a bound there. The factor lies in the shared memory of the block or, where that
is too small, in memory of its own; G, and a few vectors, are read from the cache that all blocks share.
"""

from __future__ import annotations

import math
from collections import namedtuple

from numba import cuda, float32, float64, int32

from ..box_moves import FREE, LOWER, UPPER
from .compiling import block, kernel
from .factor import FreeSet, append, pulled
from .moves import (
    FIXED,
    Place,
    Scratch,
    bar,
    bound_shift,
    descend,
    enter,
    hold,
    lift_bars,
    move,
    survey,
)

THREADS = 128
"""The most threads a block may have."""
ROOM = 64
"""The most free variables that shared memory is used for."""

Task = namedtuple("Task", ["which", "run", "start", "base", "lower", "upper", "noise", "unbounded"])
"""Rows to solve, `run` of them one after the other; slopes w₀ at x₀; x₀; bounds (one row, or one each);
slopes, over ||a_j||, that rounding may leave; variables without bounds."""

Found = namedtuple("Found", ["X", "state", "short"])
"""Answers; states; whether F had more columns than there was room for."""


def memory_needed(room: int) -> int:
    """Numbers that a block works with, for so many free variables."""
    return room * (room + 1) // 2 + 4 * room


@kernel
def settle_shared(gram, inverse_norms, task, found, work, room, warm):  # type: ignore[no-untyped-def]
    """In shared memory, float64."""
    memory = cuda.shared.array(0, float64)
    chosen = cuda.shared.array(ROOM, int32)
    _settle(memory, chosen, gram, inverse_norms, task, found, work, room, warm)


@kernel
def settle_single(gram, inverse_norms, task, found, work, room, warm):  # type: ignore[no-untyped-def]
    """In shared memory, float32."""
    memory = cuda.shared.array(0, float32)
    chosen = cuda.shared.array(ROOM, int32)
    _settle(memory, chosen, gram, inverse_norms, task, found, work, room, warm)


@kernel
def settle_wide(gram, inverse_norms, task, found, work, memory, chosen, room):  # type: ignore[no-untyped-def]
    """In memory of the card, one row a block."""
    b = cuda.blockIdx.x
    _settle(memory[b], chosen[b], gram, inverse_norms, task, found, work, room, False)


@block
def _settle(memory, chosen, gram, inverse_norms, task, found, work, room, warm):  # type: ignore[no-untyped-def]
    end = room * (room + 1) // 2
    values = cuda.shared.array(THREADS, float64)
    places = cuda.shared.array(THREADS, int32)
    scratch = Scratch(values, places)
    free = FreeSet(
        chosen,
        memory[:end],
        memory[end : end + room],
        memory[end + room : end + 2 * room],
        memory[end + 2 * room : end + 3 * room],
        memory[end + 3 * room : end + 4 * room],
        room,
    )
    runs = (len(task.which) + task.run - 1) // task.run
    for r in range(cuda.blockIdx.x, runs, cuda.gridDim.x):
        count, before = 0, -1
        for k in range(r * task.run, min((r + 1) * task.run, len(task.which))):
            p = task.which[k]
            place = Place(
                task.start[p],
                work[cuda.blockIdx.x],
                found.X[p],
                found.state[p],
                task.base[p if len(task.base) > 1 else 0],
                task.lower[p if len(task.lower) > 1 else 0],
                task.upper[p if len(task.upper) > 1 else 0],
            )
            if warm and before >= 0:
                _inherit(place, found.state[before], found.X[before])
            else:
                count = _rebuild(gram, free, place, task.unbounded)
            count = _solve(
                gram, inverse_norms, free, count, place, task.noise[p], p, found, scratch
            )
            _record(place)
            before = p


@block
def _inherit(place, state, x):  # type: ignore[no-untyped-def]
    """The states of the right-hand side before; free variables stay where they are."""
    for j in range(cuda.threadIdx.x, len(state), cuda.blockDim.x):
        place.state[j] = state[j]
        place.shift[j] = x[j] - place.base[j] if state[j] == FREE else 0.0
    cuda.syncthreads()


@block
def _rebuild(gram, free, place, unbounded):  # type: ignore[no-untyped-def]
    """The factor of the variables that are free, and of those without bounds; returns the size of F."""
    for j in range(cuda.threadIdx.x, len(place.shift), cuda.blockDim.x):
        place.shift[j] = 0.0
    cuda.syncthreads()
    count = 0
    for k in range(len(unbounded)):
        count = _reenter(gram, free, count, place, unbounded[k], True)
    some = 0
    for j in range(cuda.threadIdx.x, len(place.state), cuda.blockDim.x):
        if place.state[j] == FREE:
            some = 1
    if cuda.syncthreads_or(some):
        for j in range(len(place.state)):
            count = _reenter(gram, free, count, place, j, place.state[j] == FREE)
    return count


@block
def _reenter(gram, free, count, place, j, wanted):  # type: ignore[no-untyped-def]
    """Append j if it is wanted and not there yet."""
    if not wanted:
        return count
    for k in range(count):
        if free.chosen[k] == j:
            return count
    grown = append(gram, free, count, j, 0.0, 1e-14) if count < free.room else count
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        place.state[j] = FREE if grown > count else LOWER
    cuda.syncthreads()
    return grown


@block
def _begin(gram, free, count, place):  # type: ignore[no-untyped-def]
    """Held variables to their bounds, free ones inside theirs."""
    some = 0
    for j in range(cuda.threadIdx.x, len(place.start), cuda.blockDim.x):
        place.pull[j] = place.start[j]
        low, high, at = place.lower[j], place.upper[j], place.base[j]
        if place.state[j] == FREE:
            place.shift[j] = min(max(at + place.shift[j], low), high) - at
        elif bound_shift(place.state[j], low, high, at) != 0.0:
            some = 1
    if cuda.syncthreads_or(some):
        for j in range(len(place.start)):
            if place.state[j] != FREE:
                d = bound_shift(place.state[j], place.lower[j], place.upper[j], place.base[j])
                if d != 0.0:
                    hold(gram, place, j, d)
    pulled(free, count, place.pull)


@block
def _solve(gram, inverse_norms, free, count, place, noise, p, found, scratch):  # type: ignore[no-untyped-def]
    """From the states at hand to the best; returns the size of F."""
    _begin(gram, free, count, place)
    count = descend(gram, free, count, place)
    best, j = survey(gram, free, count, place, inverse_norms, noise, scratch)
    barred, short = False, False
    for _ in range(3 * len(place.start) + 30):
        if j < 0:
            break
        if count == free.room:
            short = count < len(place.start)
            break
        entering, before = j, count
        count = enter(gram, free, count, place, j)
        if count == before:
            barred = True
            _, j = survey(gram, free, count, place, inverse_norms, noise, scratch)
            continue
        count = move(gram, free, count, place, scratch)
        value, j = survey(gram, free, count, place, inverse_norms, noise, scratch)
        if value < best:
            best = value
            if barred:
                lift_bars(place)
                barred = False
                _, j = survey(gram, free, count, place, inverse_norms, noise, scratch)
        elif place.state[entering] != FREE:  # no gain but rounding's
            bar(place, entering)
            barred = True
            _, j = survey(gram, free, count, place, inverse_norms, noise, scratch)
    if barred:
        lift_bars(place)
    if cuda.threadIdx.x == 0:
        found.short[p] = short
    return count


@block
def _record(place):  # type: ignore[no-untyped-def]
    """The answer, exactly in the box, in place of d."""
    x = place.shift
    for j in range(cuda.threadIdx.x, len(x), cuda.blockDim.x):
        state, low, high = place.state[j], place.lower[j], place.upper[j]
        if state in (LOWER, FIXED) and low > -math.inf:
            x[j] = low
        elif state == UPPER and high < math.inf:
            x[j] = high
        else:
            x[j] = min(max(place.base[j] + x[j], low), high)
    cuda.syncthreads()
