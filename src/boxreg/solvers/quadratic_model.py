"""The weighted least-squares problem that stands for a general one near a point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..losses.least_squares import LeastSquares
from ..losses.weighted import Weighted
from ..point import Point
from ..reduced import ReducedProblem
from ..smoothness import Smoothness
from .working_set import WorkingSet

_FLAT = 1e-8
"""h counts as at least this share of its largest: without curvature steps would have no end."""

_ROUNDS = 50
_MIXTURES = (0.0, 1e-3, 1e-2, 0.1)


def floored(h: Array) -> Array:
    """h, and a little where there is none."""
    return np.maximum(h, _FLAT * float(np.max(h, initial=0.0)))


def quadratic(problem: ReducedProblem, centre: Array, h: Array) -> ReducedProblem:
    """minimise sum_i ½ h_i ([A x + z]_i - centre_i)² + cᵀx over the same box."""
    return replace(
        problem,
        loss=Weighted(LeastSquares(), h),
        target=centre,
        smoothness=Smoothness.made(h),
    )


def model_at(point: Point, h: Array) -> Point:
    """The point in the problem whose objective has the same gradient there, and second derivative
    AᵀHA: squares around p + rho / h."""
    model = Point(quadratic(point.problem, point.prediction + point.residual / h, h), point.x)
    model.prediction = point.prediction
    model.residual = point.residual
    if "correlation" in point.__dict__:
        model.correlation = point.correlation
    return model


def first_guess(point: Point) -> Point:
    """The solution of the model around the best prediction of every row, if rows have such.

    There p = argmin f, and h = f''(p). For Kullback–Leibler this is (q - y)² / (2 y): from a start far
    from y Newton's method would double the prediction a step, since f'' is proportional to 1/q². Where
    a row of the answer has no f', it is mixed with the point at hand. The point at hand is as good
    where rows have no best prediction, or where it was chosen by the caller and is better.
    """
    problem = point.problem
    ideal = problem.loss.minimisers(problem.target)
    if ideal is None:
        return point
    h = floored(problem.loss.curvatures(ideal, problem.target))
    x = np.where(point.inside & ~problem.free, np.clip(0.0, problem.lower, problem.upper), point.x)
    solver = WorkingSet()
    state = solver.start(Point(quadratic(problem, ideal, h), x))
    for _ in range(_ROUNDS):
        state = solver.step(state, 1)
        if state.finished or solver.settled(state):
            break
    best = point
    for share in _MIXTURES:
        mixed = Point(problem, (1.0 - share) * state.point.x + share * point.x)
        if mixed.objective < best.objective and np.all(np.isfinite(mixed.residual)):
            return mixed
    return best
