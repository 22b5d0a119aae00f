"""The gap sphere."""

from __future__ import annotations

from ..arrays import Array
from ..duality import DualPoint
from ..point import Point
from .base import SafeRegion, ball_range, safe_sqrt


class GapSphere(SafeRegion):
    """||theta* - theta|| <= sqrt(2 G / alpha).

    D is alpha-strongly concave and maximal at theta*, so P* - D(theta) >= (alpha/2) ||theta* -
    theta||²; and P* <= P(x).
    """

    name = "gap_sphere"

    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Range of a_jᵀ theta over the sphere."""
        problem = point.problem
        radius = safe_sqrt(2.0 * gap / problem.loss.alpha)
        return ball_range(dual.correlation, dual.error, radius, problem.norms)
