"""When to check, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .budget import NEVER, Deadline


@dataclass(frozen=True)
class Limits:
    """Stop when the gap is at most `target`, after `max_iter` steps, at the deadline, or after `work`
    products with A.

    An exact solver may go on from the target to the precision of the data, at the cost of `finishing`
    times the work that it took to get there.
    """

    target: float
    max_iter: int
    deadline: Deadline = NEVER
    work: float = np.inf
    finishing: float = 1.0


class CheckSchedule:
    """Steps to the next check.

    A check costs up to two products with the held columns. The period is the solver's own at first
    and then a tenth (`growth`) of the steps made so far, so that a run of k steps is checked about
    10 log k times, a coordinate is screened at most a tenth later than it could be, and what checks
    cost fades away where nothing can be screened. A period is cut short where the gap, falling as it
    has since the last check, would meet the target. With no growth the period is fixed.
    """

    def __init__(self, period: int, growth: float) -> None:
        self.least = period
        self._growth = growth
        self._last: tuple[int, float] | None = None

    def next(self, iteration: int, gap: float, target: float) -> int:
        """Number of steps to take before the next check."""
        if self._growth == 0.0:
            return self.least
        expected = self._expected(iteration, gap, target)
        self._last = (iteration, gap)
        return max(1, round(min(max(self.least, self._growth * iteration), expected)))

    def _expected(self, iteration: int, gap: float, target: float) -> float:
        """Steps until the gap meets the target if log gap goes on falling at its present rate."""
        if self._last is None or self._last[0] == 0:  # the first fall tells nothing of the next
            return np.inf
        if not 0.0 < target < gap < self._last[1] < np.inf:
            return np.inf
        steps, fall = iteration - self._last[0], np.log(self._last[1] / gap)
        return max(float(np.log(gap / target) / fall) * steps, 1.0)
