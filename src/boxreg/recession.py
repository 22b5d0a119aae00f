"""Directions in which the objective falls for ever."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .point import Point
from .reduced import ReducedProblem
from .status import Status

_FAR = 100.0
"""A prediction so large that a loss which ever stops falling has stopped there."""

_NOISE = 1e-9


@dataclass(frozen=True)
class Recession:
    """A direction d of the box: what P does on the way x + s d, s → ∞."""

    direction: Array
    slope: float
    """lim P(x + s d) / s: sum_i sup { v (A d)_i : v in dom f* } + cᵀd."""

    @property
    def status(self) -> Status:
        """What this means for the problem."""
        return Status.UNBOUNDED if self.slope < 0.0 else Status.NOT_ATTAINED


def recession(problem: ReducedProblem, direction: Array) -> Recession | None:
    """The direction, cleaned of rounding, if P falls along it for ever; None otherwise."""
    size = float(np.max(np.abs(direction), initial=0.0))
    if size == 0.0:
        return None
    d = np.where(np.abs(direction) <= _NOISE * size, 0.0, direction) / size
    d = np.where(problem.no_upper, d, np.minimum(d, 0.0))
    d = np.where(problem.no_lower, d, np.maximum(d, 0.0))
    q = problem.design.matvec(d)
    scale = float(np.max(np.abs(q), initial=0.0))
    noise = _NOISE * max(scale, float(np.max(problem.norms * np.abs(d), initial=0.0)))
    q = np.where(np.abs(q) <= noise, 0.0, q)
    low, high = problem.loss.dual_domain(problem.target)
    with np.errstate(invalid="ignore"):
        rows = np.where(q > 0.0, high * q, np.where(q < 0.0, low * q, 0.0))
    cost = 0.0 if problem.cost is None else float(problem.cost.c @ d)
    slope = float(np.sum(rows)) + cost
    if not slope <= _NOISE * (float(np.sum(np.abs(rows[np.isfinite(rows)]))) + abs(cost)):
        return None
    slope = min(slope, 0.0) if abs(slope) > _NOISE * abs(cost) else 0.0
    if slope < 0.0:
        return Recession(d, slope)
    far = np.where(q != 0.0, _FAR * np.sign(q), 0.0)
    still_falling = float(problem.loss.derivatives(far, problem.target) @ q) + cost < 0.0
    return Recession(d, 0.0) if still_falling else None


def receding_answer(point: Point) -> Recession | None:
    """Whether the way from the bounds to x goes on for ever: then no minimum is attained."""
    problem = point.problem
    if not (problem.constrained.any() or problem.free.any()):
        return None
    origin = np.where(
        problem.no_lower, np.where(problem.no_upper, 0.0, problem.upper), problem.lower
    )
    unbounded = problem.no_lower | problem.no_upper
    return recession(problem, np.where(unbounded, point.x - origin, 0.0))
