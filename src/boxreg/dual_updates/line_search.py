"""Line search from the best dual point so far."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..dual_cone import DualCone
from ..duality import DualPoint, duality_gap
from ..point import Point
from .base import DualUpdate
from .local_push import local_push

_GOLDEN = 0.6180339887498949
_EVALUATIONS = 6
_NEAR = 1e-3


class LineSearch(DualUpdate):
    """The best point on the segment from the best theta so far to the translated residual.

    The segment is feasible because its ends are, and D is concave along it: its maximum is at
    least as good as either end, so the gap can only shrink. A solver's own dual point, if it has
    one, is a second place to search towards.
    """

    name = "line_search"

    def __init__(self, thorough: bool = True) -> None:
        self.thorough = thorough
        """Look between the ends of a segment too. An exact solver comes so close in its last step that
        looking does not pay in the others."""

    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """The best points on the way to the translated residual, and then to the hint."""
        near = _residual_or_near(point, cone, hint) if point.regular else None
        for target in (near, hint):
            if target is not None:
                feasible = cone.push(target, point)
                if self.thorough:
                    best = best_between(point, best, feasible, cone)
                    yield best
                else:
                    yield feasible


def _residual_or_near(point: Point, cone: DualCone, hint: DualPoint | None) -> DualPoint:
    """rho, or where no direction is known from it a feasible point beside it, if there is one."""
    if cone.pending:
        near = local_push(point, hint)
        if near is not None:
            return near
    return DualPoint.residual(point)


def best_between(point: Point, start: DualPoint, end: DualPoint, cone: DualCone) -> DualPoint:
    """The point of the segment with the least gap, which is a convex function along it.

    Where it still falls just before the end, the end it is. A parabola through both ends and the
    middle tells whether the minimum is inside; only then is it worth a golden-section search.
    """

    def gap(step: float) -> float:
        return duality_gap(point, start.toward(end, step))

    at_start, at_end = duality_gap(point, start), duality_gap(point, end)
    if np.isinf(at_start) or np.isinf(at_end):  # no segment of feasible points to search
        return end if at_end < at_start else start
    if at_end < at_start and at_end <= gap(1.0 - _NEAR):
        return end
    curvature = 2.0 * (at_start + at_end - 2.0 * gap(0.5))
    vertex = 0.5 - 0.5 * (at_end - at_start) / curvature if curvature > 0.0 else -1.0
    if not 0.0 < vertex < 1.0:
        return end if at_end < at_start else start
    left, right = 0.0, 1.0
    inner_left, inner_right = 1.0 - _GOLDEN, _GOLDEN
    gap_left, gap_right = gap(inner_left), gap(inner_right)
    for _ in range(_EVALUATIONS - 2):
        if gap_left <= gap_right:
            right, inner_right, gap_right = inner_right, inner_left, gap_left
            inner_left = right - _GOLDEN * (right - left)
            gap_left = gap(inner_left)
        else:
            left, inner_left, gap_left = inner_left, inner_right, gap_right
            inner_right = left + _GOLDEN * (right - left)
            gap_right = gap(inner_right)
    found, step = min((gap_left, inner_left), (gap_right, inner_right))
    if min(at_start, at_end) <= found:
        return end if at_end < at_start else start
    return cone.push(start.toward(end, step), point)
