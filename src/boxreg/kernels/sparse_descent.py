"""Least squares between bounds on a sparse A: sweeps find the sides, conjugate gradients the digits.

    minimise ½ ||r||² + cᵀx,   r = z - A x,   lower <= x <= upper

by turns: sweeps of coordinate descent, each over the coordinates that the last one did not find held
at a bound, until hardly any of them changes sides; then conjugate gradients over the coordinates inside
their bounds, preconditioned by the diagonal of AᵀA, until some of them leave the box or the slopes are
as small as is asked for. What has left the box is clipped, of a shorter step where that would not lower
the objective.

Variables with one bound aim for slopes a little beyond 0, so that the residual is feasible for the dual
as it stands. Nothing here feeds a proof: the caller computes residual and slopes anew.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import UNIT_ROUNDOFF
from .compiling import branch_sums, compiled_sums, inner_sums, leaf_sums
from .csc import product
from .vectors import floats

Task = namedtuple(
    "Task", ["data", "indices", "indptr", "lower", "upper", "inverse", "reach", "aims"]
)
"""A by columns; the bounds; 1 / ||a_j||², 0 for a zero column, and ||a_j||; c_j less what the slope of a
variable with one bound is to be beyond 0."""

Space = namedtuple("Space", ["start", "ahead", "change", "search", "gradient"])
"""Memory of conjugate gradients: two vectors with an entry a row, three with one a column."""

_NOISE = 6.0
"""Slopes count as 0 at so many times a bound on their rounding error."""

_SHARE = 0.4
"""The share of the gap asked for that slopes beyond 0 may make; conjugate gradients leave half of it."""

_EXACTLY = 30.0
"""Slopes of variables without bounds are to be smaller by this factor: the dual point is moved until
they are 0, and the others have to allow for that."""

_FLAT = 1e-12
"""They end where ||A d||² is down to this share of sum d_j² ||a_j||²: columns depend on each other, and
a step along d would be rounding."""

_LOOK = 0.01
"""Conjugate gradients look whether they have left the box when what they minimise is down to this share
of what it was, a digit of the slopes."""

_FACES = 50
"""They go on without coordinates that met their bound so often, at most, before sweeps come again."""

_OUTSIDE = 0.02
"""They end at once when more than this share of their coordinates has."""


@compiled_sums
def descend(csc, x, residual, box, cost, asked, limits):  # type: ignore[no-untyped-def]
    """Go on from x, in place, until the gap is at most `asked`; whether it is, and the entries read.

    `limits`: entries that may be read, sweeps in a row, the share of the last sweep that makes the next
    one welcome, and the share of coordinates inside that may still change sides.
    """
    data, indices, indptr = csc
    lower, upper = box
    n, m = len(x), len(residual)
    most, sweeps_at_most, fast, settled = limits
    inverse, reach, aims = floats(n), floats(n), cost.copy()
    order, inside = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    for j in range(n):
        square = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            square += data[e] * data[e]
        reach[j] = np.sqrt(square)
        inverse[j] = 1.0 / square if square > 0.0 else 0.0
    task = Task(data, indices, indptr, lower, upper, inverse, reach, aims)
    space = Space(floats(m), floats(m), floats(n), floats(n), floats(n))
    work, level, aiming = float(indptr[n]), 0.0, True
    while True:
        work += _sweeps(task, x, residual, order, sweeps_at_most, fast, settled)
        spare = 0.0 if aiming else level
        gap, ranges, noise, free = _look(task, x, residual, cost, inside, spare)
        work += indptr[n]
        if gap <= max(asked, 2.0 * noise * ranges):
            return True, work
        if work > most:
            return False, work
        level = max(_SHARE * asked / ranges, noise) if ranges > 0.0 else noise
        for j in range(n):
            side = (upper[j] == np.inf) * 1.0 - (lower[j] == -np.inf) * 1.0
            aims[j] = cost[j] - side * level * reach[j] if aiming else cost[j]
        if free:
            left = most - work
            read, flat = _face(task, x, residual, inside[:free], 0.5 * level, space, left)
            work += read
            aiming &= not flat  # there may be no end to what it asks for


@branch_sums
def _sweeps(task, x, residual, order, most, fast, settled):  # type: ignore[no-untyped-def]
    """Sweeps until the sides have settled, as long as they do not fall fast; the entries read."""
    lower, upper, indptr = task.lower, task.upper, task.indptr
    count, before, work = 0, np.inf, 0.0
    for j in range(len(x)):
        if lower[j] < upper[j] and task.inverse[j] > 0.0:
            order[count] = j
            count += 1
    for made in range(most):
        for k in range(count):
            work += indptr[order[k] + 1] - indptr[order[k]]
        count, changed, total = _sweep(task, x, residual, order, count)
        inside = 0
        for k in range(count):
            inside += lower[order[k]] < x[order[k]] < upper[order[k]]
        quick = made > 0 and total <= fast * before
        before = total
        if total == 0.0 or (changed <= settled * inside and not quick):
            break
    return work


@leaf_sums
def _sweep(task, x, residual, order, count):  # type: ignore[no-untyped-def]
    """One sweep over order[:count], as in `sweeps.csc_sweep`."""
    largest, total, changed, kept = 0.0, 0.0, 0, 0
    for k in range(count):
        j = order[k]
        low, high, size = task.lower[j], task.upper[j], task.reach[j]
        values = task.data[task.indptr[j] : task.indptr[j + 1]]
        rows = task.indices[task.indptr[j] : task.indptr[j + 1]]
        slope = -task.aims[j]
        for e in range(len(values)):
            slope += values[e] * residual[np.uintp(rows[e])]
        old = x[j]
        new = min(max(old + slope * task.inverse[j], low), high)
        step = new - old
        if step != 0.0:
            x[j] = new
            for e in range(len(values)):
                residual[np.uintp(rows[e])] -= step * values[e]
            length = abs(step) * size
            total += length * length
            largest = max(largest, length)
            within, now_within = low < old < high, low < new < high
            changed += within != now_within or not (within or now_within)
        if low < new < high or abs(slope - step * size * size) <= 0.5 * largest * size:
            order[kept] = j
            kept += 1
    return kept, changed, np.sqrt(total)


@leaf_sums
def _look(task, x, residual, cost, inside, spare):  # type: ignore[no-untyped-def]
    """The gap in the box, inf where a slope is on the wrong side; what it grows by with the slopes
    inside; the rounding error of a slope, over ||a_j||; how many coordinates are inside, noted in
    `inside`.

    A variable without bounds may be expected within what y alone would make of it; so may one with one
    bound, if its slope is wrong by no more than `spare` ||a_j||.
    """
    gap, ranges, square, free, terms = 0.0, 0.0, 0.0, 0, 0
    for i in range(len(residual)):
        square += residual[i] * residual[i]
    for j in range(len(x)):
        terms = max(terms, task.indptr[j + 1] - task.indptr[j])
    noise = _NOISE * (terms + 4) * UNIT_ROUNDOFF * np.sqrt(square)
    for j in range(len(x)):
        low, high = task.lower[j], task.upper[j]
        w = product(task.data, task.indices, task.indptr, j, residual) - cost[j]
        below = x[j] - low if low > -np.inf else np.inf
        above = high - x[j] if high < np.inf else np.inf
        if task.inverse[j] > 0.0 and (below == above or abs(w) <= spare * task.reach[j]):
            near = abs(x[j]) + np.sqrt(square) / task.reach[j]
            below, above = min(below, near), min(above, near)
        if low < x[j] < high:
            inside[free] = j
            free += 1
            both = below + above
            ranges += (both if both < np.inf else min(below, above)) * task.reach[j]
        if low < high and w != 0.0:
            room = above if w > 0.0 else below
            gap += abs(w) * room
    return gap, ranges, noise, free


@inner_sums
def _face(task, x, residual, free, level, space, most):  # type: ignore[no-untyped-def]
    """Conjugate gradients on the coordinates `free`; the entries read, and whether columns depend.

    What leaves the box is clipped if that lowers the objective. Otherwise they begin anew, and from then
    on end at each bound that they meet, and go on without the coordinate that met it.
    """
    work, count, patience = 0.0, len(free), _OUTSIDE * len(free) + 1.0
    for _ in range(_FACES):
        left, some = most - work, free[:count]
        read, done, flat = _conjugate_gradients(
            task, x, residual, some, level, space, left, patience
        )
        work += read
        kept = 0
        for p in range(count):
            j = free[p]
            if task.lower[j] < x[j] < task.upper[j]:
                free[kept] = j
                kept += 1
        count, patience = kept, 0.0
        if done or flat or work > most or count == 0:
            break
    return work, flat


@inner_sums
def _conjugate_gradients(task, x, residual, free, level, space, most, patience):  # type: ignore[no-untyped-def]
    """Towards slopes of at most `level` ||a_j|| over the coordinates `free`, then into the box.

    They end when more than `patience` of these have left it. Returns the entries read, whether the
    step was not cut short at a bound, and whether columns depend on each other. Slopes are products with
    the residual, which moves with the step, so that their errors do not pile up.
    """
    inverse, change, search, gradient = task.inverse, space.change, space.search, space.gradient
    m, k = len(residual), len(free)
    entries, size = 0.0, 0.0
    for i in range(m):
        space.start[i] = residual[i]
    for p in range(k):
        j = free[p]
        entries += task.indptr[j + 1] - task.indptr[j]
        gradient[p] = product(task.data, task.indices, task.indptr, j, residual) - task.aims[j]
        search[p], change[p] = gradient[p] * inverse[j], 0.0
        size += gradient[p] * search[p]
    look, work, flat = _LOOK * size, entries, False
    while size > 0.0 and work <= most:
        for i in range(m):
            space.ahead[i] = 0.0
        bend, straight = 0.0, 0.0
        for p in range(k):
            _add(task, free[p], search[p], space.ahead)
            straight += (search[p] * task.reach[free[p]]) ** 2
        for i in range(m):
            bend += space.ahead[i] * space.ahead[i]
        if not bend > _FLAT * straight:
            flat = True
            break
        length, after, worst, outside = size / bend, 0.0, 0.0, 0
        for i in range(m):
            residual[i] -= length * space.ahead[i]
        for p in range(k):
            j = free[p]
            change[p] += length * search[p]
            outside += not (task.lower[j] <= x[j] + change[p] <= task.upper[j])
            gradient[p] = product(task.data, task.indices, task.indptr, j, residual) - task.aims[j]
            part = gradient[p] * gradient[p] * inverse[j]
            after += part
            if task.upper[j] == np.inf and task.lower[j] == -np.inf:
                part *= _EXACTLY * _EXACTLY
            worst = max(worst, part)
        work += 2.0 * entries
        if worst <= level * level or outside > patience or (outside and after <= look):
            break
        look = _LOOK * after if after <= look else look
        for p in range(k):
            search[p] = gradient[p] * inverse[free[p]] + (after / size) * search[p]
        size = after
    whole = _into_the_box(task, x, residual, free, change, space.start, patience > 0.0)
    return work + entries, whole, flat


@leaf_sums
def _into_the_box(task, x, residual, free, change, start, clip):  # type: ignore[no-untyped-def]
    """x + change, clipped, if that lowers the objective, or as far as the first bound; and its residual.

    Whether all of the change was made, or clipped.
    """
    old, new, share = 0.0, 0.0, 1.0
    for p in range(len(free)):
        j = free[p]
        moved = min(max(x[j] + change[p], task.lower[j]), task.upper[j])
        new += 2.0 * task.aims[j] * (moved - x[j])
        if moved != x[j] + change[p]:
            share = min(share, (moved - x[j]) / change[p])
            _add(task, j, x[j] + change[p] - moved, residual)
    for i in range(len(residual)):
        old += start[i] * start[i]
        new += residual[i] * residual[i]
    whole = share == 1.0 or (clip and new <= old)
    if whole:
        share = 1.0
    else:
        for i in range(len(residual)):
            residual[i] = start[i]
    for p in range(len(free)):
        j = free[p]
        moved = min(max(x[j] + share * change[p], task.lower[j]), task.upper[j])
        if not whole:
            _add(task, j, x[j] - moved, residual)
        x[j] = moved
    return whole


@leaf_sums
def _add(task, j, step, out):  # type: ignore[no-untyped-def]
    """Add a multiple of column j."""
    values = task.data[task.indptr[j] : task.indptr[j + 1]]
    rows = task.indices[task.indptr[j] : task.indptr[j + 1]]
    for e in range(len(values)):
        out[np.uintp(rows[e])] += step * values[e]
