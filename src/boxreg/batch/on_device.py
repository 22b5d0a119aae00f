"""Blocks of right-hand sides on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array, Index
from ..budget import NEVER, Deadline
from ..devices import Card, host, lives_on_gpu, small_launches
from .chunk import Answers, Chunk
from .device_solver import DeviceSolver
from .general import repair
from .question import Question
from .result import RhsStatus
from .shared import Shared


class OnDevice:
    """Whole active-set solves on the card; what they do not prove goes to the general solver.

    Answers are where the right-hand sides are: on the card, or on the host.
    """

    memory = 1e9

    def __init__(
        self, question: Question, shared: Shared, card: Card, precision: str, warm: bool, dual: bool
    ) -> None:
        self.question, self.card, self.dual = question, card, dual
        self.name = f"active sets on the Gram matrix, {precision}, {card.name}"
        self.direction: Array | None = shared.way.t if len(shared.way.t) else None
        self._solver = DeviceSolver(shared, card, question.tol, precision, warm)

    def solve(
        self, chunk: Chunk, blocks: list[tuple[int, int]], deadline: Deadline = NEVER
    ) -> Answers:
        """All that are valid. The card is not interrupted: the deadline is looked at after it."""
        with small_launches():
            found = self._solver.solve(chunk, self.dual)
        if not lives_on_gpu(chunk.rows):
            found.x, found.theta = host(found.x), host(found.theta)
        gap, value = host(found.gap), host(found.objective)
        scale, target = host(found.scale), host(found.target)
        valid = chunk.valid
        met = valid & (gap <= target)
        status = np.where(met, RhsStatus.CONVERGED, RhsStatus.SKIPPED).astype(np.int8)
        repaired, proved = np.zeros(len(valid), dtype=bool), valid & np.isfinite(gap)
        answers = Answers(found.x, found.theta, gap, value, scale, target, status, repaired, proved)
        left = np.flatnonzero(valid & ~met)
        if len(left):
            self._repair(chunk, answers, left, deadline)
        for numbers in (answers.gap, answers.objective, answers.scale, answers.target):
            numbers[~valid] = np.nan
        answers.blank(valid)
        return answers

    def _repair(self, chunk: Chunk, answers: Answers, left: Index, deadline: Deadline) -> None:
        """Those that are left, on the host."""
        lower = chunk.lower if len(chunk.lower) == 1 else chunk.lower[left]
        upper = chunk.upper if len(chunk.upper) == 1 else chunk.upper[left]
        part = Chunk(host(chunk.rows[left]), np.ones(len(left), dtype=bool), lower, upper)
        some = Answers(
            host(answers.x[left]),
            host(answers.theta[left] if self.dual else answers.theta),
            answers.gap[left],
            answers.objective[left],
            answers.scale[left],
            answers.target[left],
            answers.status[left],
            answers.repaired[left],
            answers.proved[left],
        )
        repair(self.question, part, some, deadline)
        answers.x[left] = self._beside(answers.x, some.x)
        if self.dual:
            answers.theta[left] = self._beside(answers.theta, some.theta)
        for name in ("gap", "objective", "scale", "target", "status", "repaired", "proved"):
            getattr(answers, name)[left] = getattr(some, name)

    def _beside(self, where: Any, array: Array) -> Any:
        return self.card.arrays.asarray(array) if lives_on_gpu(where) else array

    def spread(self, job: Callable[[int, int], None], begin: int, end: int) -> None:
        """Read or write in one go."""
        job(begin, end)

    def close(self) -> None:
        """Nothing to end."""
