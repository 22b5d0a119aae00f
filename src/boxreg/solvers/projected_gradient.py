"""Projected gradient (Goldstein; Levitin and Polyak)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Index
from ..point import Point
from ..spectral import SquaredNorm
from .base import PrimalSolver, SolverState


@dataclass(kw_only=True)
class GradientState(SolverState):
    """Adds the bound L on the squared norm of A with unit columns."""

    squared_norm: SquaredNorm


class ProjectedGradient(PrimalSolver[GradientState]):
    """x_j ← clip(x_j + (c α / (L ||a_j||²)) a_jᵀρ, l_j, u_j) with a constant c in (0, 2).

    A diagonal metric keeps the projection on a box a clip; with the metric diag(||a_j||²) the method
    is plain projected gradient on A with unit columns, and does not care how columns are scaled.
    L bounds the squared norm of that matrix. The objective falls at every step as long as
    ||A d||² <= L sum_j ||a_j||² d_j² for the steps d taken, which is observed, not assumed.
    L is estimated anew when columns leave: a smaller matrix allows longer steps.
    """

    name = "projected_gradient"
    can_move = True
    check_period = 5

    def __init__(self, relaxation: float = 1.9) -> None:
        self.relaxation = relaxation

    def start(self, point: Point) -> GradientState:
        """Estimate L."""
        return GradientState(point, squared_norm=SquaredNorm.estimate(point.problem))

    def step(self, state: GradientState, count: int) -> GradientState:
        """`count` projected gradient steps."""
        point, squared_norm = state.point, state.squared_norm
        problem = point.problem
        metric = problem.norms**2
        inverse = np.divide(1.0, metric, out=np.zeros_like(metric), where=metric > 0)
        for _ in range(count):
            length = self.relaxation * problem.loss.alpha / squared_norm.value
            x = point.x + (length * inverse) * point.correlation
            np.maximum(x, problem.lower, out=x)
            np.minimum(x, problem.upper, out=x)
            following = Point(problem, x)
            squared_norm = squared_norm.observe(point, following, metric)
            point = following
        still = np.array_equal(point.x, state.point.x)
        return GradientState(point, finished=still, squared_norm=squared_norm)

    def restrict(self, state: GradientState, point: Point, kept: Index) -> GradientState:
        """Carry L over, sharpened if columns left."""
        return GradientState(point, squared_norm=state.squared_norm.restrict(point.problem, kept))
