"""Who solves: the compiled path, a GPU, or the general solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .. import validate
from ..arrays import Array
from ..budget import NEVER, Deadline
from ..devices import find_card
from .chunk import Answers, Chunk
from .compiled import Compiled
from .general import General
from .on_device import OnDevice
from .question import Question
from .shared import better_one_by_one, compiled_loss, compiled_path, share


class Engine(Protocol):
    """Solves chunks of right-hand sides."""

    name: str
    direction: Array | None
    """Along which dual points were made feasible."""
    memory: float
    """Bytes that a chunk and its answers may take, about, unless the caller says how many to take."""

    def solve(
        self, chunk: Chunk, blocks: list[tuple[int, int]], deadline: Deadline = NEVER
    ) -> Answers:
        """All that are valid; blocks are solved together. What is not begun by the deadline is left."""

    def spread(self, job: Callable[[int, int], None], begin: int, end: int) -> None:
        """Read or write lines begin … end, in all threads where that helps."""

    def close(self) -> None:
        """End threads and workers."""


def engine(
    question: Question, n_jobs: int, warm: bool, dual: bool, device: str, precision: str
) -> Engine:
    """A GPU where one is asked for; the compiled path where it can be taken; else the general solver."""
    if device != "cpu":
        return _on_device(question, warm, dual, device, precision)
    able = compiled_path(question) and compiled_loss(question)
    if able and not better_one_by_one(question):
        shared = share(question)
        if shared is not None:
            return Compiled(question, shared, n_jobs, warm, dual)
    return General(question, n_jobs, dual)


def _on_device(question: Question, warm: bool, dual: bool, device: str, precision: str) -> Engine:
    card = find_card(device)
    validate.device_fits(device, question.loss, question.terms, compiled_path(question))
    shared = share(question, gram_needed=True)
    if shared is None:
        raise validate.mixed_bounds(device)
    return OnDevice(question, shared, card, precision, warm, dual)
