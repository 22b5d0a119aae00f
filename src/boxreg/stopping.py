"""When to check, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Limits:
    """Stop when the gap is at most `target`, or after `max_iter` steps."""

    target: float
    max_iter: int


class CheckSchedule:
    """Steps to the next check.

    A check costs up to two products with the held columns and is worth that while it screens or
    stops. The period starts at the solver's own, returns to it whenever something was screened, and
    otherwise grows by half, but never past a tenth of the steps made so far, nor past the step at
    which the gap, falling as it has since the last check, would meet the target.
    """

    def __init__(self, period: int) -> None:
        self._base = period
        self._period = float(period)
        self._last: tuple[int, float] | None = None

    def next(self, iteration: int, gap: float, target: float, screened: bool) -> int:
        """Number of steps to take before the next check."""
        limit = max(self._base, iteration / 10)
        self._period = self._base if screened else min(1.5 * self._period, limit)
        expected = self._expected(iteration, gap, target)
        self._last = (iteration, gap)
        return max(1, round(min(self._period, expected)))

    def _expected(self, iteration: int, gap: float, target: float) -> float:
        """Steps until the gap meets the target if log gap goes on falling at its present rate."""
        if self._last is None or not 0.0 < target < gap < self._last[1] < np.inf:
            return np.inf
        steps, fall = iteration - self._last[0], np.log(self._last[1] / gap)
        return max(float(np.log(gap / target) / fall) * steps, 1.0)
