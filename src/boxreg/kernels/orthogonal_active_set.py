"""Box-constrained least squares by an active set on orthogonal factors that columns enter and leave.

    minimise ½ ||b - A x||² + cᵀx   over   l <= x <= u

The free columns F have A_F = Q R. One round frees the variable whose slope points most steeply into
the box and moves towards the fit of F, as far as the first bound; the variable that meets it leaves F,
and so on (Lawson and Hanson for x >= 0, Stark and Parker for boxes). A column enters Q by Gram-Schmidt,
made twice, and leaves it by Givens rotations, so that Q stays orthogonal to rounding however
ill-conditioned A is: nothing is lost where a Gram matrix loses half of the digits.

The residual r moves along with x: the fit of F is at x_F + p, R p = s, with s = Qᵀr - R⁻ᵀc_F, and a
step of length h along it takes h Q s off r. Coming from Q, r is as accurate as b, however large x is.
Once no slope points inwards r is computed again from x, and the fit refined.

A column that depends on F can lower the objective by its cost alone: it changes places with the
variable of F that meets a bound first.

All slopes are computed only where the shortlist of the steepest has nothing left that is steeper than
what was left out of it; or, `classic`, in every round, and the largest slope is followed, whatever the
norm of its column: of many solutions this finds the one that Lawson and Hanson's program finds.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import SMALLEST_NORM, UNIT_ROUNDOFF
from .compiling import branch, branch_sums, compiled, inner, leaf
from .orthogonal_factor import (
    back_substitute,
    enter,
    leave,
    move_residual,
    new_factor,
)
from .vectors import correlate_columns, floats, indices, row_product, square

Task = namedtuple("Task", ["columns", "b", "cost", "lower", "upper", "norms", "scale"])
"""Row j of `columns` is a_j; b, c, l, u, ||a_j||, and what slopes are compared over: ||a_j||, or 1."""

Where = namedtuple("Where", ["x", "residual", "state", "slopes", "listed"])
"""x, r, which variables are FREE, HELD at a bound or BARRED; memory for slopes and the shortlist."""

BARRED, HELD, FREE = -1, 0, 1
"""What a variable is. One that left F, or led nowhere, stays barred until the objective falls."""

_PART = 0.25
"""Rounding errors are rarely this share of their bound: slopes below it are not followed."""
_LISTED, _STEEP = 16, 0.3
"""Length of the shortlist; it lasts as long as its steepest is this share of what was left out."""
_SWEEPS = 3
"""Sweeps of coordinate descent that a start from inside a box is worth."""
_REFINEMENTS = 2


@inner
def begin(columns, b, cost, lower, upper, x, classic):  # type: ignore[no-untyped-def]
    """The task, and where it starts: at x, brought into the box, nothing free."""
    n, m = columns.shape
    where = Where(x, floats(m), np.empty(n, dtype=np.int8), floats(n), indices(_LISTED))
    task = Task(columns, b, cost, lower, upper, floats(n), floats(n))
    for j in range(n):
        x[j] = min(max(x[j], lower[j]), upper[j])
        task.norms[j] = np.sqrt(square(columns[j]))
        task.scale[j] = 1.0 if classic else task.norms[j]
        where.state[j] = HELD
    return task, where


@branch
def usual(task, x):  # type: ignore[no-untyped-def]
    """Whether squares of b, of columns that are not 0, and of A x neither overflow nor underflow."""
    reach = 0.0
    for j in range(len(x)):
        reach += abs(x[j]) * task.norms[j]
    usual = square(task.b) < np.inf and reach < 1.0 / SMALLEST_NORM
    for j in range(len(task.norms)):
        usual &= task.norms[j] == 0.0 or SMALLEST_NORM < task.norms[j] < 1.0 / SMALLEST_NORM
        if task.norms[j] == 0.0:
            for value in task.columns[j]:
                usual &= value == 0.0
    return usual


@compiled
def solve(columns, b, cost, lower, upper, x, threshold, classic, max_rounds, most):  # type: ignore[no-untyped-def]
    """Move x to the minimum: (||b - A x||, rounds, products of length m, whether it is there).

    Variables strictly inside their bounds start free. It ends early after `max_rounds` rounds or `most`
    products. Where squares of b or of a column are not finite, or are nothing, the norm is NaN.
    """
    n, m = columns.shape
    task, where = begin(columns, b, cost, lower, upper, x, classic)
    if not usual(task, x):
        return np.nan, 0, n, False
    factor, none = new_factor(min(n, m), m), 0
    limits = max_rounds, most
    count, rounds, made, ended = advance(task, where, factor, none, threshold, classic, limits)
    residual_of(task, where)
    return np.sqrt(square(where.residual)), rounds, made + n + count, ended


@branch
def advance(task, where, factor, count, threshold, classic, limits):  # type: ignore[no-untyped-def]
    """Up to so many rounds and products: (size of F, rounds, products, whether it is the minimum)."""
    x, residual, state = where.x, where.residual, where.state
    n, m = task.columns.shape
    made, refined, length, cut = n + _sweeps(task, where), 0, 0, np.inf
    max_rounds, most = limits
    found = _free_inside(task, where, factor, count, most)
    made += 2 * (found + 1) * (found - count)
    rounds = min(found - count, 1)
    count, _ = _refresh(task, where, factor, found, 0.0)
    value, reach = _value(task, where), 0.0
    size = np.sqrt(square(task.b)) + _reach(task, x, state, HELD)
    while rounds < max_rounds and made < most:
        noise = (m + 2) * np.sqrt(square(residual)) + (count + 2) * (size + reach)
        noise *= _PART * UNIT_ROUNDOFF
        j, slope = _best_listed(task, where, length, noise, threshold)
        made += length
        if j < 0 or slope < _STEEP * cut or classic:
            correlate_columns(task.columns, residual, where.slopes)
            made += n
            length, cut = _list(task, where, noise, threshold)
            j = where.listed[0] if length else -1
        if j < 0:
            if refined == _REFINEMENTS:
                return count, rounds, made, not _some_barred(task, where, noise, threshold)
            reach = _reach(task, x, state, FREE)
            noise += _PART * UNIT_ROUNDOFF * (count + 2) * reach
            count, more = _refresh(task, where, factor, count, noise)
            refined = refined + 1 if more else _REFINEMENTS
            made += n + 2 * count
            value, length, cut = _value(task, where), 0, np.inf
            continue
        rounds += 1
        made += 4 * count + 1
        if enter(task, factor, count, j):
            gain = row_product(factor.q, count, residual) - factor.costs[count]
            slope = row_product(task.columns, j, residual) - task.cost[j]
            if not gain * slope > 0.0:
                state[j] = BARRED
                continue
            state[j] = FREE
            factor.rest[count] = gain
            count = _fit(task, where, factor, count + 1, count)
        else:
            count = _exchange(task, where, factor, count, j)
        now = _value(task, where)
        if now < value:
            value, refined, reach = now, 0, 0.0
            _unbar(state)
        elif state[j] == HELD:
            state[j] = BARRED
    return count, rounds, made, False


@branch
def _free_inside(task, where, factor, count, most):  # type: ignore[no-untyped-def]
    """Variables strictly inside their bounds become free, unless they depend on others that are, or
    entering takes more than `most` products."""
    for j in range(len(where.x)):
        if 2.0 * count * count > most:
            break
        inside = where.state[j] == HELD and task.lower[j] < where.x[j] < task.upper[j]
        if inside and enter(task, factor, count, j):
            where.state[j] = FREE
            count += 1
    return count


@branch_sums
def _sweeps(task, where):  # type: ignore[no-untyped-def]
    """From inside a box, a few sweeps of coordinate descent tell who goes to a bound; products made.

    Without them all would be free at first, and leave one by one.
    """
    x, residual, some = where.x, where.residual, False
    for j in range(len(x)):
        low, high = task.lower[j], task.upper[j]
        some |= low < x[j] < high and high - low < np.inf
    if not some:
        return 0
    residual_of(task, where)
    for _ in range(_SWEEPS):
        for j in range(len(x)):
            low, high, column = task.lower[j], task.upper[j], task.columns[j]
            if low < high and task.norms[j] > 0.0:
                slope = row_product(task.columns, j, residual) - task.cost[j]
                moved = min(max(x[j] + slope / (task.norms[j] * task.norms[j]), low), high)
                step = moved - x[j]
                if step != 0.0:
                    x[j] = moved
                    for i in range(len(residual)):
                        residual[i] -= step * column[i]
    return (2 * _SWEEPS + 1) * len(x)


@branch
def _unbar(state):  # type: ignore[no-untyped-def]
    for j in range(len(state)):
        state[j] = max(state[j], HELD)


@branch
def residual_of(task, where):  # type: ignore[no-untyped-def]
    """r = b - A x, every product rounded, so that small integers stay exact."""
    residual = where.residual
    for i in range(len(residual)):
        residual[i] = 0.0
    for j in range(len(where.x)):
        value, column = where.x[j], task.columns[j]
        if value != 0.0:
            for i in range(len(residual)):
                residual[i] += value * column[i]
    for i in range(len(residual)):
        residual[i] = task.b[i] - residual[i]


@branch
def _refresh(task, where, factor, count, noise):  # type: ignore[no-untyped-def]
    """r = b - A x, and the fit of F from there, with nothing barred: the size of F, and whether there
    was more to fit than noise."""
    residual_of(task, where)
    most = 0.0
    for k in range(count):
        factor.rest[k] = row_product(factor.q, k, where.residual) - factor.costs[k]
        most = max(most, abs(factor.rest[k]))
    count = _fit(task, where, factor, count, 0)
    _unbar(where.state)
    return count, most > noise


@branch_sums
def _fit(task, where, factor, count, first):  # type: ignore[no-untyped-def]
    """Move to the fit of F, or as far as bounds allow; what meets one leaves. The new size of F.

    s is 0 before place `first`.
    """
    x, p, s, chosen = where.x, factor.step, factor.rest, factor.chosen
    while count > 0:
        for k in range(count):
            p[k] = s[k] if k >= first else 0.0
        back_substitute(factor.upper, count, p)
        length, blocking = _first_bound(task, where, factor, count, 1.0)
        for k in range(count):
            j = chosen[k]
            x[j] = min(max(x[j] + length * p[k], task.lower[j]), task.upper[j])
        if length > 0.0:
            move_residual(factor, first, count, length, where.residual)
        for k in range(first, count):
            s[k] *= 1.0 - length
        if blocking < 0:
            break
        count = _bind(task, where, factor, count, blocking)
        first = min(first, blocking)
    return count


@leaf
def _first_bound(task, where, factor, count, most):  # type: ignore[no-untyped-def]
    """How far x may go along p, at most `most`, and the place in F of what stops it; -1 if none does."""
    x, p, length, blocking = where.x, factor.step, most, -1
    for k in range(count):
        j = factor.chosen[k]
        if p[k] == 0.0:
            continue
        reach = ((task.lower[j] if p[k] < 0.0 else task.upper[j]) - x[j]) / p[k]
        if reach < length:
            length, blocking = max(reach, 0.0), k
    return length, blocking


@branch_sums
def _bind(task, where, factor, count, at):  # type: ignore[no-untyped-def]
    """The variable at place `at` of F goes to the bound that p leads to; the new size of F."""
    j = factor.chosen[at]
    where.x[j] = task.upper[j] if factor.step[at] > 0.0 else task.lower[j]
    where.state[j] = BARRED
    leave(factor, count, at)
    return count - 1


@branch_sums
def _exchange(task, where, factor, count, j):  # type: ignore[no-untyped-def]
    """Let j, whose column depends on F, take the place of the variable that meets a bound first.

    a_j = A_F z, R z = Qᵀa_j: the step d_j = 1, d_F = -z leaves A x as it is, and the costs decide. j is
    barred where they are none, or where nothing is in the way. Returns the size of F.
    """
    x, p = where.x, factor.step
    where.state[j] = BARRED
    if task.norms[j] == 0.0 or count == 0:
        return count
    for k in range(count):
        p[k] = factor.upper[count][k] if count < len(factor.upper) else 0.0
    if count == len(factor.upper):
        for k in range(count):
            p[k] = row_product(factor.q, k, task.columns[j])
    back_substitute(factor.upper, count, p)
    slope, size = -task.cost[j], abs(task.cost[j])
    for k in range(count):
        part = task.cost[factor.chosen[k]] * p[k]
        slope += part
        size += abs(part)
    if not abs(slope) > UNIT_ROUNDOFF * (count + 2) * size:
        return count
    way = 1.0 if slope > 0.0 else -1.0
    for k in range(count):
        p[k] *= -way
    far = ((task.upper[j] if way > 0.0 else task.lower[j]) - x[j]) * way
    length, blocking = _first_bound(task, where, factor, count, far)
    if not length < np.inf:
        return count
    for k in range(count):
        i = factor.chosen[k]
        x[i] = min(max(x[i] + length * p[k], task.lower[i]), task.upper[i])
    if blocking < 0:
        x[j] = task.upper[j] if way > 0.0 else task.lower[j]
        return count
    x[j] = min(max(x[j] + length * way, task.lower[j]), task.upper[j])
    count = _bind(task, where, factor, count, blocking)
    if enter(task, factor, count, j):
        where.state[j] = FREE
        count += 1
    count, _ = _refresh(task, where, factor, count, 0.0)
    return count


@branch_sums
def _value(task, where):  # type: ignore[no-untyped-def]
    """½ ||r||² + cᵀx."""
    aside = 0.0
    for j in range(len(where.x)):
        aside += task.cost[j] * where.x[j]
    return 0.5 * square(where.residual) + aside


@branch_sums
def _reach(task, x, state, kind):  # type: ignore[no-untyped-def]
    """sum |x_j| ||a_j|| over the variables that are FREE, or HELD."""
    total = 0.0
    for j in range(len(x)):
        if state[j] == kind:
            total += abs(x[j]) * task.norms[j]
    return total


@leaf
def _inward(task, x, j, slope):  # type: ignore[no-untyped-def]
    """How steeply a slope points into the box."""
    low, high = task.lower[j], task.upper[j]
    if low == high:
        return 0.0
    if x[j] <= low:
        return slope
    return -slope if x[j] >= high else abs(slope)


@branch
def _best_listed(task, where, length, noise, threshold):  # type: ignore[no-untyped-def]
    """The steepest of the shortlist, and how steep it is over ||a_j||; -1 if none points inwards."""
    best, top = -1, 0.0
    for e in range(length):
        j = where.listed[e]
        if where.state[j] == HELD:
            slope = row_product(task.columns, j, where.residual) - task.cost[j]
            slope = _inward(task, where.x, j, slope)
            if slope > max(noise * task.norms[j], threshold) and slope > top * task.scale[j]:
                best, top = j, slope / task.scale[j]
    return best, top


@branch
def _list(task, where, noise, threshold):  # type: ignore[no-untyped-def]
    """Fill the shortlist from all slopes, the steepest first: its length, and the best left out.

    Of neighbours in A, which are often alike, only the steepest. The slopes are overwritten by how
    steeply they point inwards over ||a_j||.
    """
    listed, scores, size, cut = where.listed, where.slopes, 0, 0.0
    for j in range(len(scores)):
        slope = _inward(task, where.x, j, scores[j] - task.cost[j])
        steep = where.state[j] == HELD and slope > max(noise * task.norms[j], threshold)
        scores[j] = slope / task.scale[j] if steep and task.norms[j] > 0.0 else 0.0
    for j in range(len(scores)):
        score = scores[j]
        if score <= 0.0 or (j > 0 and scores[j - 1] > score):
            continue
        if j + 1 < len(scores) and scores[j + 1] >= score:
            continue
        at = size
        if size == len(listed):
            at = size - 1
            last = scores[listed[at]]
            cut = max(cut, min(score, last))
            if score <= last:
                continue
        while at > 0 and scores[listed[at - 1]] < score:
            listed[at] = listed[at - 1]
            at -= 1
        listed[at] = j
        size = min(size + 1, len(listed))
    return size, cut


@branch
def _some_barred(task, where, noise, threshold):  # type: ignore[no-untyped-def]
    """Whether a slope points inwards that was not to be followed."""
    for j in range(len(where.x)):
        if where.state[j] == BARRED:
            slope = row_product(task.columns, j, where.residual) - task.cost[j]
            if _inward(task, where.x, j, slope) > max(noise * task.norms[j], threshold):
                return True
    return False
