"""The coordinates worth looking at between two products with all of A."""

from __future__ import annotations

import numpy as np

from ..arrays import Index
from ..point import Point
from ..reduced import ReducedProblem
from ..settings import current


def shortlist(point: Point, working: Index) -> Index | None:
    """The working set and those that most want to leave their bound, or least want to stay, sorted.

    None where the list would be long, or where reading its columns costs as much as reading A.
    """
    least = _roots(point.problem, current().shortlist_length)
    length = max(least, current().shortlist_per_working * len(working))
    return _front(point, length, working) if _pays(point.problem, length) else None


def candidates(point: Point, free: Index) -> Index | None:
    """The same without those that are free already, for one after the other to become so."""
    if not pays(point.problem):
        return None
    length = _roots(point.problem, current().candidates_length) + len(free)
    return np.setdiff1d(_front(point, length, free), free)


def pays(problem: ReducedProblem) -> bool:
    """Whether such a list is worth making."""
    return _pays(problem, _roots(problem, current().candidates_length))


def _pays(problem: ReducedProblem, length: int) -> bool:
    return length <= current().shortlist_share * len(problem.lower) and problem.design.columns_apart


def _roots(problem: ReducedProblem, times: float) -> int:
    return int(times * len(problem.lower) ** 0.5 + 0.5)


def _front(point: Point, length: int, first: Index) -> Index:
    """The coordinates `first`, and as many more as have the largest slopes inwards over ||a_j||.

    As x moves all slopes change, but the order of most of them little: nearly all that will leave their
    bound soon are near the front by now.
    """
    problem = point.problem
    wish = np.where(point.x <= problem.lower, point.correlation, -point.correlation)
    wish /= np.maximum(problem.norms, np.finfo(float).tiny)
    wish[~problem.open] = -np.inf
    wish[point.inside] = np.inf
    wish[first] = np.inf
    length = min(length, len(wish) - 1)
    listed = np.argpartition(-wish, length)[:length]
    return np.sort(listed[problem.open[listed]])


def telling(part: Point, wanted: int) -> bool:
    """Whether a shortlist seems to hold what matters, at a point of the problem on it.

    Not where most of those listed want to leave their bound, as many others then do with more right;
    nor where a large share is inside already: the solution has more inside than the list has room for.
    """
    listed, inside = len(part.x), int(np.count_nonzero(part.inside))
    most = current()
    return wanted <= most.shortlist_wanted * listed and inside <= most.shortlist_inside * listed
