"""Cyclic coordinate descent (Franc, Hlaváč and Navara, for non-negative least squares)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Index
from ..point import Point
from .base import PrimalSolver, SolverState


@dataclass(kw_only=True)
class CoordinateState(SolverState):
    """Adds the residual that the epochs keep up to date."""

    residual: Array


class CoordinateDescent(PrimalSolver[CoordinateState]):
    """x_j ← clip(x_j + a_jᵀr / ||a_j||², l_j, u_j), r ← r - (change) a_j, for j = 1 … n in turn.

    One step is one epoch over the open coordinates. The running residual is replaced by the fresh
    one of the point whenever a check has computed it, so its rounding errors never pile up.
    """

    name = "coordinate_descent"
    needs_columns = True
    needs_column_major = True
    losses = ("least_squares",)
    can_move = True
    check_period = 5

    def start(self, point: Point) -> CoordinateState:
        """Residual at the starting point."""
        return CoordinateState(point, residual=point.residual)

    def step(self, state: CoordinateState, count: int) -> CoordinateState:
        """`count` epochs."""
        problem = state.point.problem
        x = state.point.x.copy()
        fresh = state.point.residual if state.point.evaluated else state.residual
        residual = fresh.copy()
        order = np.flatnonzero(problem.open)
        updates = problem.design.least_squares_epochs(
            x, residual, problem.lower, problem.upper, problem.norms**2, order, count
        )
        problem.work.add(count * len(order) + updates)
        still = updates == 0
        return CoordinateState(Point(problem, x), finished=still, residual=residual)

    def restrict(self, state: CoordinateState, point: Point, kept: Index) -> CoordinateState:
        """Start again from the fresh residual of the projected point."""
        return CoordinateState(point, residual=point.residual)
