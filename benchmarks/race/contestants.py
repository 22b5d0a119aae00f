"""Contestants prepared for one problem: in this process, or in another environment."""

from __future__ import annotations

from typing import Protocol

from .guard import trial
from .problem import Array, Problem
from .remote import Remote
from .rivals import OURS, Rival
from .timing import clock


class Contestant(Protocol):
    """One solver, one problem."""

    def trial(self, cap: float) -> tuple[float, Array]:
        """One guarded call: (seconds, x)."""

    def timed(self, calls: int) -> float:
        """Seconds per call of several calls."""


class Local:
    """A solver in this process."""

    def __init__(self, rival: Rival, problem: Problem, tolerance: float) -> None:
        self._run = rival.prepare(problem, tolerance)
        self._forks = rival not in OURS

    def trial(self, cap: float) -> tuple[float, Array]:
        """In a child, except ours: a child may not use threads that its parent has started."""
        if self._forks:
            return trial(self._run, cap)
        held: list[Array] = []
        seconds = min(clock(lambda: held.append(self._run())) for _ in range(2))
        return seconds, held[-1]

    def timed(self, calls: int) -> float:
        return clock(self._run, calls)


class Away:
    """A solver in another environment, which already holds the problem."""

    def __init__(self, rival: Rival, remote: Remote, tolerance: float) -> None:
        self._name, self._remote, self._tolerance = rival.name, remote, tolerance

    def trial(self, cap: float) -> tuple[float, Array]:
        return self._remote.trial(self._name, self._tolerance, cap)

    def timed(self, calls: int) -> float:
        return self._remote.timed(self._name, self._tolerance, calls)
