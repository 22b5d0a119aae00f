"""The gap sphere."""

from __future__ import annotations

from ..arrays import Array
from ..duality import DualPoint, feasible_nearby
from ..point import Point
from .base import Metric, SafeRegion, ball_range, safe_sqrt


class GapSphere(SafeRegion):
    """sum_i (theta*_i - theta_i)² / L_i <= 2 G.

    D is 1/L_i-strongly concave in theta_i and maximal at theta*, so P* - D(theta) >= ½ sum_i
    (theta*_i - theta_i)² / L_i; and P* <= P(x).
    """

    name = "gap_sphere"

    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Range of w_j over the sphere."""
        reach = Metric.of(point, dual, gap).reach
        return sphere_range(point, dual, gap, reach)


def sphere_range(point: Point, dual: DualPoint, gap: float, reach: Array) -> tuple[Array, Array]:
    """Range of w_j over the sphere, for a metric that is known already."""
    near, _ = feasible_nearby(point, dual)
    return ball_range(
        near.correlation, near.uncertainty(point.problem), safe_sqrt(2.0 * gap), reach
    )
