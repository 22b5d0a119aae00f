"""Sweeps of coordinate descent: to predict which coordinates end up inside, or to go all the way."""

from __future__ import annotations

from math import log

import numpy as np

from ..arrays import Array
from ..designs.epochs import SweepTerms
from ..point import Point
from ..reduced import ReducedProblem
from ..rounding import norm
from .without_gram import exact_cost, gradients_cost

_SWEEPS = 20
"""Sweeps at most, if they do not go all the way."""

_LEAST, _TRIED = 3, 0.1
"""Sweeps before it is judged how fast they are: so many, and this share of those still to come. The
first ones gain more than those after them."""

_SETTLED = 3.0
"""A prediction ends at a sweep that changes the side of c coordinates, with k inside, if c k is at most
this many n: their products with the others then cost less than another sweep."""

_PATIENCE, _SPARE = 1.5, 2
"""Sweeps allowed beyond those expected: a multiple, and a few."""

_BELOW = 0.25
"""Steps are small enough at this share of what rounding does to a slope."""


def swept(point: Point) -> tuple[Point, float | None]:
    """The point after some sweeps, and how many more would lead to the precision of the data.

    Every sweep minimises exactly over one coordinate after the other, and leaves out those that the one
    before found held at their bound by more than the largest step it made, over ||a_j||. It reads a
    column once for both of its products, where a step along the gradient reads it twice. Once the sides
    have settled, sweeps go on to the end where that costs least: where they are fast, or few
    coordinates are inside. The number to come follows from the ratio of the last two; None if it is
    not known.
    """
    problem = point.problem
    terms, columns = _terms(problem), np.arange(len(point.x))
    x, residual = point.x.copy(), problem.target - point.prediction
    order = np.flatnonzero(problem.open & (problem.reach > 0.0))
    margin, total, goal = np.inf, np.inf, 0.0
    to_come: float | None = None
    made, limit = 0, _SWEEPS
    while made < limit:
        problem.work.add(2 * len(order))
        done = problem.design.sweep(columns, terms, x, residual, order, margin)
        made += 1
        order, margin, before, total = done.order, done.largest, total, done.total
        if margin <= goal:
            break
        if to_come is not None or made < _LEAST:
            continue
        inside = int(np.count_nonzero((problem.lower < x) & (x < problem.upper)))
        if done.changed * inside > _SETTLED * len(x):
            continue
        goal = _BELOW * problem.correlation_error(norm(problem.smoothness.times(residual)))
        if not 0.0 < goal < total < before:
            break
        to_come = log(total / goal) / log(before / total)
        if made < min(_TRIED * to_come, _SWEEPS - 1):
            to_come = None
        elif _all_the_way(problem, inside, to_come):
            limit = made + int(_PATIENCE * to_come) + _SPARE
        else:
            break
    return Point(problem, x), to_come


def _all_the_way(problem: ReducedProblem, inside: int, sweeps: float) -> bool:
    """Whether so many more sweeps cost less than what else there is, from a fresh residual."""
    other = min(gradients_cost(inside, sweeps), exact_cost(problem, inside))
    return 2.0 * sweeps * inside <= other + 2.0 * problem.design.product_cost


def _terms(problem: ReducedProblem) -> SweepTerms:
    """The problem as sweeps take it."""
    cost = np.zeros(len(problem.lower)) if problem.cost is None else problem.cost.c
    smoothness = problem.smoothness
    weights: Array | None = smoothness.rows
    if weights is None and smoothness.largest != 1.0:
        weights = np.full(len(problem.target), smoothness.largest)
    return SweepTerms(problem.lower, problem.upper, problem.reach**2, cost, weights)
