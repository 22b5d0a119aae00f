"""The two-point ball."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..duality import DualPoint, feasible_nearby
from ..point import Point
from ..rounding import UNIT_ROUNDOFF, norm
from .base import Ball, Metric, SafeRegion, ball_range, safe_sqrt
from .gap_sphere import sphere_range


class TwoPointBall(SafeRegion):
    """||theta* - (theta + rho)/2||² <= G - ¼ ||theta - rho||² in the norm √(sum_i v_i² / L_i).

    Smoothness gives P(x) - P* >= ½ ||rho - theta*||², strong concavity P* - D(theta) >=
    ½ ||theta - theta*||²; their sum is the ball. It lies inside the gap sphere, with a radius smaller by
    √2 where theta = rho. Both inequalities are about the brackets f + f* + pθ of (p, theta*) and of
    (p*, theta), Bregman divergences of f*: they hold with local constants too (docs/mathematics.md).

    rho is known up to residual_error e: that moves the centre by at most e/2 and ||theta - rho|| by
    at most e. The sphere is intersected at no cost, so that the inclusion survives rounding.
    """

    name = "two_point_ball"

    def ball(self, point: Point, dual: DualPoint, gap: float, metric: Metric) -> Ball:
        """The ball, rounding included."""
        problem = point.problem
        near, moved = feasible_nearby(point, dual)
        rho, e = point.residual, point.residual_error
        error = e if moved is None else e + norm(moved)
        apart = max(metric.norm_at_least(dual.theta - rho) - metric.at_most(error), 0.0)
        rounding = 2.0 * UNIT_ROUNDOFF * (dual.size + point.residual_norm)
        centre_error = 0.5 * (near.error + point.correlation_error + e) + rounding
        drift = max(near.drift, problem.cost_drift) + 2.0 * UNIT_ROUNDOFF
        return Ball(
            centre=0.5 * (dual.theta + rho),
            radius=safe_sqrt(gap - 0.25 * apart * apart),
            correlation=0.5 * (dual.correlation + point.correlation),
            uncertainty=problem.uncertainty(centre_error, drift),
            centre_error=0.5 * error + rounding,
        )

    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Range of w_j over the ball and the sphere."""
        metric = Metric.of(point, dual, gap)
        return both_ranges(point, dual, gap, metric, self.ball(point, dual, gap, metric))


def both_ranges(
    point: Point, dual: DualPoint, gap: float, metric: Metric, ball: Ball
) -> tuple[Array, Array]:
    """Range of w_j over the ball and the sphere."""
    low, high = ball_range(ball.correlation, ball.uncertainty, ball.radius, metric.reach)
    sphere_low, sphere_high = sphere_range(point, dual, gap, metric.reach)
    return np.maximum(low, sphere_low), np.minimum(high, sphere_high)
