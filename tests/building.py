"""Shorthands that build the library's inner objects from plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxreg import validate
from boxreg.point import Point
from boxreg.presolve import presolve
from boxreg.reduced import ReducedProblem
from boxreg.work import WorkMeter


def reduced(A: Any, y: Any, lower: Any = 0.0, upper: Any = np.inf) -> ReducedProblem:
    """The reduced problem at the start of a run."""
    problem = validate.problem(A, y, lower, upper, "least_squares")
    return presolve(problem, WorkMeter(problem.design.shape[1]))


def point(A: Any, y: Any, x: Any, lower: Any = 0.0, upper: Any = np.inf) -> Point:
    """A primal point of such a problem."""
    return Point(reduced(A, y, lower, upper), np.asarray(x, dtype=float))
