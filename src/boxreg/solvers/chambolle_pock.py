"""The primal-dual method of Chambolle and Pock."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Index
from ..duality import DualPoint
from ..point import Point
from ..rounding import norm
from ..smoothness import Smoothness
from ..spectral import SquaredNorm
from .base import PrimalSolver, SolverState

_FLAT = 1e-12
"""The least mean curvature: a start where the loss is flat says nothing about its scale."""


@dataclass(kw_only=True)
class PrimalDualState(SolverState):
    """Adds the method's own dual variable v, Aᵀv + c where that is known, the norm bound L and σ."""

    v: Array
    squared_norm: SquaredNorm
    sigma: float
    gradient: Array | None = None


class ChambollePock(PrimalSolver[PrimalDualState]):
    """x⁺ = clip(x - τ diag(||a_j||²)⁻¹ (Aᵀv + c), l, u);  v⁺ = prox_{σF*}(v + σ (2 A x⁺ - A x)).

    Converges for σ τ L < 1, L a bound on the squared norm of A with unit columns; σ starts as given
    for a loss with f'' = 1 (see `_dual_scale` for others) and τ = 0.9 / (σ L).
    When columns leave and L falls, σ and τ grow by the same factor. (With all of it given to τ the dual
    variable goes on moving by a hundredth of its way a step, however small the problem has become.) -v
    tends to the dual solution, and is offered as a dual point at each check; the product Aᵀv that this
    takes is the next step's own.
    """

    name = "chambolle_pock"
    can_move = True
    check_period = 10

    def __init__(self, sigma: float = 0.01) -> None:
        self.sigma = sigma

    def start(self, point: Point) -> PrimalDualState:
        """v = -ρ(x), the dual variable that matches the starting point."""
        return PrimalDualState(
            point,
            v=-point.residual,
            squared_norm=SquaredNorm.estimate(point.problem, Smoothness(1.0)),
            sigma=self.sigma * _dual_scale(point),
        )

    def step(self, state: PrimalDualState, count: int) -> PrimalDualState:
        """`count` primal-dual steps."""
        point, v, squared_norm = state.point, state.v, state.squared_norm
        problem = point.problem
        metric = problem.norms**2
        inverse = np.divide(1.0, metric, out=np.zeros_like(metric), where=metric > 0)
        sigma = state.sigma
        gradient = state.gradient
        for _ in range(count):
            tau = 0.9 / (sigma * squared_norm.value)
            gradient = -problem.slopes(-v) if gradient is None else gradient
            x = point.x - (tau * inverse) * gradient
            np.maximum(x, problem.lower, out=x)
            np.minimum(x, problem.upper, out=x)
            following = Point(problem, x)
            extrapolated = 2.0 * following.prediction - point.prediction
            v = problem.loss.prox_conjugate(v + sigma * extrapolated, sigma, problem.target)
            squared_norm = squared_norm.observe(point, following, metric)
            point, gradient = following, None
        return replace(state, point=point, v=v, squared_norm=squared_norm, gradient=gradient)

    def dual_candidate(self, state: PrimalDualState) -> DualPoint:
        """theta = -v."""
        problem = state.point.problem
        if state.gradient is None:
            state.gradient = -problem.slopes(-state.v)
        error = problem.correlation_error(norm(state.v))
        return DualPoint(-state.v, -state.gradient, error, problem.cost_drift)

    def restrict(self, state: PrimalDualState, point: Point, kept: Index) -> PrimalDualState:
        """The dual variable stays; the norm bound is sharpened if columns left."""
        squared_norm = state.squared_norm.restrict(point.problem, kept)
        return PrimalDualState(
            point,
            v=state.v,
            squared_norm=squared_norm,
            sigma=state.sigma * np.sqrt(state.squared_norm.value / squared_norm.value),
            gradient=None if state.gradient is None else state.gradient[kept],
        )

    def move(self, state: PrimalDualState, point: Point, dual: DualPoint) -> PrimalDualState:
        """The dual variable goes to the best dual point as well."""
        return replace(state, point=point, v=-dual.theta, gradient=-dual.correlation)


def _dual_scale(point: Point) -> float:
    """What σ is multiplied by: its unit is that of f'', and f'' depends on the weights.

    With f'' = h s, s a power of 16 and h between ¼ and 4, it is s / h. Dividing by h was measured to be
    faster on logistic data, where h = ¼, than multiplying by it.
    """
    mean = float(np.mean(point.curvature))
    largest = point.problem.smoothness.largest
    mean = max(mean, _FLAT * (largest if np.isfinite(largest) else 1.0))
    scale = 16.0 ** round(float(np.log(mean)) / float(np.log(16.0))) if mean > 0.0 else 1.0
    return scale / (mean / scale) if mean > 0.0 else 1.0
