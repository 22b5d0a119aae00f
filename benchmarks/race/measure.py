"""Measuring one problem: everybody's trials, then samples of all contestants in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from .contestants import Contestant
from .guard import Failed, OverTime, describe
from .problem import Array
from .timing import Policy

Status = Literal["ok", "over", "failed", "refused", "absent"]
GOOD = 1e-9
"""The relative gap that everybody is asked for."""
QUICK_CALL = 0.05
"""Calls shorter than this are timed again in this process before their samples are planned."""


@dataclass
class Measurement:
    """One contestant on one problem."""

    solver: str
    status: Status
    note: str = ""
    seconds: float | None = None
    samples: int = 0
    tolerance: float | None = None
    relative_gap: float | None = None
    objective: float | None = None
    violation: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Heat:
    """All contestants on one problem; `judge` scores their answers, off the clock."""

    def __init__(
        self, judge: Any, policy: Policy, show: Callable[[str], None], good: float = GOOD
    ) -> None:
        self.judge, self.policy, self.show, self.good = judge, policy, show, good
        self.found: dict[str, Measurement] = {}
        self.answers: dict[str, Array] = {}
        self._running: dict[str, tuple[Contestant, int, int]] = {}

    def sit_out(self, name: str, status: Status, why: str) -> None:
        """Record somebody who does not start."""
        self.found[name] = Measurement(name, status, why)

    def enter(
        self,
        name: str,
        make: Callable[[float], Contestant],
        tolerances: Iterable[float],
        cap: float,
    ) -> None:
        """Trials with tighter and tighter tolerances until the answer is good.

        Where none is good, the best answer counts; where a tighter tolerance fails, or all trials
        together take longer than the cap, what looser ones gave.
        """
        best: Contestant | None = None
        spent = seconds = 0.0
        for tolerance in tolerances:
            if spent + seconds > cap:  # a tighter tolerance takes no less than the last
                break
            self.show(f"{name}, tolerance {tolerance:g}" if tolerance else name)
            try:
                contestant = make(tolerance)
                seconds, x = contestant.trial(cap)
                if not np.all(np.isfinite(x)):
                    raise Failed("the answer is not finite")
            except OverTime:
                if best is None:
                    self.found[name] = Measurement(name, "over", f"over {cap:g} s", seconds=cap)
                break
            except Exception as error:  # the library's own, or `Failed`
                if best is None:
                    self.found[name] = Measurement(name, "failed", describe(error))
                continue
            spent += seconds
            held = Measurement(name, "ok", seconds=seconds, samples=1, tolerance=tolerance)
            self._score(held, x)
            if best is None or held.relative_gap < self.found[name].relative_gap:
                best, self.found[name], self.answers[name] = contestant, held, x
            if held.relative_gap <= self.good:
                break
        if best is not None:
            self._plan(name, best)

    def _plan(self, name: str, contestant: Contestant) -> None:
        seconds = self.found[name].seconds
        if seconds is None or seconds > self.policy.once:
            return
        if seconds < QUICK_CALL:
            seconds = min(contestant.timed(1) for _ in range(3))
        self._running[name] = (contestant, *self.policy.plan(seconds))
        self.found[name].seconds, self.found[name].samples = None, 0  # the trial ran cold

    def sample(self) -> None:
        """Samples of all who are fast enough, in turn; the best counts."""
        for turn in range(self.policy.most):
            for name, (contestant, samples, calls) in list(self._running.items()):
                if turn < samples:
                    self.show(f"{name} {turn + 1}/{samples}")
                    self._sample(name, contestant, calls)

    def _sample(self, name: str, contestant: Contestant, calls: int) -> None:
        held = self.found[name]
        try:
            seconds = contestant.timed(calls)
        except Exception as error:  # what worked once may fail when repeated
            del self._running[name]
            del self.answers[name]
            self.found[name] = Measurement(name, "failed", f"when repeated: {describe(error)}")
            return
        held.seconds = seconds if held.seconds is None else min(held.seconds, seconds)
        held.samples += 1

    def score(self) -> None:
        """Score every answer against the best dual point of all."""
        self.show("scoring")
        self.judge.learn(self.answers.values())
        for name, x in self.answers.items():
            self._score(self.found[name], x)

    def _score(self, held: Measurement, x: Array) -> None:
        score = self.judge.score(x)
        held.relative_gap, held.objective = score.relative_gap, score.objective
        held.violation = score.violation
