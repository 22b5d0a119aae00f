"""Dual points and the duality gap, with their rounding errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Index, Mask
from .point import Point
from .reduced import ReducedProblem
from .rounding import SLACK, UNIT_ROUNDOFF, dot, gamma, norm


@dataclass(frozen=True)
class DualPoint:
    """theta together with w = A_Sᵀ theta, kept as one value.

    theta is exact by definition (any vector is a dual candidate); w_j is off by at most
    error · ||a_j||.
    """

    theta: Array
    correlation: Array
    error: float

    @classmethod
    def at(cls, theta: Array, problem: ReducedProblem) -> DualPoint:
        """Any theta, by one product."""
        return cls(theta, problem.correlate(theta), problem.correlation_error(norm(theta)))

    @classmethod
    def zero(cls, problem: ReducedProblem) -> DualPoint:
        """The point theta = 0: feasible whatever the bounds."""
        m, n = problem.design.shape
        return cls(np.zeros(m), np.zeros(n), 0.0)

    @classmethod
    def residual(cls, point: Point) -> DualPoint:
        """The point theta = rho (feasible only where every bound is finite)."""
        return cls(point.residual, point.correlation, point.correlation_error)

    def plus(self, step: float, other: DualPoint) -> DualPoint:
        """Theta + step · other, its correlation by linearity rather than by a product."""
        rounding = 6.0 * UNIT_ROUNDOFF * (norm(self.theta) + abs(step) * norm(other.theta))
        return DualPoint(
            self.theta + step * other.theta,
            self.correlation + step * other.correlation,
            self.error + abs(step) * other.error + rounding,
        )

    def toward(self, other: DualPoint, step: float) -> DualPoint:
        """(1 - step) theta + step other, for step in [0, 1]."""
        rounding = 6.0 * UNIT_ROUNDOFF * (norm(self.theta) + norm(other.theta))
        return DualPoint(
            (1.0 - step) * self.theta + step * other.theta,
            (1.0 - step) * self.correlation + step * other.correlation,
            (1.0 - step) * self.error + step * other.error + rounding,
        )

    def kept(self, kept: Index) -> DualPoint:
        """The same theta over the columns `kept`."""
        return DualPoint(self.theta, self.correlation[kept], self.error)


def duality_gap(point: Point, dual: DualPoint, implicit: Mask | None = None) -> float:
    """Upper bound, rounding included, on G(x, theta) = P(x) - D(theta).

    Written as a sum of non-negative terms, so that nothing cancels however small it is:

        G = [F(p) + F*(-theta) + <p, theta>] + sum_j (u_j - x_j) w_j⁺ + (x_j - l_j) w_j⁻

    (the first bracket is the Fenchel–Young gap; <p, theta> = <z, theta> + sum_j x_j w_j). Each w_j
    is taken at the worse end of its error interval. +inf where theta is not proved feasible, that is
    where u_j = inf and w_j may be positive, unless coordinate j is `implicit` (see `DualCone`).
    """
    known = point.gaps.get(id(dual))
    if known is not None and known[0] is dual and known[1] is implicit:
        return known[2]
    gap = _computed_gap(point, dual, implicit)
    point.gaps[id(dual)] = (dual, implicit, gap)
    return gap


def _computed_gap(point: Point, dual: DualPoint, implicit: Mask | None) -> float:
    problem = point.problem
    box = _box_terms(point, dual, dual.error * problem.norms, implicit)
    if not np.isfinite(box):
        return np.inf
    computed = problem.loss.fenchel_young(point.prediction, dual.theta, problem.target)
    return (computed + _cost_of_prediction_error(point, dual.theta) + box) * SLACK


def rounding_share(point: Point, dual: DualPoint, implicit: Mask | None = None) -> float:
    """How much of `duality_gap` is allowance for rounding: what no further iteration can remove."""
    problem = point.problem
    box = _box_terms(point, dual, dual.error * problem.norms, implicit)
    bare = _box_terms(point, dual, np.zeros_like(problem.norms), implicit)
    if not np.isfinite(box):
        return 0.0
    return box - bare + _cost_of_prediction_error(point, dual.theta)


def _box_terms(point: Point, dual: DualPoint, uncertainty: Array, implicit: Mask | None) -> float:
    """sum_j (u_j - x_j) w_j⁺ + (x_j - l_j) w_j⁻ with each w_j as bad as its uncertainty allows."""
    problem = point.problem
    rising = np.maximum(dual.correlation + uncertainty, 0.0)
    falling = np.maximum(uncertainty - dual.correlation, 0.0)
    below, above = point.room
    unbounded = problem.unbounded
    if implicit is not None and implicit.any():
        above = np.where(implicit, implied_upper(point.x, problem) - point.x, above)
        unbounded = unbounded & ~implicit
    if (rising * unbounded).any():
        return np.inf
    return (dot(above, rising) + dot(below, falling)) * (1.0 + gamma(len(above) + 4))


def _cost_of_prediction_error(point: Point, theta: Array) -> float:
    """What the rounding error e of the prediction can add to the Fenchel–Young gap.

    It is convex in p with gradient theta - rho(p), (1/alpha)-Lipschitz: at most
    ||theta - rho|| e + e² / (2 alpha).
    """
    error = point.prediction_error
    if error == 0.0:
        return 0.0
    loss = point.problem.loss
    rounding = 2.0 * UNIT_ROUNDOFF * loss.roundoff_derivative * point.residual_norm
    slope = norm(theta - point.residual) + rounding
    return slope * error + error**2 / (2.0 * loss.alpha)


def implied_upper(x: Array, problem: ReducedProblem) -> Array:
    """A bound that some solution is taken to respect where none is given (see `DualCone`).

    A thousand times the larger of the current value and the coefficient that would explain the
    whole target with that column alone. This is an assumption, and certificates that rest on it say
    so.
    """
    norms = problem.norms
    alone = np.divide(norm(problem.target), norms, out=np.zeros_like(norms), where=norms > 0)
    return problem.lower + 1e3 * np.maximum(x - problem.lower, alone)
