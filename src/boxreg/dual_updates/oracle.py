"""A dual point given from outside."""

from __future__ import annotations

from collections.abc import Iterator

from ..arrays import Array
from ..dual_cone import DualCone
from ..duality import DualPoint
from ..point import Point
from ..reduced import ReducedProblem
from .base import DualUpdate


class Oracle(DualUpdate):
    """A given theta (the dual solution, for experiments), pushed into the cone where it misses it."""

    name = "oracle"

    def __init__(self, theta: Array) -> None:
        self.theta = theta
        self._proposed = False

    def start(self, problem: ReducedProblem) -> Oracle:
        """A fresh copy: the point is proposed once, and kept by the driver from then on."""
        return Oracle(self.theta)

    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """The given point, the first time."""
        if not self._proposed:
            self._proposed = True
            yield cone.push(DualPoint.at(self.theta, point.problem), point)
