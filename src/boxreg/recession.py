"""Directions in which the objective falls for ever."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Mask
from .point import Point
from .problem import Problem
from .reduced import ReducedProblem
from .settings import current
from .status import Status

_NOISE = 1e-9
"""Shares of a direction, or of its products, that a linear program may leave where there is nothing."""
_NEAR = 1e-3
"""How far a direction, whose largest entry is 1, may be moved to make rows level."""
_SLACK = 4.0
"""How many times their rounding error products in level rows may be."""


@dataclass(frozen=True)
class Recession:
    """A direction d of the box along which P falls for ever: lim P(x + s d) / s <= 0 as s → ∞."""

    direction: Array
    status: Status
    """What this means for the problem: UNBOUNDED or NOT_ATTAINED."""


def recession(
    problem: ReducedProblem, direction: Array, image: Array | None = None
) -> Recession | None:
    """The direction, cleaned of rounding, if P falls along it for ever; None otherwise.

    Rows in which A d is next to nothing count as level only if d can be moved, within the box, so that
    it is 0 there up to rounding. `image` is A times the direction, if that is known.
    """
    size = float(np.max(np.abs(direction), initial=0.0))
    if size == 0.0:
        return None
    d = np.where(np.abs(direction) <= _NOISE * size, 0.0, direction) / size
    d = np.where(problem.no_upper, d, np.minimum(d, 0.0))
    d = np.where(problem.no_lower, d, np.maximum(d, 0.0))
    cleaned = not np.array_equal(d != 0.0, direction != 0.0)
    q = problem.design.matvec(d) if image is None or cleaned else image / size
    scale = float(np.max(np.abs(q), initial=0.0))
    noise = _NOISE * max(scale, float(np.max(problem.norms * np.abs(d), initial=0.0)))
    level = np.abs(q) <= noise
    if q[level].any():
        refined = _levelled(problem, d, level)
        if refined is None:
            return None
        d, q = refined
    low, high = problem.loss.dual_domain(problem.target)
    end = np.where(q > 0.0, high, np.where(q < 0.0, low, 0.0))
    with np.errstate(invalid="ignore"):
        rows = np.where(q == 0.0, 0.0, end * q)
    costs = np.zeros_like(d) if problem.cost is None else problem.cost.c * d
    slope = float(np.sum(rows)) + float(np.sum(costs))
    size = float(np.sum(np.abs(rows))) + float(np.sum(np.abs(costs)))  # costs may cancel
    if not (np.isfinite(slope) and slope <= _NOISE * size):
        return None
    if slope < -_NOISE * size:
        return Recession(d, Status.UNBOUNDED)
    return _level(problem, d, np.where(q == 0.0, 0.0, end), q != 0.0)


def _levelled(problem: ReducedProblem, d: Array, level: Mask) -> tuple[Array, Array] | None:
    """A direction of the box near d with A d = 0 in the level rows up to rounding, and A d; or None."""
    support, rows = np.flatnonzero(d), np.flatnonzero(level)
    affordable = len(rows) * len(support) ** 2 <= current().factor_operations
    if not (problem.design.has_columns and affordable):
        return None
    columns = problem.design.columns(support)
    problem.work.add(len(support) ** 2)
    moved = d[support]
    for _ in range(2):
        moved = moved - np.linalg.lstsq(columns[rows], columns[rows] @ moved, rcond=None)[0]
    new = np.zeros_like(d)
    new[support] = moved
    inside = np.all((new >= 0.0) | problem.no_lower) and np.all((new <= 0.0) | problem.no_upper)
    q = columns @ moved
    noise = _SLACK * problem.prediction_error(new)
    if not inside or np.max(np.abs(new - d)) > _NEAR or np.any(np.abs(q[level]) > noise):
        return None
    return new, np.where(level, 0.0, q)


def _level(problem: ReducedProblem, d: Array, end: Array, moving: Mask) -> Recession | None:
    """What happens along a direction in which P is level in the long run.

    There f'(p_i) tends to the end of the domain of f*, in the rows that move. P has no lower bound if f*
    is infinite at that end, tends to one if f' never gets there, and is constant in the end otherwise.
    """
    if not moving.any():
        return None
    if not np.all(np.isfinite(problem.loss.conjugates(end, problem.target)[moving])):
        return Recession(d, Status.UNBOUNDED)
    return None if problem.loss.reaches_slopes else Recession(d, Status.NOT_ATTAINED)


def falling_cost(problem: Problem) -> Recession | None:
    """A coordinate whose column is 0 and whose cost falls where the box has no end, if there is one."""
    if problem.cost is None:
        return None
    c = problem.cost.c
    idle = problem.survey.norms == 0.0
    endless = (np.isposinf(problem.upper) & (c < 0.0)) | (np.isneginf(problem.lower) & (c > 0.0))
    found = np.flatnonzero(idle & endless)
    if not len(found):
        return None
    d = np.zeros(len(c))
    d[found[0]] = -np.sign(c[found[0]])
    return Recession(d, Status.UNBOUNDED)


def receding_answer(point: Point) -> Recession | None:
    """Whether the way from the bounds to x goes on for ever: then no minimum is attained."""
    problem = point.problem
    if not (problem.constrained.any() or problem.free.any()):
        return None
    origin = np.where(
        problem.no_lower, np.where(problem.no_upper, 0.0, problem.upper), problem.lower
    )
    unbounded = problem.no_lower | problem.no_upper
    way = np.where(unbounded, point.x - origin, 0.0)
    known = point.evaluated and np.array_equal(way, point.x)
    return recession(problem, way, point.prediction - problem.offset if known else None)
