"""What to do where gradients say nothing any more."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import Index, Mask
from ..budget import Budget
from ..hidden_gradients import hidden_gain
from ..point import Point
from ..rounding import dot
from ..settings import current
from .active_set import ActiveSet
from .part import whole, within
from .refitting import affordable, refitted

_NEGLIGIBLE = 1e-16
"""An objective below this share of ½||y||² has nothing left to lose."""

_BLUR = 1e-12
"""Slopes along x that may be off by more than this share of ½||y||² are those of a huge x."""

_PART = 0.25
"""Rounding errors are rarely this share of their bound."""

_PATIENCE = 10
_ATTEMPTS = 5

_SHARE = 4.0
"""Work that orthogonal factors may take, in units of the run so far."""


def suspects(point: Point) -> Mask:
    """Coordinates at a bound whose gradient points inwards, but by no more than its rounding error.

    As a rule there are none. With nearly dependent columns such a gradient may be real: a step of
    10¹² along it can lower the objective by much.
    """
    problem = point.problem
    if point.objective <= _NEGLIGIBLE * 0.5 * dot(problem.target, problem.target):
        return np.zeros(len(point.x), dtype=bool)
    return problem.open & (point.inward > 0.0) & ~point.inside


def blurred(point: Point) -> bool:
    """Whether rounding may hide a much lower objective: x is huge, or a gradient of large effect is 0.

    So far as a few columns are concerned, which can be fitted anew in no time.
    """
    problem = point.problem
    if not affordable(problem, int(np.count_nonzero(problem.open))):
        return False
    scale = 0.5 * dot(problem.target, problem.target)
    if dot(point.gradient_noise[point.inside], np.abs(point.x[point.inside])) > _BLUR * scale:
        return True
    little = _NEGLIGIBLE * scale
    return point.objective > little and _unseen(point) > little


def _unseen(point: Point) -> float:
    """The most that a coordinate may gain which is at a bound, with a gradient that rounding hides."""
    problem, noise = point.problem, point.gradient_noise
    hidden = np.flatnonzero(problem.open & ~point.inside & (np.abs(point.correlation) <= noise))
    if not len(hidden):
        return 0.0
    free, rest = (
        problem.smoothness.root_times(problem.design.columns(index).T).T
        for index in (np.flatnonzero(point.inside), hidden)
    )
    return hidden_gain(free, rest, 2.0 * noise[hidden])


def last_resort(point: Point) -> Point:
    """The best that an active set with orthogonal factors and no allowance for rounding finds.

    It starts at the lower bounds, then at the best point so far; the objective alone decides, with its
    rounding error: where x is huge a low one means little. Uses all coordinates where that is
    affordable, otherwise those inside their bounds and the suspects. A few columns are tried with
    residuals that do not depend on x, too (`refitting`). Ends with the best so far when its budget is
    spent.
    """
    budget = point.problem.budget(_SHARE)
    problem, rows = point.problem, len(point.problem.target)
    used = np.flatnonzero(problem.open)
    if rows * float(len(used)) ** 2 > current().factor_operations:
        used = np.flatnonzero(point.inside | suspects(point))
    if not len(used) or rows * float(len(used)) ** 2 > current().factor_operations:
        return point
    bottom = point.x.copy()
    finite = np.where(problem.no_lower, problem.upper, problem.lower)
    bottom[used] = np.where(problem.free, 0.0, finite)[used]
    best = min(_bold_steps(Point(problem, bottom), used, budget), key=_at_most)
    best = min(best, point, key=_at_most)
    for _ in range(_ATTEMPTS):
        if budget.exhausted:
            return best
        found = min(_bold_steps(best, used, budget), key=_at_most)
        if not _at_most(found) < best.objective:
            break
        best = found
    for found in refitted(best, used, budget):
        if _at_most(found) < best.objective:
            best = found
    return best


def _at_most(point: Point) -> float:
    """What the objective may well be, with a part of the most that rounding can do to A x.

    Where x is huge, that decides.
    """
    problem = point.problem
    aside = problem.linear(point.x)
    size = np.sqrt(2.0 * max(point.objective - aside, 0.0))
    off = _PART * float(np.sqrt(problem.smoothness.largest)) * point.prediction_error
    return float(0.5 * (size + off) ** 2) + aside


def _bold_steps(start: Point, used: Index, budget: Budget) -> Iterator[Point]:
    """The points that a bold active set passes, as long as they go on getting better."""
    least, waited = np.inf, 0
    for found in _steps(ActiveSet(bold=True, partial=False), start, used, budget):
        yield found
        waited = 0 if found.objective < least else waited + 1
        least = min(least, found.objective)
        if waited > _PATIENCE:
            break


def solve_by_active_set(point: Point, used: Index) -> Point:
    """The solution over the coordinates `used`, all others held still, with orthogonal factors.

    Where its budget does not last, a point on the way there: the objective falls at every step.
    """
    budget = point.problem.budget(_SHARE)
    for found in _steps(ActiveSet(partial=False), point, np.sort(used), budget):
        point = found
    return point


def _steps(solver: ActiveSet, start: Point, used: Index, budget: Budget) -> Iterator[Point]:
    """Where the active set starts over the coordinates `used`, and where each of its steps ends."""
    state = solver.start(within(start, used))
    yield whole(start, used, state.point)
    for _ in range(3 * len(used) + 10):
        if state.finished or budget.exhausted:
            break
        state = solver.step(state, 1)
        yield whole(start, used, state.point)
