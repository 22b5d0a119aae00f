"""The residual as dual point."""

from __future__ import annotations

from collections.abc import Iterator

from ..dual_cone import DualCone
from ..duality import DualPoint
from ..point import Point
from .base import DualUpdate


class Residual(DualUpdate):
    """theta = rho: feasible when every bound is finite, and then exact at the solution."""

    name = "residual"
    needs_finite_bounds = True

    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """The residual, as it is."""
        if point.regular:
            yield DualPoint.residual(point)
