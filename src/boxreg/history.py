"""What happened during a run, check by check."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .arrays import Array, Index, Mask
from .compile_time import Stopwatch
from .point import Point
from .reduced import ReducedProblem


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at one check; what a callback sees."""

    iteration: int
    seconds: float
    work: float
    objective: float
    gap: float
    """Proved bound on P(x) - P*, rounding included."""
    target: float
    """The gap at which the run will stop."""
    preserved: int
    """Coordinates not yet fixed."""
    n: int
    """Coordinates in all."""


@dataclass(frozen=True)
class History:
    """One entry a check, as arrays of equal length."""

    iteration: Index
    seconds: Array
    work: Array
    objective: Array
    gap: Array
    preserved: Index

    def __len__(self) -> int:
        return len(self.iteration)

    @classmethod
    def single(
        cls,
        iteration: int,
        seconds: float,
        work: float,
        objective: float,
        gap: float,
        preserved: int,
    ) -> History:
        """That of a run with one check."""
        return cls(
            np.array([iteration]),
            np.array([seconds]),
            np.array([work]),
            np.array([objective]),
            np.array([gap]),
            np.array([preserved]),
        )

    @classmethod
    def of(cls, snapshots: list[Snapshot]) -> History:
        """Arrays from the snapshots of a run."""

        def floats(name: str) -> Array:
            return np.array([getattr(s, name) for s in snapshots], dtype=np.float64)

        def integers(name: str) -> Index:
            return np.array([getattr(s, name) for s in snapshots], dtype=np.intp)

        return cls(
            iteration=integers("iteration"),
            seconds=floats("seconds"),
            work=floats("work"),
            objective=floats("objective"),
            gap=floats("gap"),
            preserved=integers("preserved"),
        )


@dataclass
class Ledger:
    """Keeps the answer at full length while the run works on fewer and fewer columns."""

    n: int
    watch: Stopwatch = field(default_factory=Stopwatch)
    snapshots: list[Snapshot] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.screened = np.zeros(self.n, dtype=np.int8)
        self.screened_at = np.full(self.n, -1, dtype=np.intp)
        self._x = np.zeros(self.n)
        self._best: tuple[float, Array] = (np.inf, self._x)
        self._doubt = 0.0
        """By how much a point must have a lower objective than the best so far to take its place."""

    def record(self, iteration: int, point: Point, gap: float, target: float) -> Snapshot:
        """Note a check; remember the point with the least objective."""
        problem = point.problem
        snapshot = Snapshot(
            iteration=iteration,
            seconds=self.watch.seconds,
            work=problem.work.total,
            objective=point.objective,
            gap=gap,
            target=target,
            preserved=problem.open_count,
            n=self.n,
        )
        self.snapshots.append(snapshot)
        if snapshot.objective < self._best[0] - self._doubt:
            self._best, self._doubt = (snapshot.objective, self.expand(point)), 0.0
        return snapshot

    def trust(self, point: Point) -> None:
        """Keep the best point unless another beats it by more than rounding, as at `point`.

        For a solver that begins anew: where both end at the minimum, the first answer stays.
        """
        self._doubt = point.residual_norm * point.prediction_error

    def expand(self, point: Point) -> Array:
        """The point at full length."""
        x = self._x.copy()
        x[point.problem.index] = point.x
        return x

    @property
    def best(self) -> Array | None:
        """The point with the least objective among those checked, at full length; None where none was
        finite."""
        return self._best[1] if np.isfinite(self._best[0]) else None

    def stalled(self, checks: int, little: float = 0.0) -> bool:
        """Whether, over the last checks, the objective was the same, to rounding or up to `little`, and
        the gap within a tenth."""
        if len(self.snapshots) <= checks:
            return False
        before, now = self.snapshots[-1 - checks], self.snapshots[-1]
        if not (np.isfinite(before.objective) and np.isfinite(now.objective)):
            return False
        change = abs(before.objective - now.objective)
        return now.gap > 0.9 * before.gap and change <= max(1e-14 * now.objective, little)

    def fix(self, problem: ReducedProblem, at_lower: Mask, at_upper: Mask, iteration: int) -> None:
        """Note which coordinates were screened, and when; earlier points may contradict it."""
        for mask, sign in ((at_lower, -1), (at_upper, 1)):
            self.screened[problem.index[mask]] = sign
            self.screened_at[problem.index[mask]] = iteration
        self._best = (np.inf, self._x)

    def settle(self, point: Point, at_lower: Mask, at_upper: Mask, iteration: int) -> None:
        """Note what is proved of the final point, where it agrees."""
        problem, x = point.problem, point.x
        at_lower = at_lower & (x == problem.lower)
        at_upper = at_upper & (x == problem.upper)
        self.fix(problem, at_lower, at_upper, iteration)
        self.close(int(np.count_nonzero(at_lower | at_upper)))

    def close(self, proved: int) -> None:
        """Count what the last check proved in its own entry."""
        last = self.snapshots[-1]
        self.snapshots[-1] = replace(last, preserved=last.preserved - proved)

    def drop(self, problem: ReducedProblem) -> None:
        """Store the values of fixed coordinates before their columns leave."""
        fixed = ~problem.open
        self._x[problem.index[fixed]] = problem.lower[fixed]
