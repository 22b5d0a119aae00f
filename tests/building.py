"""Shorthands that build the library's inner objects from plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxreg import validate
from boxreg.point import Point
from boxreg.presolve import presolve
from boxreg.reduced import ReducedProblem
from boxreg.work import WorkMeter


def reduced(
    A: Any,
    y: Any,
    lower: Any = 0.0,
    upper: Any = np.inf,
    loss: Any = "least_squares",
    **terms: Any,
) -> ReducedProblem:
    """The reduced problem at the start of a run; terms are weights, costs and a ridge."""
    problem = validate.problem(A, y, lower, upper, loss, **terms)
    return presolve(problem, WorkMeter(problem.design.shape[1]))


def mirrored(A: Any, y: Any, lower: Any, upper: Any, which: Any) -> tuple[Any, Any, Any, Any]:
    """The same problem with x_j ↦ -x_j for the coordinates `which`: half-lines turn round."""
    A, n = np.asarray(A, dtype=float), np.shape(A)[1]
    low, high = np.broadcast_to(lower, n), np.broadcast_to(upper, n)
    turned = np.where(which, -high, low), np.where(which, -low, high)
    return np.where(which, -A, A), y, *turned


def point(A: Any, y: Any, x: Any, lower: Any = 0.0, upper: Any = np.inf) -> Point:
    """A primal point of such a problem."""
    return Point(reduced(A, y, lower, upper), np.asarray(x, dtype=float))


class Clock:
    """A clock that goes on by one second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """The time, one second later than the last."""
        self.now += 1.0
        return self.now

    def time(self) -> float:
        """The calendar's clock stands still."""
        return self.now
