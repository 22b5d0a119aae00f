"""Measuring one problem: everybody's trial, then samples of all contestants in turn, then scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from .contestants import Contestant
from .guard import Failed, OverTime, describe
from .problem import Array, Problem
from .scoring import Judge
from .timing import Policy

Status = Literal["ok", "over", "failed", "refused", "absent"]
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
    relative_gap: float | None = None
    objective: float | None = None
    violation: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Heat:
    """All contestants on one problem."""

    def __init__(self, policy: Policy, cap: float, show: Callable[[str], None]) -> None:
        self.policy, self.cap, self.show = policy, cap, show
        self.found: dict[str, Measurement] = {}
        self.answers: dict[str, Array] = {}
        self._running: dict[str, tuple[Contestant, int, int]] = {}

    def sit_out(self, name: str, status: Status, why: str) -> None:
        """Record somebody who does not start."""
        self.found[name] = Measurement(name, status, why)

    def enter(self, name: str, make: Callable[[], Contestant]) -> None:
        """Prepare a contestant and run its trial."""
        self.show(name)
        try:
            contestant = make()
            seconds, x = contestant.trial(self.cap)
            if not np.all(np.isfinite(x)):
                raise Failed("the answer is not finite")
            self.found[name] = Measurement(name, "ok", seconds=seconds, samples=1)
            self.answers[name] = x
            self._plan(name, contestant, seconds)
        except OverTime:
            self.found[name] = Measurement(name, "over", f"over {self.cap:g} s", seconds=self.cap)
        except Failed as error:
            self.found[name] = Measurement(name, "failed", str(error))
        except Exception as error:  # a library's own error while its input is prepared
            self.found[name] = Measurement(name, "failed", describe(error))

    def _plan(self, name: str, contestant: Contestant, seconds: float) -> None:
        if seconds > self.policy.once:
            return
        if seconds < QUICK_CALL:
            seconds = min(contestant.timed(1, seconds) for _ in range(3))
        samples, calls = self.policy.plan(seconds)
        self._running[name] = (contestant, samples, calls)
        self.found[name].seconds = None

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
            seconds = contestant.timed(calls, held.seconds or self.policy.once)
        except (Failed, OverTime, Exception) as error:
            del self._running[name]
            self.answers.pop(name)
            self.found[name] = Measurement(name, "failed", f"when repeated: {describe(error)}")
            return
        held.seconds = seconds if held.seconds is None else min(held.seconds, seconds)
        held.samples = held.samples + 1 if held.samples else 1

    def score(self, problem: Problem, theta: Array | None) -> Judge:
        """Score every answer, off the clock, against the best dual point of all."""
        self.show("scoring")
        judge = Judge(problem)
        judge.learn(self.answers.values())
        if theta is not None:
            judge.learn_dual(theta)
        for name, x in self.answers.items():
            score = judge.score(x)
            held = self.found[name]
            held.relative_gap, held.objective = score.relative_gap, score.objective
            held.violation = score.violation
        return judge
