"""Sweeps of coordinate descent: to predict which coordinates end up inside, or to go all the way."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from ..arrays import Array
from ..designs.epochs import SweepTerms
from ..point import Point
from ..reduced import ReducedProblem
from ..rounding import norm
from .without_gram import exact_cost

_SWEEPS = 20
"""Sweeps at most, if they do not go all the way."""

_LEAST, _TRIED = 3, 0.1
"""Sweeps before it is judged how fast they are: so many, and this share of those still to come. The
first ones gain more than those after them."""

_SETTLED = 3.0
"""A prediction ends at a sweep that changes the side of c coordinates, with k inside, if c k is at most
this many n: their products with the others then cost less than another sweep."""

_AHEAD = 2.0
"""The first sweep leaves out what is held at a bound by this many times the largest step from there."""

_HELD = 0.5
"""The others leave out what is held by this many times the largest step of the one before."""

_RELAXED, _POWER = 1.5, 0.77
"""Over-relaxed sweeps to the same end as n plain ones, 1.5 n^0.77: measured on Gaussian A, where 10, 25,
64 become 9, 18, 37; theory has √n for n large."""

_PATIENCE, _SPARE = 1.5, 2
"""Over-relaxed sweeps allowed beyond those expected: a multiple, and a few."""

_HALFWAY = 0.2
"""What they must have gained at half of those expected, in digits over the digits asked for."""

_BELOW = 0.25
"""Steps are small enough at this share of what rounding does to a slope."""


def swept(point: Point) -> Point:
    """The point after some sweeps; the solution to the precision of the data, where that is cheap.

    Every sweep minimises exactly over one coordinate after the other, and leaves out those that the one
    before found held back at their bound by more than the largest step it made, over ||a_j||. It reads a
    column once for both of its products, where a step along the gradient reads it twice.

    Once the sides have settled, the ratio q of the last two sweeps tells how many are still to come.
    Steps are then made longer by 2 / (1 + √(1 - q)), the factor that is best where Young's theory holds,
    with which fewer do (Young, 1954). They go on to the end if that costs less than the Gram matrix of
    what is inside.
    """
    problem = point.problem
    terms, columns = _terms(problem), np.arange(len(point.x))
    x, residual = point.x.copy(), problem.target - point.prediction
    order = np.flatnonzero(problem.open & (problem.reach > 0.0))
    margin, total = _first_margin(point, terms), np.inf
    goal, halfway = 0.0, (np.inf, 0.0)
    made, limit = 0, _SWEEPS
    while made < limit:
        problem.work.add(2 * len(order))
        done = problem.design.sweep(columns, terms, x, residual, order, margin)
        made += 1
        order, margin, before, total = done.order, _HELD * done.largest, total, done.total
        if done.largest <= goal or (made >= halfway[0] and total > halfway[1]):
            break
        inside = int(np.count_nonzero((problem.lower < x) & (x < problem.upper)))
        if goal or made < _LEAST or done.changed * inside > _SETTLED * len(x):
            continue
        noise = _BELOW * problem.correlation_error(norm(problem.smoothness.times(residual)))
        if not 0.0 < noise < total < before:
            break
        to_come = log(total / noise) / log(before / total)
        relaxed = min(to_come, _RELAXED * to_come**_POWER)
        other = exact_cost(problem, inside) + 2.0 * problem.design.product_cost
        if 2.0 * relaxed * inside > other:
            break
        if made < min(_TRIED * to_come, _SWEEPS - 1):
            continue
        terms = terms._replace(squares=terms.squares * (0.5 + 0.5 * sqrt(1.0 - total / before)))
        goal, limit = noise, made + int(_PATIENCE * relaxed) + _SPARE
        halfway = made + 0.5 * relaxed, total * (noise / total) ** _HALFWAY
    return Point(problem, x)


def _first_margin(point: Point, terms: SweepTerms) -> float:
    """A guess at how far slopes move while the first sweep is made."""
    if not point.compared:
        return float(np.inf)
    squares = np.where(terms.squares > 0.0, terms.squares, np.inf)
    ahead = np.clip(point.x + point.correlation / squares, terms.lower, terms.upper)
    return _AHEAD * float(np.max(np.abs(ahead - point.x) * np.sqrt(terms.squares), initial=0.0))


def _terms(problem: ReducedProblem) -> SweepTerms:
    """The problem as sweeps take it."""
    cost = np.zeros(len(problem.lower)) if problem.cost is None else problem.cost.c
    smoothness = problem.smoothness
    weights: Array | None = smoothness.rows
    if weights is None and smoothness.largest != 1.0:
        weights = np.full(len(problem.target), smoothness.largest)
    return SweepTerms(problem.lower, problem.upper, problem.reach**2, cost, weights)
