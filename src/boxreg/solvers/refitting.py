"""Lawson and Hanson's method with a factor made anew at every step, for a few columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import qr, solve_triangular

from ..arrays import Array, Index, Mask
from ..budget import Budget
from ..point import Point
from ..reduced import ReducedProblem
from ..settings import current

_COST = 4.0
"""What a factor of k columns costs, in units of k² products."""


def affordable(problem: ReducedProblem, size: int) -> bool:
    """Whether so many columns are few enough; not with a linear cost, where a fit is another one."""
    operations = len(problem.target) * float(size) ** 3
    return problem.cost is None and operations <= current().refit_operations


def refitted(point: Point, used: Index, budget: Budget) -> Iterator[Point]:
    """Points from the bounds on, all coordinates but `used` held still.

    Where columns depend on each other up to 1e-10, x has entries of 1e10, and y - A x has lost the
    digits that gradients are made of. Here the residual is (1 - QQᵀ) y instead, Q from the columns of
    the free coordinates: as accurate as y, however large x is. Yields nothing where that is not
    affordable.
    """
    problem = point.problem
    if not affordable(problem, len(used)):
        return
    rest = point.x.copy()
    rest[used] = 0.0
    columns = problem.smoothness.root_times(problem.design.columns(used).T).T
    y = problem.smoothness.root_times(problem.target - Point(problem, rest).prediction)
    for x in _steps(columns, y, problem.lower[used], problem.upper[used]):
        problem.work.charge(_COST * len(used) ** 2)
        if budget.exhausted:
            return
        full = rest.copy()
        full[used] = x
        yield Point(problem, full)


def _steps(columns: Array, y: Array, lower: Array, upper: Array) -> Iterator[Array]:
    """The fits on the way; each frees the coordinate at a bound whose gradient is most wrong."""
    bottomless = np.isneginf(lower)
    free = bottomless & np.isposinf(upper)
    x = np.where(free, 0.0, np.where(bottomless, upper, lower))
    for _ in range(3 * len(x) + 10):
        moved, residual = _settled(columns, y, lower, upper, x, free)
        if moved is None:
            return
        x = moved
        yield x
        slopes = columns.T @ residual
        wrong = np.where(slopes > 0.0, x < upper, x > lower) & ~free & (slopes != 0.0)
        while wrong.any():
            j = int(np.argmax(np.where(wrong, np.abs(slopes), -1.0)))
            free[j] = True
            goal, _ = _fit(columns, y, x, free)
            if goal is not None and (goal[j] - x[j]) * slopes[j] > 0.0:
                break
            free[j] = wrong[j] = False
        if not wrong.any():
            return


def _settled(
    columns: Array, y: Array, lower: Array, upper: Array, x: Array, free: Mask
) -> tuple[Array | None, Array]:
    """The fit on the free coordinates, those that it would move out of the box bound one by one."""
    while True:
        goal, residual = _fit(columns, y, x, free)
        if goal is None or np.all((goal >= lower) & (goal <= upper)):
            return goal, residual
        step = goal - x
        bound = np.where(step > 0.0, upper, lower)
        out = free & ((goal < lower) | (goal > upper))
        share = np.where(out, (bound - x) / np.where(out, step, 1.0), np.inf)
        first = int(np.argmin(share))
        x = np.clip(x + min(max(share[first], 0.0), 1.0) * step, lower, upper)
        x[first] = bound[first]
        free[first] = False


def _fit(columns: Array, y: Array, x: Array, free: Mask) -> tuple[Array | None, Array]:
    """x with the least-squares fit in the free coordinates, and its residual; None if it has none."""
    target = y - columns[:, ~free] @ x[~free]
    if not free.any():
        return x, target
    if np.count_nonzero(free) > len(y):
        return None, target
    q, r = qr(columns[:, free], mode="economic")
    if not np.all(np.diagonal(r)):
        return None, target
    shares = q.T @ target
    goal = x.copy()
    goal[free] = solve_triangular(r, shares)
    residual = target - q @ shares
    return goal, residual - q @ (q.T @ residual)
