"""Dual points, the gap and the squeezing test of the ℓ∞-penalised problem, rounding included.

    dual: maximise ½||y||² - ½||y - θ||²   subject to   ||Aᵀθ||₁ <= λ

With the level c >= ||x||∞ the gap is a sum of non-negative terms, the first two being the gap of the
box |x| <= c:

    G = ½||θ - ρ||² + sum_j (c - x_j) w_j⁺ + (c + x_j) w_j⁻ + c (λ - ||w||₁),    w = Aᵀθ.

The dual objective is 1-strongly concave, so ||θ* - θ||² <= 2 G; and a_jᵀθ* != 0 implies
x*_j = sign(a_jᵀθ*) ||x*||∞ in every solution. Where columns are merged, ||w||₁ has σ_j w_j in place of
|w_j| for squeezed j, sᵀθ in place of their sum: a weaker constraint with the same solution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Mask
from ..certificate import Certificate
from ..duality import DualPoint, duality_gap, rounding_share
from ..point import Point
from ..rounding import SLACK, UNIT_ROUNDOFF, dot, gamma, norm
from ..safe_regions import GapSphere
from .merged import Merged


@dataclass(frozen=True)
class Proof:
    """What a point and its scaled residual prove."""

    dual: DualPoint
    gap: float
    excess: float
    """||Aᵀρ||₁ - λ, with which sign the objective falls as the level grows."""
    excess_error: float


def load(merged: Merged, dual: DualPoint) -> tuple[float, float]:
    """||Aᵀθ||₁, and a bound on the rounding error of that number."""
    w, size = dual.correlation, dual.size
    own = dot(merged.column, dual.theta)
    value = float(np.where(merged.signs == 0, np.abs(w), merged.signs * w).sum()) + own
    error = dual.error * float(merged.whole.norms.sum())
    error += (merged.column_error + gamma(len(dual.theta) + 2) * norm(merged.column)) * size
    error += gamma(len(w) + 4) * (float(np.abs(w).sum()) + abs(own))
    return value, error * SLACK


def scaled_residual(point: Point, value: float, error: float, penalty: float) -> DualPoint:
    """β ρ with the best β for which ||Aᵀθ||₁ <= λ is proved; `error` must cover a scaling."""
    rho = _ready_to_scale(point)
    most = penalty / (value + error) if value + error > 0.0 else np.inf
    squared = point.residual_norm**2
    best = dot(point.problem.target, rho.theta) / squared if squared > 0.0 else 1.0
    margin = 2.0 * gamma(len(rho.correlation) + 16)  # two sums of the same terms may differ by that
    scale = max(min(best, most * (1.0 - margin)), 0.0)
    return DualPoint(scale * rho.theta, scale * rho.correlation, scale * rho.error)


def _ready_to_scale(point: Point) -> DualPoint:
    """ρ, its products charged with the rounding that a multiple of it will add."""
    rho = DualPoint.residual(point)
    return replace(rho, error=rho.error + 8.0 * UNIT_ROUNDOFF * point.residual_norm)


def gap_of(merged: Merged, point: Point, dual: DualPoint, level: float) -> float:
    """Upper bound on ½||y - A x||² + λ c - P*, rounding included; inf where θ is not feasible."""
    value, error = load(merged, dual)
    if not value + error <= merged.penalty:
        return np.inf
    slack = (merged.penalty - value) + error + 2.0 * UNIT_ROUNDOFF * merged.penalty
    return (duality_gap(point, dual) + level * slack) * SLACK


def prove(merged: Merged, point: Point, level: float) -> Proof:
    """The gap at a point, by its residual."""
    value, error = load(merged, _ready_to_scale(point))
    dual = scaled_residual(point, value, error, merged.penalty)
    gap = gap_of(merged, point, dual, level)
    return Proof(dual, gap, value - merged.penalty, error)


def squeezable(merged: Merged, point: Point, proof: Proof) -> tuple[Mask, Mask]:
    """Coordinates newly proved to be at minus, and at plus the level in every solution."""
    unknown = merged.signs == 0
    if not np.isfinite(proof.gap):
        return unknown & False, unknown & False
    low, high = GapSphere().correlation_range(point, proof.dual, proof.gap)
    return unknown & (high < 0.0), unknown & (low > 0.0)


def certify(merged: Merged, x: Array) -> tuple[Certificate, Proof, Point]:
    """Everything about x from the unreduced data: `merged` must hold every column."""
    level = float(np.max(np.abs(x), initial=0.0))
    point = Point(merged.at(level), x)
    proof = prove(merged, point, level)
    theta, target = proof.dual.theta, merged.whole.target
    value, error = load(merged, proof.dual)
    rounding = rounding_share(point, proof.dual) + level * (2.0 * error) + (SLACK - 1.0) * proof.gap
    feasible = value + error <= merged.penalty
    infeasible = (
        "theta is not feasible, so that the gap is infinite: ||Aᵀtheta||₁ exceeds the penalty"
    )
    certificate = Certificate(
        objective=point.objective + merged.penalty * level,
        dual_objective=dot(theta, target - 0.5 * theta),
        gap=proof.gap,
        primal_feasible=True,
        dual_feasible=feasible,
        rigorous=bool(np.isfinite(proof.gap)),
        reasons=() if feasible else (infeasible,),
        rounding=rounding,
    )
    return certificate, proof, point
