"""What a dual update must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from ..arrays import Array
from ..dual_cone import DualCone
from ..duality import DualPoint
from ..point import Point
from ..reduced import ReducedProblem


class DualUpdate(ABC):
    """Proposes dual points near theta*; the driver keeps the best one it has seen, whole.

    Proposals need not improve, but must be feasible up to what `duality_gap` proves: one that is not
    has an infinite gap and is never kept.
    """

    name: str

    needs_finite_bounds: bool = False
    """Feasible only where every coordinate has two finite bounds."""

    def start(self, problem: ReducedProblem) -> DualUpdate:
        """The update to use for one run (a fresh object if it keeps a memory)."""
        return self

    @abstractmethod
    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """Candidates, given the primal point, the best dual point so far, and one that the solver has
        of its own (primal-dual methods do)."""

    def primal_candidate(self) -> Array | None:
        """A feasible x that the last proposals came with, if they did; whether it is taken up is
        decided by its objective."""
        return None
