"""What a run over levels has found so far."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from ..arrays import Array, Mask
from ..history import Snapshot
from ..point import Point
from .merged import Merged
from .proof import Proof


class Ledger:
    """Keeps the best point, and who is squeezed, at full length."""

    def __init__(self, n: int, target: float) -> None:
        self.squeezed = np.zeros(n, dtype=np.int8)
        self.x: Array = np.zeros(n)
        self.target = target
        self._clock = perf_counter()
        self._best = np.inf
        self._settled = np.inf
        self._last: tuple[int, Point, float] | None = None

    def record(self, iteration: int, point: Point, level: float, gap: float) -> None:
        """Note a point; the one with the least gap is the answer so far."""
        self._last = (iteration, point, gap)
        if gap < self._best:
            self._best = gap
            self.x = level * self.squeezed
            self.x[point.problem.index] = point.x

    def note(self, merged: Merged, negative: Mask, positive: Mask) -> None:
        """Note squeezed coordinates."""
        self.squeezed[merged.whole.index[negative]] = -1
        self.squeezed[merged.whole.index[positive]] = 1

    def polished(self, proof: Proof) -> bool:
        """Whether a gap that is small enough has stopped shrinking, or has only rounding left."""
        before, self._settled = self._settled, proof.gap
        if proof.gap > self.target:
            return False
        return abs(proof.excess) <= proof.excess_error or proof.gap > 0.5 * before

    def snapshot(self) -> Snapshot:
        """The last point noted, as a progress line wants it."""
        assert self._last is not None
        iteration, point, gap = self._last
        return Snapshot(
            iteration=iteration,
            seconds=perf_counter() - self._clock,
            work=point.problem.work.total,
            objective=point.objective,
            gap=gap,
            target=self.target,
            preserved=int(np.count_nonzero(self.squeezed == 0)),
            n=len(self.squeezed),
        )
