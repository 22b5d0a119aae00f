"""Blocks of right-hand sides through the compiled path, in threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..arrays import Array
from ..losses.kullback_leibler import KullbackLeibler
from .chunk import Answers, Chunk
from .general import repair
from .question import Question
from .result import RhsStatus
from .shared import Shared


class Compiled:
    """Kernels that need no interpreter run block after block in `n_jobs` threads.

    They call no BLAS, so there are no other threads to share the cores with.
    """

    memory = 64e6

    def __init__(
        self, question: Question, shared: Shared, n_jobs: int, warm: bool, dual: bool
    ) -> None:
        self.question, self.shared, self.warm, self.dual = question, shared, warm, dual
        self.name = "active sets on the Gram matrix" if len(shared.model.gram) else "active sets"
        quadratic = question.loss.quadratic and len(shared.way.t) > 0
        self.direction: Array | None = shared.way.t if quadratic else None
        self._jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None

    def solve(self, chunk: Chunk, blocks: list[tuple[int, int]]) -> Answers:
        """All that are valid; what a kernel does not prove goes to the general solver."""
        m, n = self.question.design.shape
        answers = Answers.empty(len(chunk.rows), m, n, self.dual)
        kernel = self._kernel()

        def one(block: tuple[int, int]) -> None:
            kernel(chunk, answers, slice(*block))

        if self._pool is None:
            for block in blocks:
                one(block)
        else:
            list(self._pool.map(one, blocks))
        proved = chunk.valid & (answers.gap <= answers.target)
        answers.status[proved] = RhsStatus.CONVERGED
        repair(self.question, chunk, answers)
        answers.blank(chunk.valid)
        return answers

    def spread(self, job: Callable[[int, int], None], begin: int, end: int) -> None:
        """Read or write lines begin … end in all threads, some each."""
        if self._pool is None or end - begin < 2 * self._jobs:
            job(begin, end)
            return
        cuts = np.linspace(begin, end, self._jobs + 1).astype(int)
        list(self._pool.map(job, cuts[:-1].tolist(), cuts[1:].tolist()))

    def _kernel(self) -> Callable[[Chunk, Answers, slice], None]:
        from ..kernels.many_least_squares import Answers as Rows

        solve_block: Any
        if isinstance(self.question.loss, KullbackLeibler):
            from ..kernels.many_kullback_leibler import solve_block

            background = np.broadcast_to(
                self.question.loss.background, (self.question.design.shape[0],)
            )
            extra: tuple[Any, ...] = (background.copy(),)
        else:
            from ..kernels.many_least_squares import solve_block

            extra = ()
        model, way = self.shared.model, self.shared.way

        def run(chunk: Chunk, answers: Answers, block: slice) -> None:
            lower = chunk.lower[block] if len(chunk.lower) > 1 else chunk.lower
            upper = chunk.upper[block] if len(chunk.upper) > 1 else chunk.upper
            if len(lower) != len(upper):
                lower, upper = (np.array(b) for b in np.broadcast_arrays(lower, upper))
            theta = answers.theta[block] if len(answers.theta) else answers.theta
            rows = Rows(
                answers.x[block],
                theta,
                answers.gap[block],
                answers.scale[block],
                answers.target[block],
            )
            used = np.flatnonzero(chunk.valid[block])
            if len(used):
                solve_block(
                    model, chunk.rows[block], lower, upper, way, *extra, self.question.tol, self.warm,
                    used, rows,
                )  # fmt: skip

        return run

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
