"""Extrapolation of the residuals."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ..arrays import Array
from ..dual_cone import DualCone
from ..duality import DualPoint
from ..extrapolation import DEPTH, extrapolate
from ..point import Point
from ..reduced import ReducedProblem
from .base import DualUpdate
from .line_search import LineSearch, best_between


class Extrapolated(DualUpdate):
    """Toward the Anderson extrapolation of the last six residuals, after a line search.

    Once the support is settled the residuals of a first-order method move like powers of a matrix,
    and a combination of the last few is much nearer to theta* than the last one (Massias, Vaiter,
    Gramfort and Salmon, 2020). It is not feasible by itself: it is pushed into the cone like any
    other point, at the price of one product.
    """

    name = "extrapolated"

    def __init__(self) -> None:
        self._residuals: deque[Array] = deque(maxlen=DEPTH + 1)

    def start(self, problem: ReducedProblem) -> Extrapolated:
        """An empty memory."""
        return Extrapolated()

    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """The line search, then from its end toward the extrapolated residual."""
        found = best
        for found in LineSearch().propose(point, best, cone, hint):
            yield found
        if not point.regular:
            return
        self._residuals.append(point.residual)
        if len(self._residuals) <= DEPTH:
            return
        theta = extrapolate(self._residuals)
        if theta is not None:
            pushed = cone.push(DualPoint.at(theta, point.problem), point)
            yield best_between(point, found, pushed, cone)
