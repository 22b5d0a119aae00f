"""The two-point ball."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..duality import DualPoint
from ..point import Point
from ..rounding import SLACK, UNIT_ROUNDOFF, norm
from .base import Ball, SafeRegion, ball_range, safe_sqrt
from .gap_sphere import GapSphere


class TwoPointBall(SafeRegion):
    """||theta* - (theta + rho)/2||² <= G/alpha - ¼ ||theta - rho||².

    Smoothness gives P(x) - P* >= (alpha/2) ||rho - theta*||², strong concavity P* - D(theta) >=
    (alpha/2) ||theta - theta*||²; their sum is the ball. It lies inside the gap sphere, with a radius
    smaller by √2 where theta = rho.

    rho is known up to residual_error e: that moves the centre by at most e/2 and ||theta - rho|| by
    at most e. The sphere is intersected at no cost, so that the inclusion survives rounding.
    """

    name = "two_point_ball"

    def ball(self, point: Point, dual: DualPoint, gap: float) -> Ball:
        """The ball, rounding included."""
        problem = point.problem
        rho, e = point.residual, point.residual_error
        apart = max(norm(dual.theta - rho) / SLACK - e, 0.0)
        radius = safe_sqrt(gap / problem.loss.alpha - 0.25 * apart**2) + 0.5 * e
        rounding = 2.0 * UNIT_ROUNDOFF * (norm(dual.theta) + norm(rho))
        return Ball(
            centre=0.5 * (dual.theta + rho),
            radius=radius,
            correlation=0.5 * (dual.correlation + point.correlation),
            error=0.5 * (dual.error + point.correlation_error) + rounding,
        )

    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Range of a_jᵀ theta over the ball and the sphere."""
        ball = self.ball(point, dual, gap)
        low, high = ball_range(ball.correlation, ball.error, ball.radius, point.problem.norms)
        sphere_low, sphere_high = GapSphere().correlation_range(point, dual, gap)
        return np.maximum(low, sphere_low), np.minimum(high, sphere_high)
