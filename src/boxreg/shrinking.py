"""The way into the dual feasible set row by row, where A >= 0."""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .duality import DualPoint
from .point import Point
from .reduced import ReducedProblem
from .rounding import MARGIN, UNIT_ROUNDOFF
from .settings import current

_ROUNDS = 4
"""How often rows are shrunk again for what rounding has left."""

_BEYOND = 1.0 + 1e-6
"""Columns are brought so much farther than to where their sign is proved."""

_CHANGE = 8.0 * UNIT_ROUNDOFF
"""The least share of an entry that is taken off."""

_SORTING = 100.0
"""What sorting a column takes, in products with it: 80 with a million rows, more calls with few."""


def shrunk(dual: DualPoint, point: Point) -> DualPoint | None:
    """theta with some positive entries made smaller until w_j <= 0 is proved; None if that fails.

    Where A >= 0 this takes no column farther from its half-space, and theta stays in the domain of f*
    if 0 is in it. For a column beyond its half-space by e_j

        theta_i ← theta_i (1 - min(1, λ_j a_ij)),    sum_i a_ij theta_i⁺ min(1, λ_j a_ij) = e_j,

    the change that costs least in the metric diag(theta⁺), but for the rows that it takes to 0. A row
    in several such columns is shrunk by the most that one of them asks for. Columns with next to
    nothing in the rows where theta < 0 take their other rows to 0, or nearly: a step towards an anchor
    would take all rows there. What is left of a_jᵀtheta may be far below γ ||a_j|| ||theta||, so that
    signs are proved with errors entry by entry.
    """
    problem = point.problem
    if not (_fits(problem) and np.all(np.isfinite(dual.theta))):
        return None
    columns = np.flatnonzero(problem.constrained & (problem.norms > 0.0))
    for _ in range(_ROUNDS):
        dual = DualPoint.at(dual.theta, problem).entry_by_entry(columns, problem)
        excess = dual.correlation + MARGIN * dual.uncertainty(problem)
        beyond = columns[excess[columns] > 0.0]
        if not len(beyond):
            return dual
        theta = np.maximum(dual.theta, 0.0)
        left = np.ones_like(theta)
        problem.work.charge(_SORTING * len(beyond))
        width = max(1, current().magnitude_elements // len(theta))
        for start in range(0, len(beyond), width):
            if problem.work.over:
                return None
            some = beyond[start : start + width]
            for a, e in zip(problem.design.columns(some).T, excess[some], strict=True):
                left = np.minimum(left, 1.0 - _taken(a, theta, float(e)))
        dual = DualPoint.at(np.where(dual.theta > 0.0, dual.theta * left, dual.theta), problem)
    return None


def _fits(problem: ReducedProblem) -> bool:
    """Whether A >= 0 can be read, w_j <= 0 is all that is asked, and 0 is in dom f*."""
    design = problem.design
    if not (design.nonnegative and design.entries_known) or problem.equality is not None:
        return False
    low, high = problem.loss.dual_domain(problem.target)
    return bool(np.all(problem.side >= 0.0) and np.all((low <= 0.0) & (high >= 0.0)))


def _taken(a: Array, theta: Array, excess: float) -> Array:
    """min(1, λ a_i) with sum_i a_i theta_i min(1, λ a_i) = excess, or a little more: at least what a
    float64 theta_i can change by, in rows that have a part in it. All of it where that is not enough."""
    rows = np.flatnonzero((a > 0.0) & (theta > 0.0))
    rows = rows[np.argsort(-a[rows])]
    taken = np.zeros_like(theta)
    if not len(rows):
        return taken
    wanted = _BEYOND * excess / a[rows[0]]
    size = a[rows] / a[rows[0]]
    load = size * theta[rows]
    whole = np.cumsum(load)  # of the rows taken to 0, from the largest entry on
    enough = int(np.searchsorted(whole, wanted))
    before = np.concatenate([[0.0], whole[:enough]])[: len(rows)]
    rest = np.cumsum((load * size)[::-1])[::-1][: len(before)]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        share = (wanted - before) / rest
        fits = np.flatnonzero(share * size[: len(before)] <= 1.0)
        last = 1.0 / size[min(enough, len(size) - 1)]
        least = _CHANGE * (size > 0.0)
        part = np.maximum((share[fits[0]] if len(fits) else last) * size, least)
    taken[rows] = np.minimum(part, 1.0) if enough < len(rows) else 1.0
    return taken
