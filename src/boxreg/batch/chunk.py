"""Some right-hand sides and what is found for them, one a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Index, Mask
from ..devices import host
from .result import RhsStatus


@dataclass(frozen=True)
class Chunk:
    """Right-hand sides, which of them are to be solved, their bounds (one row, or one for each)."""

    rows: Array
    valid: Mask
    lower: Array
    upper: Array
    room: Array | None = None
    """Where x may be written at once, if there is such a place."""
    levels: Array | None = None
    """What the ridge term of each is multiplied by; None where that is 1."""

    def level(self, p: int) -> float:
        """That of right-hand side p."""
        return 1.0 if self.levels is None else float(self.levels[p])

    def bounds(self, p: int) -> tuple[Array, Array]:
        """Those of right-hand side p."""
        return (
            self.lower[p if len(self.lower) > 1 else 0],
            self.upper[p if len(self.upper) > 1 else 0],
        )


@dataclass(frozen=True)
class Answers:
    """x, theta (or no rows), and a number of each kind for every right-hand side."""

    x: Array
    theta: Array
    gap: Array
    objective: Array
    scale: Array
    target: Array
    status: npt.NDArray[np.int8]
    repaired: Mask
    proved: Mask

    @classmethod
    def empty(cls, chunk: Chunk, n: int, dual: bool) -> Answers:
        """Nothing solved yet; what is left so ends as NaN (`blank`)."""
        count, m = chunk.rows.shape
        return cls(
            np.empty((count, n)) if chunk.room is None else chunk.room,
            np.empty((count if dual else 0, m)),
            np.full(count, np.nan),
            np.full(count, np.nan),
            np.full(count, np.nan),
            np.full(count, np.nan),
            np.full(count, RhsStatus.SKIPPED, dtype=np.int8),
            np.zeros(count, dtype=bool),
            np.zeros(count, dtype=bool),
        )

    @classmethod
    def left(cls, count: int, n: int, m: int, dual: bool) -> Answers:
        """Those of a chunk that was not begun."""
        nothing = Chunk(np.empty((count, m)), np.zeros(count, dtype=bool), np.empty(0), np.empty(0))
        answers = cls.empty(nothing, n, dual)
        answers.leave(np.arange(count))
        return answers

    def leave(self, which: Index) -> None:
        """Note right-hand sides that time ran out for: no answer, and a status that says so."""
        self.x[which] = np.nan
        if len(self.theta):
            self.theta[which] = np.nan
        for numbers in (self.gap, self.objective, self.scale, self.target):
            numbers[which] = np.nan
        self.status[which], self.proved[which] = RhsStatus.NOT_BEGUN, False

    def blank(self, valid: Mask) -> None:
        """NaN for those that were not to be solved."""
        if not valid.all():
            self.x[~valid] = np.nan
            if len(self.theta):
                self.theta[~valid] = np.nan

    @property
    def _unsolved(self) -> Mask:
        there = (self.status == RhsStatus.SKIPPED) | (self.status == RhsStatus.NOT_BEGUN)
        return np.asarray(there)

    @property
    def support(self) -> npt.NDArray[np.int32]:
        """How many entries of x are not 0; 0 where nothing was solved."""
        return np.asarray(
            np.where(self._unsolved, 0, host(np.count_nonzero(self.x, axis=1))),
            dtype=np.int32,
        )
