"""The weighted least-squares problem that stands for a general one near a point."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Index
from ..free_system import FreeSystem
from ..losses.least_squares import LeastSquares
from ..losses.weighted import Weighted
from ..point import Point
from ..reduced import ReducedProblem
from ..smoothness import Smoothness
from .growing_set import WorkingState
from .last_resort import solve_by_active_set
from .metric import tamed
from .working_set import WorkingSet

_ROUNDS, _FIRST_ROUNDS = 50, 2
"""Working sets that a guess goes through; the latter where the model will soon be another."""

_MIXTURES = (0.0, 1e-3, 1e-2, 0.1)


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
    if point.compared:
        model.correlation = point.correlation
    return model


class Guess(NamedTuple):
    """Where Newton's method begins, and what is known of the model that it was found with."""

    point: Point
    h: Array
    working: Index
    system: FreeSystem


def first_guess(point: Point, by_factors: bool) -> Guess:
    """The solution of a model over all coordinates.

    Where f' is Lipschitz, roughly of the model at the point, with secants: it is above the loss, so that
    its solution is an improvement. Otherwise of the model around the best prediction p = argmin f of
    every row, with h = f''(p), if rows have such: for Kullback–Leibler this is (q - y)² / (2 y), and
    from a start far from y Newton's method would double the prediction a step, since f'' is proportional
    to 1/q². Where a row of the answer has no f', it is mixed with the point; where it is no better than
    the point, that is where to start.
    """
    problem = point.problem
    ideal = None if problem.smoothness.known else problem.loss.minimisers(problem.target)
    if ideal is None:
        h = tamed(problem.loss.secants(point.prediction, problem.target))
        model = model_at(point, h)
    else:
        h = tamed(problem.loss.curvatures(ideal, problem.target))
        nearest = np.clip(0.0, problem.lower, problem.upper)
        x = np.where(point.inside & ~problem.free, nearest, point.x)
        model = Point(quadratic(problem, ideal, h), x)
    state = WorkingState(model)
    if by_factors:
        state.point = solve_by_active_set(model, np.flatnonzero(problem.open))
    else:
        state = _by_working_sets(model, _FIRST_ROUNDS if ideal is None else _ROUNDS)
    begin = point
    for share in _MIXTURES:
        x = (1.0 - share) * state.point.x + share * point.x
        mixed = Point(problem, np.clip(x, problem.lower, problem.upper))
        if mixed.objective < point.objective and mixed.regular:
            begin = mixed
            break
    known = np.flatnonzero(begin.inside[state.working])
    return Guess(begin, h, state.working[known], state.system.kept(known))


def _by_working_sets(model: Point, rounds: int) -> WorkingState:
    """The state of the default solver of least squares after so many working sets."""
    solver = WorkingSet(thorough=False)
    state = solver.start(model)
    for k in range(rounds):
        # Asked before a round: after the last one the answer would be a product with A for nothing.
        if k and (state.finished or solver.settled(state)):
            break
        state = solver.step(state, 1)
    return state
