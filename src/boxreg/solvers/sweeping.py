"""Sweeps of coordinate descent: to predict which coordinates end up inside, or to go all the way."""

from __future__ import annotations

from math import sqrt

from ..point import Point
from ..settings import current
from .sweeps import SmoothSweeps, Sweeps
from .without_gram import exact_cost

_RELAXED, _POWER = 1.5, 0.77
"""Over-relaxed sweeps to the same end as n plain ones, 1.5 n^0.77: measured on Gaussian A, where 10, 25,
64 become 9, 18, 37; theory has √n for n large."""

_PATIENCE, _SPARE = 1.5, 2
"""Over-relaxed sweeps allowed beyond those expected: a multiple, and a few."""

_HALFWAY = 0.2
"""What they must have gained at half of those expected, in digits over the digits asked for."""

_MODELS = 3.0
"""Gram matrices that Newton's method takes from where sweeps end."""


def swept_to_the_end(point: Point) -> Point:
    """The point after sweeps; where they went all the way but for coordinates they had left out and
    that want to move, after some more over these and what is near."""
    point, finished = swept(point)
    for _ in range(current().sweeps_again):
        if not finished or not point.wanting(0.0).any():
            break
        point, finished = swept(point, again=True)
    return point


def swept(point: Point, again: bool = False) -> tuple[Point, bool]:
    """The point after some sweeps, and whether they went all the way, to the precision of the data.

    Every sweep minimises exactly over one coordinate after the other, and leaves out those that the one
    before found held back at their bound by more than half the largest step it made, over ||a_j||. It
    reads a column once for both of its products, where a step along the gradient reads it twice. Once
    the sides have settled, the ratio of the last two sweeps tells how many are still to come, and so
    whether over-relaxed ones to the end cost less than the Gram matrix of what is inside; or than a few
    of them, where the loss is not quadratic: each sweep then has a model of its own. Those that are made
    `again` leave out from the start what the slopes at the point hold back.
    """
    quadratic = point.problem.loss.quadratic
    sweeps = Sweeps(point, again) if quadratic else SmoothSweeps(point, again)
    finished, settings, work = False, current(), point.problem.work
    while sweeps.made < settings.sweeps_at_most and not (finished or sweeps.astray or work.over):
        sweeps.sweep()
        finished = not sweeps.astray and sweeps.largest <= sweeps.noise
        unsettled = sweeps.changed * sweeps.inside > settings.prediction_settled * len(point.x)
        if sweeps.made < settings.sweeps_at_least or unsettled:
            continue
        plain = sweeps.to_come()
        if plain is None:
            break
        relaxed = min(plain, _RELAXED * plain**_POWER)
        other = exact_cost(point.problem, sweeps.inside) * (1.0 if quadratic else _MODELS)
        other += 2.0 * point.problem.design.product_cost
        if 2.0 * relaxed * sweeps.inside > other:
            break
        steady = sweeps.changed <= settings.sweeps_steady * sweeps.inside
        tried = min(settings.sweeps_tried * plain, settings.sweeps_at_most - 1)
        if steady and sweeps.made >= tried:
            finished = _all_the_way(sweeps, relaxed)
            break
    return sweeps.end(), finished


def _all_the_way(sweeps: Sweeps, expected: float) -> bool:
    """Steps longer by 2 / (1 + √(1 - q)), q the ratio of the last two sweeps, until they are noise.

    That is the best factor where Young's theory holds (1954). Given up where at half of the sweeps
    expected little is gained. Whether they are noise in the end.
    """
    goal, ratio = sweeps.noise, sweeps.total / sweeps.before
    enough = sweeps.total * (goal / sweeps.total) ** _HALFWAY
    squares = sweeps.terms.squares * (0.5 + 0.5 * sqrt(1.0 - ratio))
    sweeps.terms = sweeps.terms._replace(squares=squares, fresh=False)
    sweeps.aim()
    for k in range(int(_PATIENCE * expected) + _SPARE):
        sweeps.sweep()
        if sweeps.largest <= goal:
            return True
        if sweeps.astray or sweeps.problem.work.over:
            break
        if k + 1 >= 0.5 * expected and sweeps.total > enough:
            break
    return False
