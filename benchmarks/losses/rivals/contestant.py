"""What a contestant is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from benchmarks.race.guard import trial
from benchmarks.race.timing import clock

from ..functions import Array
from ..problem import LossProblem

Run = Callable[[], Array]


@dataclass(frozen=True)
class Contestant:
    """One solver.

    `prepare(problem, tolerance)` converts the data, off the clock, and returns the call that is timed.
    `refuses` says why a problem is not for this solver. Of `tolerances`, from loose to tight, the
    first with which the answer is good enough is timed.
    """

    name: str
    distribution: str
    settings: str
    prepare: Callable[[LossProblem, float], Run]
    refuses: Callable[[LossProblem], str | None]
    tolerances: tuple[float, ...]
    forks: bool = True
    """Trials run in a child that can be killed at its cap."""

    def installed(self) -> bool:
        return find_spec(self.distribution.replace("scikit-learn", "sklearn")) is not None


class Prepared:
    """A contestant with one problem and one tolerance, as `race.measure.Heat` takes it."""

    def __init__(self, contestant: Contestant, problem: LossProblem, tolerance: float) -> None:
        self._run = contestant.prepare(problem, tolerance)
        self._forks = contestant.forks

    def trial(self, cap: float) -> tuple[float, Array]:
        if self._forks:
            return trial(self._run, cap)
        held: list[Array] = []
        seconds = clock(lambda: held.append(self._run()))
        return seconds, held[0]

    def timed(self, calls: int) -> float:
        return clock(self._run, calls)
