"""Clocks: one guarded trial, then the best of several samples, all contestants in turn."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

CLOCK = time.perf_counter


@dataclass(frozen=True)
class Policy:
    """How long things may take, in seconds.

    cap: a trial that takes longer is killed. once: a trial that takes longer is the only sample.
    budget: what the samples of one contestant on one problem may take together.
    """

    cap: float
    once: float
    budget: float
    least: int = 3
    most: int = 25
    patient: bool = True
    """Whether a case may allow a contestant more than the cap."""
    large: float = np.inf
    """Entries of A from which slow contestants do not start."""
    stride: int = 1
    """Of the problems of a case, every so many."""
    sample: float = 4e-3
    """Calls shorter than this are timed in batches of about this length."""

    def shared(self, problems: int) -> Policy:
        """The same, shared by several problems of one case."""
        return replace(
            self,
            cap=max(self.cap / problems, 1.0),
            once=self.once / problems,
            budget=self.budget / problems,
        )

    def plan(self, seconds: float) -> tuple[int, int]:
        """(samples, calls in each) for a contestant whose call takes about this long."""
        calls = max(1, round(self.sample / max(seconds, 1e-7)))
        samples = int(self.budget / (calls * max(seconds, 1e-7)))
        return min(max(samples, self.least), self.most), calls


FULL = Policy(cap=10.0, once=3.0, budget=1.5)
QUICK = Policy(cap=2.0, once=0.5, budget=0.2, most=8, patient=False, large=1e6, stride=4)


def clock(run: Callable[[], object], calls: int = 1) -> float:
    """Seconds per call of `calls` calls, the garbage collector off."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        start = CLOCK()
        for _ in range(calls):
            run()
        return (CLOCK() - start) / calls
    finally:
        if enabled:
            gc.enable()


def best_of(run: Callable[[], object], budget: float) -> float:
    """The best sample within a budget of seconds, at least three."""
    first = clock(run)
    samples, calls = Policy(0.0, 0.0, budget).plan(first)
    return min(clock(run, calls) for _ in range(samples))
