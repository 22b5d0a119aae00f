"""Cyclic coordinate descent (Franc, Hlaváč and Navara, for non-negative least squares)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays import Array, Index
from ..designs.epochs import SmoothTerms
from ..extrapolation import DEPTH, extrapolate
from ..point import Point
from ..reduced import ReducedProblem
from .base import PrimalSolver, SolverState


@dataclass(kw_only=True)
class CoordinateState(SolverState):
    """Adds the residual that the epochs keep up to date, and the last few x.

    For losses other than least squares the prediction is kept up to date with it.
    """

    residual: Array
    trail: tuple[Array, ...] = ()


class CoordinateDescent(PrimalSolver[CoordinateState]):
    """x_j ← clip(x_j + w_j / r_j², l_j, u_j) for j = 1 … n in turn, w_j = a_jᵀρ - c_j kept up to date.

    r_j² = sum_i L_i a_ij², L_i the Lipschitz constants of f'; for least squares that is ||a_j||², the
    step is exact, and only ρ ← ρ - (change) a_j is needed of the loss. One step is one epoch over the
    open coordinates. The running residual is replaced by the fresh one of the point whenever a check
    has computed it, so its rounding errors never pile up.

    With acceleration="anderson" the last six x are extrapolated after every fifth epoch (Bertrand and
    Massias, 2021) and the result, clipped to the box, replaces x if it lowers the objective. That
    takes one product with its support. acceleration=None is the plain method.
    """

    name = "coordinate_descent"
    needs_columns = True
    needs_epochs = True
    needs_scalar_derivative = True
    can_move = True

    def __init__(self, acceleration: Literal["anderson"] | None = "anderson") -> None:
        if acceleration not in ("anderson", None):
            raise ValueError(f"acceleration: expected 'anderson' or None, got {acceleration!r}")
        self.acceleration = acceleration

    @classmethod
    def plain(cls) -> CoordinateDescent:
        """Epochs only."""
        return cls(acceleration=None)

    def wants_column_major(self, problem: ReducedProblem) -> bool:
        """Always: every epoch reads every column."""
        return True

    def start(self, point: Point) -> CoordinateState:
        """Residual at the starting point."""
        return CoordinateState(point, residual=point.residual)

    def step(self, state: CoordinateState, count: int) -> CoordinateState:
        """`count` epochs."""
        problem = state.point.problem
        x = state.point.x.copy()
        fresh = state.point.residual if state.point.evaluated else state.residual
        residual = fresh.copy()
        prediction = None if _plain(problem) else state.point.prediction.copy()
        if self.acceleration is None:
            updates = _epochs(problem, x, residual, prediction, count)
            return CoordinateState(Point(problem, x), finished=updates == 0, residual=residual)
        trail = list(state.trail) or [x.copy()]
        updates = 0
        for _ in range(count):
            updates = _epochs(problem, x, residual, prediction, 1)
            if updates == 0:
                break
            trail.append(x.copy())
            if len(trail) > DEPTH:
                x, residual, prediction = _extrapolated(problem, trail, residual, prediction)
                trail = [x.copy()]
        return CoordinateState(
            Point(problem, x), finished=updates == 0, residual=residual, trail=tuple(trail)
        )

    def restrict(self, state: CoordinateState, point: Point, kept: Index) -> CoordinateState:
        """Start again from the fresh residual of the projected point; the trail ends there."""
        trail = state.trail
        if not trail or not np.array_equal(trail[-1][kept], point.x):
            trail = ()
        kept_trail = tuple(x[kept] for x in trail)
        return CoordinateState(point, residual=point.residual, trail=kept_trail)


def _plain(problem: ReducedProblem) -> bool:
    """Whether this is least squares and nothing else: one array to keep up to date, and exact steps."""
    uniform = problem.smoothness.rows is None and problem.smoothness.largest == 1.0
    return problem.loss.quadratic and uniform and problem.cost is None


def _epochs(
    problem: ReducedProblem, x: Array, residual: Array, prediction: Array | None, count: int
) -> int:
    """Epochs over the open coordinates, in place; returns the updates made."""
    order = np.flatnonzero(problem.open)
    if prediction is None:
        updates = problem.design.least_squares_epochs(
            x, residual, problem.lower, problem.upper, problem.norms**2, order, count
        )
    else:
        updates = _smooth_epochs(problem, x, prediction, residual, order, count)
    problem.work.add(count * len(order) + updates)
    return updates


def _smooth_epochs(
    problem: ReducedProblem, x: Array, prediction: Array, residual: Array, order: Index, count: int
) -> int:
    """Epochs for a loss with weights, costs, or a derivative that is not affine."""
    derivative = problem.loss.scalar_derivative()
    assert derivative is not None
    weights, split = problem.loss.row_weights(len(residual))
    costs = np.zeros(len(x)) if problem.cost is None else problem.cost.c
    terms = SmoothTerms(
        derivative,
        *(problem.target, weights, split),
        *(problem.lower, problem.upper, costs),
        problem.reach**2,
        order,
    )
    return problem.design.smooth_epochs(terms, x, prediction, residual, count)


def _extrapolated(
    problem: ReducedProblem, trail: list[Array], residual: Array, prediction: Array | None
) -> tuple[Array, Array, Array | None]:
    """The extrapolated point if its objective is lower, the last point otherwise, with what is kept."""
    x = extrapolate(trail)
    if x is not None:
        ahead = Point(problem, np.clip(x, problem.lower, problem.upper))
        known = problem.target - residual if prediction is None else prediction
        here = problem.loss.objective(known, problem.target) + problem.linear(trail[-1])
        if ahead.objective < here:
            kept = None if prediction is None else ahead.prediction.copy()
            return ahead.x.copy(), ahead.residual.copy(), kept
    return trail[-1].copy(), residual, prediction
