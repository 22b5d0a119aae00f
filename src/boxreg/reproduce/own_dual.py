"""The dual variable of a primal-dual method as dual point."""

from __future__ import annotations

from collections.abc import Iterator

from ..dual_cone import DualCone
from ..dual_updates import DualUpdate
from ..duality import DualPoint
from ..point import Point


class OwnDual(DualUpdate):
    """theta = -v: feasible when every bound is finite, and what the paper's code uses for its
    primal-dual solver. It costs nothing, since the next step needs Aᵀv too."""

    name = "own"
    needs_finite_bounds = True

    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """The solver's own dual point, as it is."""
        if hint is not None:
            yield hint
