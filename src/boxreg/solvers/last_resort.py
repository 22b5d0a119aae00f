"""What to do where gradients say nothing any more."""

from __future__ import annotations

import numpy as np

from ..arrays import Index, Mask
from ..dense_fit import fit
from ..hidden_gradients import hidden_gain
from ..point import Point
from ..rounding import dot
from ..settings import current
from .interior_point import InteriorPoint

_NEGLIGIBLE = 1e-16
"""An objective below this share of ½||y||² has nothing left to lose."""

_BLUR = 1e-12
"""Slopes along x that may be off by more than this share of ½||y||² are those of a huge x."""

_PART = 0.25
"""Rounding errors are rarely this share of their bound."""

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
    operations = len(problem.target) * float(np.count_nonzero(problem.open)) ** 3
    if problem.cost is not None or operations > current().refit_operations:
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
    """The best that the active set on orthogonal factors finds, from the bounds and from the point.

    The objective decides, with its rounding error: where x is huge a low one means little. Uses all
    coordinates where that is affordable, otherwise those inside their bounds and the suspects.
    """
    problem, rows = point.problem, len(point.problem.target)
    used = np.flatnonzero(problem.open)
    if rows * float(len(used)) ** 2 > current().factor_operations:
        used = np.flatnonzero(point.inside | suspects(point))
    if not len(used) or rows * float(len(used)) ** 2 > current().factor_operations:
        return point
    bottom = point.x.copy()
    finite = np.where(problem.no_lower, problem.upper, problem.lower)
    bottom[used] = np.where(problem.free, 0.0, finite)[used]
    found = (solve_by_active_set(start, used) for start in (Point(problem, bottom), point))
    return min(point, *found, key=_at_most)


def _at_most(point: Point) -> float:
    """What the objective may well be, with a part of the most that rounding can do to A x.

    Where x is huge, that decides.
    """
    problem = point.problem
    aside = problem.linear(point.x)
    size = np.sqrt(2.0 * max(point.objective - aside, 0.0))
    off = _PART * float(np.sqrt(problem.smoothness.largest)) * point.prediction_error
    return float(0.5 * (size + off) ** 2) + aside


def by_orthogonal_factors(point: Point) -> Point | None:
    """The solution with orthogonal factors, from the point on, where a Gram matrix has failed.

    None where the factors of the columns inside alone should cost more than the interior-point method.
    """
    problem = point.problem
    limit = InteriorPoint().likely_cost(problem)
    if 2.0 * float(np.count_nonzero(point.inside)) ** 2 > limit:
        return None
    return solve_by_active_set(point, np.flatnonzero(problem.open), limit)


def solve_by_active_set(point: Point, used: Index, products: float | None = None) -> Point:
    """The solution over the coordinates `used`, all others held still, with orthogonal factors.

    Where its budget does not last, a point on the way there: the objective falls at every step.
    """
    problem, used = point.problem, np.sort(used)
    columns = problem.smoothness.root_times(problem.design.columns(used).T)
    b = problem.smoothness.over_root(point.residual) + point.x[used] @ columns
    if products is None:
        products = problem.budget(_SHARE).left * len(problem.lower)
    rate = current().multiplications / max(len(problem.target), 1)
    products = min(products, problem.work.deadline.left * rate)
    found = fit(
        np.ascontiguousarray(columns),
        b,
        problem.lower[used],
        problem.upper[used],
        x=point.x[used],
        cost=None if problem.cost is None else problem.cost.c[used],
        products=products,
    )
    problem.work.add(found.products)
    x = point.x.copy()
    x[used] = found.x
    return Point(problem, x)
