"""Dual translation."""

from __future__ import annotations

from collections.abc import Iterator

from ..dual_cone import DualCone
from ..duality import DualPoint
from ..point import Point
from .base import DualUpdate


class Translation(DualUpdate):
    """theta = rho + ε t with t inside the dual cone and the least ε that makes theta feasible.

    As x tends to the solution rho becomes feasible and ε tends to 0. Where every bound is finite
    this is the residual.
    """

    name = "translation"

    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """The translated residual."""
        if point.regular:
            yield cone.push(DualPoint.residual(point), point)
