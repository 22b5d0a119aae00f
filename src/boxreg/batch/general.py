"""Right-hand sides one by one through the general solver."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from ..arrays import Array
from ..budget import NEVER, Deadline
from ..in_threads import work_alone
from ..result import Result
from ..settings import Settings, adopt, current
from .chunk import Answers, Chunk
from .question import Question
from .result import RhsStatus
from .shared import better_one_by_one

_shared: dict[str, Any] = {}
"""What a worker process was given once."""


def solve_one(
    question: Question,
    y: Array,
    lower: Array,
    upper: Array,
    x0: Array | None = None,
    deadline: Deadline = NEVER,
    level: float = 1.0,
) -> Result:
    """One right-hand side, its ridge term multiplied by `level`; its status tells what a warning
    would."""
    from ..api import solve
    from ..warning_types import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve(
            question.design,
            y,
            lower,
            upper,
            loss=question.loss,
            tol=question.tol,
            x0=x0,
            time_limit=deadline.left,
            **question.terms_at(level),
        )


def take(answers: Answers, p: int, result: Result) -> None:
    """Write the result of a right-hand side down."""
    answers.x[p], answers.gap[p] = result.x, result.gap
    answers.objective[p] = result.objective
    answers.scale[p], answers.target[p] = result.scale, result.target_gap
    answers.status[p], answers.proved[p] = RhsStatus.of(result.status), bool(result.certificate)
    if len(answers.theta):
        answers.theta[p] = result.theta[: answers.theta.shape[1]]


def repair(question: Question, chunk: Chunk, answers: Answers, deadline: Deadline = NEVER) -> None:
    """Solve again, accurately, what the compiled path did not prove; the smaller gap counts.

    Every right-hand side gets a status: where x of the compiled path has the smaller gap it stays, and
    the status says why the general solver could not prove more either.
    """
    left = np.flatnonzero(chunk.valid & ~(answers.gap <= answers.target))
    for k, p in enumerate(left):
        if deadline.passed:
            known = np.isfinite(answers.gap[left[k:]])
            answers.status[left[k:][known]] = RhsStatus.TIME_LIMIT
            answers.leave(left[k:][~known])
            break
        lower, upper = chunk.bounds(int(p))
        level = chunk.level(int(p))
        start = answers.x[p] if np.isfinite(answers.gap[p]) else None
        result = solve_one(question, chunk.rows[p], lower, upper, start, deadline, level)
        if start is not None and not result.success:
            again = solve_one(question, chunk.rows[p], lower, upper, None, deadline, level)
            result = min(result, again, key=lambda r: r.gap)
        answers.repaired[p] = True
        if result.success or result.gap <= answers.gap[p] or not np.isfinite(answers.gap[p]):
            take(answers, int(p), result)
        else:
            answers.status[p] = RhsStatus.of(result.status)


class General:
    """Every right-hand side by `solve`: in worker processes, or in threads where A and the loss cannot
    be sent to another process."""

    direction: Array | None = None
    memory = 64e6

    def __init__(self, question: Question, n_jobs: int, dual: bool) -> None:
        if better_one_by_one(question) and question.design.nbytes <= current().large_bytes:
            question = replace(question, design=question.design.column_major())
        self.question, self.dual = question, dual
        self.name = f"one by one, {question.loss.name}"
        self._pool: Executor | None = None
        self._local = True
        if n_jobs > 1:
            self._pool, self._local = _pool(question, n_jobs)

    def solve(
        self, chunk: Chunk, blocks: list[tuple[int, int]], deadline: Deadline = NEVER
    ) -> Answers:
        """All that are valid."""
        answers = Answers.empty(chunk, self.question.design.shape[1], self.dual)
        which = np.flatnonzero(chunk.valid)
        work = [
            (chunk.rows[p], *chunk.bounds(int(p)), deadline, chunk.level(int(p))) for p in which
        ]
        if self._pool is None:
            results: Iterable[Result | None] = (_in_turn(self.question, *each) for each in work)
        elif self._local:
            results = self._pool.map(lambda each: _in_turn(self.question, *each), work)
        else:
            results = self._pool.map(_in_worker, work, chunksize=max(1, len(work) // 64))
        for p, result in zip(which, results, strict=True):
            if result is None:
                answers.leave(np.array([p]))
            else:
                take(answers, int(p), result)
        answers.blank(chunk.valid)
        return answers

    def spread(self, job: Callable[[int, int], None], begin: int, end: int) -> None:
        """Reading and writing take next to no time here."""
        job(begin, end)

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _pool(question: Question, n_jobs: int) -> tuple[Executor, bool]:
    import pickle

    needed = {
        "design": question.design,
        "loss": question.loss,
        "tol": question.tol,
        "terms": question.terms,
        "settings": current(),
    }
    try:
        pickle.dumps((question.loss, question.terms))
        pickle.dumps(type(question.design))
    except Exception:  # whatever a loss's own pickling raises
        return ThreadPoolExecutor(n_jobs, "", _begin_thread, (current(),)), True
    context = get_context("spawn")
    return ProcessPoolExecutor(n_jobs, context, _begin_worker, (needed,)), False


def _begin_thread(settings: Settings) -> None:
    work_alone()
    adopt(settings)


def _begin_worker(needed: dict[str, Any]) -> None:
    _begin_thread(needed["settings"])
    _shared.update(needed)


def _in_turn(
    question: Question, y: Array, lower: Array, upper: Array, deadline: Deadline, level: float
) -> Result | None:
    """One right-hand side; None where its turn comes after the deadline."""
    if deadline.passed:
        return None
    return solve_one(question, y, lower, upper, None, deadline, level)


def _in_worker(work: tuple[Array, Array, Array, Deadline, float]) -> Result | None:
    question = Question(
        _shared["design"],
        None,
        None,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        _shared["loss"],
        _shared["tol"],
        False,
        _shared["terms"],
    )
    return _in_turn(question, *work)
