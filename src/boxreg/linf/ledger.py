"""What a run over levels has found so far."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Mask
from ..compile_time import Stopwatch
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
        self._watch = Stopwatch()
        self._best = (np.inf, np.inf)
        self._settled = np.inf
        self._last: tuple[int, Point, float] | None = None

    def record(self, iteration: int, point: Point, value: float, level: float, gap: float) -> None:
        """Note a point with P = `value`; the best one is the answer so far.

        Objectives decide until a gap meets the target; from there gaps do, which tell more.
        """
        self._last = (iteration, point, gap)
        rank = (gap if gap <= self.target else np.inf, value)
        if rank < self._best:
            self._best = rank
            self.x = level * self.squeezed.astype(np.float64)
            self.x[point.problem.index] = point.x

    def note(self, merged: Merged, negative: Mask, positive: Mask) -> None:
        """Note squeezed coordinates."""
        self.squeezed[merged.whole.index[negative]] = -1
        self.squeezed[merged.whole.index[positive]] = 1

    def polished(self, proof: Proof) -> bool:
        """Whether the gap has stopped shrinking for good: only rounding is left of the excess, or the
        target is met."""
        before, self._settled = self._settled, proof.gap
        stuck = proof.gap > 0.5 * before
        noise = abs(proof.excess) <= proof.excess_error
        met = proof.gap <= self.target
        return (stuck and noise) or (met and (stuck or noise))

    def snapshot(self) -> Snapshot:
        """The last point noted, as a progress line wants it."""
        assert self._last is not None
        iteration, point, gap = self._last
        return Snapshot(
            iteration=iteration,
            seconds=self._watch.seconds,
            work=point.problem.work.total,
            objective=point.objective,
            gap=gap,
            target=self.target,
            preserved=int(np.count_nonzero(self.squeezed == 0)),
            n=len(self.squeezed),
        )
