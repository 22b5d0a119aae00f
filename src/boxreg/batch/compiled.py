"""Blocks of right-hand sides through the compiled path, in threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..arrays import Array, Index
from ..budget import NEVER, Deadline
from ..losses.kullback_leibler import KullbackLeibler
from ..settings import current
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
        self.direction: Array | None = None
        if question.loss.quadratic and len(shared.way.t) > 0:
            self.direction = shared.terms.unscaled(shared.way.t)
        self._jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None

    def solve(
        self, chunk: Chunk, blocks: list[tuple[int, int]], deadline: Deadline = NEVER
    ) -> Answers:
        """All that are valid; what a kernel does not prove goes to the general solver."""
        answers = Answers.empty(chunk, self.question.design.shape[1], self.dual)
        kernel, cuts = self._kernel(chunk, answers), np.array(blocks, dtype=np.intp).reshape(-1, 2)
        # Blocks do not depend on each other: how many a call takes changes no answer.
        parts = current().batch_calls * self._jobs if deadline == NEVER else len(cuts)
        if self._pool is None and deadline == NEVER:
            kernel(cuts)
        else:
            each = np.array_split(cuts, max(parts, 1))
            called = map if self._pool is None else self._pool.map
            list(called(lambda some: None if deadline.passed else kernel(some), each))
        answers.status[chunk.valid & (answers.gap <= answers.target)] = RhsStatus.CONVERGED
        answers.proved[:] = chunk.valid & np.isfinite(answers.gap)  # kernels assume nothing
        repair(self.question, chunk, answers, deadline)
        answers.blank(chunk.valid)
        return answers

    def spread(self, job: Callable[[int, int], None], begin: int, end: int) -> None:
        """Read or write lines begin … end in all threads, some each."""
        if self._pool is None or end - begin < 2 * self._jobs:
            job(begin, end)
            return
        cuts = np.linspace(begin, end, self._jobs + 1).astype(int)
        list(self._pool.map(job, cuts[:-1].tolist(), cuts[1:].tolist()))

    def _kernel(self, chunk: Chunk, answers: Answers) -> Callable[[Index], None]:
        """What solves some blocks of a chunk, without the interpreter."""
        from ..kernels.blocks import Answers as Rows

        extra: tuple[Any, ...] = ()
        solve_blocks: Any
        if isinstance(self.question.loss, KullbackLeibler):
            from ..kernels.many_kullback_leibler import solve_blocks

            rows = self.question.design.shape[0]
            extra = (np.broadcast_to(self.question.loss.background, (rows,)).copy(),)
        else:
            from ..kernels.many_least_squares import solve_blocks

            extra = (self._terms(chunk),)
        lower, upper = chunk.lower, chunk.upper
        if len(lower) != len(upper):
            lower, upper = (np.array(b) for b in np.broadcast_arrays(lower, upper))
        numbers = (answers.gap, answers.objective, answers.scale, answers.target)
        rows_of = Rows(answers.x, answers.theta, *numbers)
        model, way, tol = self.shared.model, self.shared.way, self.question.tol
        terms, roots = self.shared.terms, self.shared.terms.roots
        given, moved = chunk.rows, roots is not None or terms.rows_below > 0
        targets = np.empty((len(given), len(model.rows))) if moved else given

        def run(cuts: Index) -> None:
            if not len(cuts):
                return
            some = slice(cuts[0, 0], cuts[-1, 1])
            if moved:
                terms.scale(given[some], targets[some])
            solve_blocks(
                model,
                targets,
                chunk.valid,
                lower,
                upper,
                way,
                *extra,
                tol,
                self.warm,
                cuts,
                rows_of,
            )
            if roots is not None and self.dual:
                answers.theta[some] *= roots

        return run

    def _terms(self, chunk: Chunk) -> Any:
        """Costs and ridge terms, as the kernel for least squares takes them."""
        from ..kernels.many_least_squares import Terms

        nothing, terms = np.zeros(0), self.shared.terms
        return Terms(
            self.shared.soft,
            nothing if terms.cost is None else terms.cost,
            nothing if chunk.levels is None else chunk.levels,
            terms.scaled,
        )

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
