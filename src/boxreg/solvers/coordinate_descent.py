"""Cyclic coordinate descent (Franc, Hlaváč and Navara, for non-negative least squares)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays import Array, Index
from ..extrapolation import DEPTH, extrapolate
from ..point import Point
from ..reduced import ReducedProblem
from .base import PrimalSolver, SolverState


@dataclass(kw_only=True)
class CoordinateState(SolverState):
    """Adds the residual that the epochs keep up to date, and the last few x."""

    residual: Array
    trail: tuple[Array, ...] = ()


class CoordinateDescent(PrimalSolver[CoordinateState]):
    """x_j ← clip(x_j + a_jᵀr / ||a_j||², l_j, u_j), r ← r - (change) a_j, for j = 1 … n in turn.

    One step is one epoch over the open coordinates. The running residual is replaced by the fresh
    one of the point whenever a check has computed it, so its rounding errors never pile up.

    With acceleration="anderson" the last six x are extrapolated after every fifth epoch (Bertrand and
    Massias, 2021) and the result, clipped to the box, replaces x if it lowers the objective. That
    takes one product with its support. acceleration=None is the plain method.
    """

    name = "coordinate_descent"
    needs_columns = True
    needs_column_major = True
    losses = ("least_squares",)
    can_move = True
    check_period = 5

    def __init__(self, acceleration: Literal["anderson"] | None = "anderson") -> None:
        if acceleration not in ("anderson", None):
            raise ValueError(f"acceleration: expected 'anderson' or None, got {acceleration!r}")
        self.acceleration = acceleration

    @classmethod
    def plain(cls) -> CoordinateDescent:
        """Epochs only."""
        return cls(acceleration=None)

    def start(self, point: Point) -> CoordinateState:
        """Residual at the starting point."""
        return CoordinateState(point, residual=point.residual)

    def step(self, state: CoordinateState, count: int) -> CoordinateState:
        """`count` epochs."""
        problem = state.point.problem
        x = state.point.x.copy()
        fresh = state.point.residual if state.point.evaluated else state.residual
        residual = fresh.copy()
        if self.acceleration is None:
            updates = _epochs(problem, x, residual, count)
            return CoordinateState(Point(problem, x), finished=updates == 0, residual=residual)
        trail = list(state.trail) or [x.copy()]
        updates = 0
        for _ in range(count):
            updates = _epochs(problem, x, residual, 1)
            if updates == 0:
                break
            trail.append(x.copy())
            if len(trail) > DEPTH:
                x, residual = _extrapolated(problem, trail, residual)
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


def _epochs(problem: ReducedProblem, x: Array, residual: Array, count: int) -> int:
    """Epochs over the open coordinates, in place; returns the updates made."""
    order = np.flatnonzero(problem.open)
    updates = problem.design.least_squares_epochs(
        x, residual, problem.lower, problem.upper, problem.norms**2, order, count
    )
    problem.work.add(count * len(order) + updates)
    return updates


def _extrapolated(
    problem: ReducedProblem, trail: list[Array], residual: Array
) -> tuple[Array, Array]:
    """The extrapolated point and its residual if its objective is lower; the last point otherwise."""
    x = extrapolate(trail)
    if x is not None:
        ahead = Point(problem, np.clip(x, problem.lower, problem.upper))
        if ahead.objective < problem.loss.objective(problem.target - residual, problem.target):
            return ahead.x.copy(), ahead.residual.copy()
    return trail[-1].copy(), residual
