"""Blocks of right-hand sides on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..devices import Card, host, lives_on_gpu
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

    def solve(self, chunk: Chunk, blocks: list[tuple[int, int]]) -> Answers:
        """All that are valid."""
        arrays, on_card = self.card.arrays, lives_on_gpu(chunk.rows)
        found = self._solver.solve(chunk, self.dual)
        count = len(chunk.rows)
        answers = Answers(
            found.x,
            found.theta,
            *(host(part) for part in (found.gap, found.scale, found.target)),
            np.full(count, RhsStatus.SKIPPED, dtype=np.int8),
            np.zeros(count, dtype=bool),
        )
        if not on_card:
            answers = replace(answers, x=host(found.x), theta=host(found.theta))
        proved = chunk.valid & (answers.gap <= answers.target)
        answers.status[proved] = RhsStatus.CONVERGED
        self._repair(chunk, answers, arrays)
        for numbers in (answers.gap, answers.scale, answers.target):
            numbers[~chunk.valid] = np.nan
        answers.blank(chunk.valid)
        return answers

    def _repair(self, chunk: Chunk, answers: Answers, arrays: Any) -> None:
        left = np.flatnonzero(chunk.valid & ~(answers.gap <= answers.target))
        if not len(left):
            return
        lower, upper = (b if len(b) == 1 else b[left] for b in (chunk.lower, chunk.upper))
        part = Chunk(host(chunk.rows[left]), np.ones(len(left), dtype=bool), lower, upper)
        small = Answers(
            host(answers.x[left]),
            host(answers.theta[left]) if len(answers.theta) else np.empty((0, 0)),
            *(a[left] for a in (answers.gap, answers.scale, answers.target, answers.status)),
            answers.repaired[left],
        )
        repair(self.question, part, small)
        answers.x[left] = arrays.asarray(small.x) if lives_on_gpu(answers.x) else small.x
        if len(answers.theta):
            on_card = lives_on_gpu(answers.theta)
            answers.theta[left] = arrays.asarray(small.theta) if on_card else small.theta
        for name in ("gap", "scale", "target", "status", "repaired"):
            getattr(answers, name)[left] = getattr(small, name)

    def spread(self, job: Callable[[int, int], None], begin: int, end: int) -> None:
        """Read or write in one go."""
        job(begin, end)

    def close(self) -> None:
        """Nothing to end."""
