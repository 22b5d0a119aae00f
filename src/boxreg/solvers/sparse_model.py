"""Least squares between bounds on a sparse A, and models of other losses: one compiled call each."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..designs import SparseDesign
from ..designs.epochs import Descent
from ..point import Point
from ..problem import Problem
from ..reduced import ReducedProblem
from ..settings import current
from .without_gram import exact_cost

_SLACKS = 0.5
"""Slacks may take so many times the products that other problems may: where many rows are cut off, as in
a box that is too small for the data, models come to the solution sooner."""


def usable(problem: Problem | ReducedProblem) -> bool:
    """Whether A is stored by columns, few entries each, and settings allow it."""
    return problem.design.descends and current().descent_products > 0.0


def minimised(
    point: Point, gap: float, h: Array | None = None, allowed: float | None = None
) -> tuple[Point, bool]:
    """Where sweeps and conjugate gradients lead from the point, and whether to the gap asked for.

    With h, the minimum of the model with f'' = h at the point: of squares around p + rho / h. They are
    given up when they have cost `allowed` products with A, or where nothing is said `descent_products`,
    or twice as much as an exact solution if that is more.
    """
    problem, stages = point.problem, (False,) if allowed is not None else (False, True)
    allowed = current().descent_products if allowed is None else allowed
    root = problem.smoothness.root_times(np.ones(len(problem.target))) if h is None else np.sqrt(h)
    plain = bool(np.all(root == 1.0))
    cost = np.zeros(len(point.x)) if problem.cost is None else problem.cost.c
    x, residual = point.x.copy(), point.residual / root
    terms = (problem.lower, problem.upper, cost, None if plain else root, gap)
    n, met = len(x), False
    for again in stages:
        if again:
            inside = int(np.count_nonzero((problem.lower < x) & (x < problem.upper)))
            allowed = 2.0 * exact_cost(problem, inside) / n - allowed
        if met or allowed <= 0.0 or problem.work.over:
            break
        done = problem.design.descend(Descent(x, residual, *terms, allowed))
        problem.work.add(done.products * n)
        met = done.met
    return Point(problem, x), met


def minimised_with_slacks(point: Point, gap: float) -> tuple[Point, bool]:
    """The same for a loss that is a square with its slope cut off, as Huber's and the squared hinge.

    With a and b the ends of the domain of f*, f(p) is the minimum of ½ (y - p - s + t)² - a s + b t over
    s >= 0 and t >= 0, s only where a is finite, t where b is. So the problem is one of least squares,
    with up to two more columns of one entry for each row, and theta = y - p - s + t is its residual.
    """
    problem = point.problem
    design = problem.design
    assert isinstance(design, SparseDesign)
    low, high = problem.loss.dual_domain(problem.target)
    least, most = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    m, n, rows = len(problem.target), len(point.x), np.concatenate([least, most])
    signs = np.concatenate([np.ones(len(least)), -np.ones(len(most))])
    slacks = sparse.csc_array((signs, rows, np.arange(len(rows) + 1)), shape=(m, len(rows)))
    root = problem.smoothness.root_times(np.ones(m))
    away = problem.target - point.prediction
    x = np.append(point.x, np.zeros(len(rows)))
    cost = np.zeros(n) if problem.cost is None else problem.cost.c
    asked = Descent(
        x,
        root * away,
        np.append(problem.lower, np.zeros(len(rows))),
        np.append(problem.upper, np.full(len(rows), np.inf)),
        np.concatenate([cost, -low[least], high[most]]),
        None if np.all(root == 1.0) else root,
        *(gap, _SLACKS * current().descent_products),
    )
    done = design.beside(slacks).descend(asked)
    problem.work.add(done.products * n)
    return Point(problem, x[:n].copy()), done.met
