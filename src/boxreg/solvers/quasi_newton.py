"""A start by L-BFGS-B, for losses whose models would be costly far from the solution."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from ..arrays import Array
from ..point import Point

_MEMORY = 20
"""Corrections that L-BFGS-B keeps."""


class _OutOfBudget(Exception):
    """Ends the search from within its function."""


def descended(point: Point, gain: float, evaluations: int) -> Point:
    """The best point that L-BFGS-B finds from there, in variables scaled by the norms of columns.

    It ends once a step gains less than `gain` of the objective at the point, or after so many
    evaluations of P and its gradient, each two products with A. What it computes with the corrections
    takes 4 n multiplications for each of them.
    """
    problem = point.problem
    size = np.where(problem.norms > 0.0, problem.norms, 1.0)
    scale = abs(point.objective) or 1.0
    best, left = point, evaluations

    def evaluated(z: Array) -> tuple[float, Array]:
        nonlocal best, left
        left -= 1
        if left < 0 or problem.work.over:
            raise _OutOfBudget
        problem.work.charge(4.0 * _MEMORY * len(z) / max(len(problem.target), 1))
        trial = Point(problem, np.clip(z / size, problem.lower, problem.upper))
        value = trial.objective
        if not (np.isfinite(value) and trial.regular):
            return np.inf, np.zeros_like(z)
        gradient = -trial.correlation
        if value < best.objective:
            best = trial
        return value / scale, gradient / (size * scale)

    scaled: Any = {
        "bounds": Bounds(problem.lower * size, problem.upper * size),
        "options": {"ftol": gain, "gtol": 0.0, "maxcor": _MEMORY, "maxiter": evaluations},
    }
    with suppress(_OutOfBudget):
        minimize(evaluated, point.x * size, jac=True, method="L-BFGS-B", **scaled)
    return best
