"""A baseline whose checks are off the clock."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from time import perf_counter
from typing import TypeVar

from ..arrays import Index
from ..duality import DualPoint
from ..point import Point
from ..reduced import ReducedProblem
from ..solvers.base import PrimalSolver, SolverState

S = TypeVar("S", bound=SolverState)


class OffTheClock(PrimalSolver[S]):
    """A solver that measures itself: seconds and work of all but the checks.

    Without screening an algorithm has no use for the duality gap; it is computed only to know when to
    stop. Counted are the way to the first iterate and the steps. What a check has computed is taken
    from the point again, so that a step that needs it pays for it. Serves one run.
    """

    def __init__(self, inner: PrimalSolver[S]) -> None:
        self.inner = inner
        self.name = inner.name
        self.needs_columns = inner.needs_columns
        self.needs_quadratic = inner.needs_quadratic
        self.needs_scalar_derivative = inner.needs_scalar_derivative
        self.max_iter = inner.max_iter
        self.trail: list[tuple[float, float]] = []
        """Seconds and work on the clock at each check."""
        self._clock = perf_counter()
        self._left: Point | None = None

    def checks(self, problem: ReducedProblem) -> tuple[int, float]:
        """As the solver wants them."""
        return self.inner.checks(problem)

    def wants_column_major(self, problem: ReducedProblem) -> bool:
        """As the solver does."""
        return self.inner.wants_column_major(problem)

    def start(self, point: Point) -> S:
        """Everything up to here counts."""
        state = self.inner.start(point)
        self._left = copy(state.point)
        self.trail = [(perf_counter() - self._clock, point.problem.work.total)]
        return state

    def step(self, state: S, count: int) -> S:
        """The inner step, on the clock."""
        meter = state.point.problem.work
        clock, before = perf_counter(), meter.total
        if self._left is not None:
            state = replace(state, point=self._left)
        state = self.inner.step(state, count)
        seconds, work = self.trail[-1]
        self.trail.append((seconds + perf_counter() - clock, work + meter.total - before))
        self._left = copy(state.point)
        return state

    def dual_candidate(self, state: S) -> DualPoint | None:
        """The inner solver's own, if it has one."""
        return self.inner.dual_candidate(state)

    def restrict(self, state: S, point: Point, kept: Index) -> S:
        """Columns leave before the first step only (those that are zero)."""
        self._left = None
        return self.inner.restrict(state, point, kept)
