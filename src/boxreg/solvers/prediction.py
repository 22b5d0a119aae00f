"""A cheap guess at which coordinates will be inside their bounds."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..point import Point
from ..rounding import dot
from ..settings import current
from .sweeping import swept_to_the_end

_STEPS = 20


def first_point(point: Point) -> Point:
    """Where working sets should start from: the point given, or one predicted from it."""
    problem = point.problem
    if worth_predicting(int(np.count_nonzero(point.inside)), len(point.x)):
        point = swept_to_the_end(point) if problem.design.has_sweeps else predicted(point)
    if np.count_nonzero(point.inside) <= current().largest_start:
        return point
    rising = (point.correlation > 0.0) & ~problem.no_upper
    x = np.where(rising | problem.no_lower, problem.upper, problem.lower)
    return Point(problem, np.where(point.inside & ~problem.free, x, point.x))


def worth_predicting(inside: int, n: int) -> bool:
    """Whether so many coordinates inside their bounds are too many for a Gram matrix of them all."""
    return inside**2 > current().predicting_from * n


def predicted(point: Point) -> Point:
    """The best of a few projected-gradient steps with Barzilai–Borwein lengths.

    x_j ← clip(x_j + (t / ||a_j||²) w_j, l_j, u_j), where t alternates between the two quotients
    that make t · diag(||a_j||²)⁻¹ act as the inverse of AᵀA along the last step d:

        t = ||d||²_D / ||A d||²   and   t = ||A d||² / ||AᵀA d||²_{1/D},   D = diag(||a_j||²),

    norms of columns and of A d taken with the weights of the rows.

    Ends when a step changes the side of few coordinates. Two products a step, where the Gram matrix
    of k columns costs as much as k²/n of them, and each coordinate found out later 2k/n.
    """
    problem = point.problem
    metric = problem.reach**2
    inverse = np.divide(1.0, metric, out=np.zeros_like(metric), where=metric > 0)
    best, length, sides = point, 1.0, _sides(point)
    for step in range(_STEPS):
        x = np.clip(point.x + length * inverse * point.correlation, problem.lower, problem.upper)
        moved = Point(problem, x)
        d = moved.x - point.x
        change = moved.prediction - point.prediction
        stretch = dot(change, problem.smoothness.times(change))
        if stretch == 0.0:
            break
        if step % 2 == 0:
            length = dot(metric * d, d) / stretch
        else:
            turn = point.correlation - moved.correlation
            length = stretch / dot(inverse * turn, turn)
        point, before, sides = moved, sides, _sides(moved)
        if moved.objective < best.objective:
            best = moved
        inside = np.count_nonzero(sides == 0)
        if np.count_nonzero(sides != before) * inside <= current().prediction_settled * len(x):
            break
    return best


def _sides(point: Point) -> Array:
    """-1 at the lower bound, 1 at the upper one, 0 between them."""
    problem = point.problem
    return 1.0 * (point.x >= problem.upper) - 1.0 * (point.x <= problem.lower)
