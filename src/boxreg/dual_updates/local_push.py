"""The way into the dual feasible set from a residual that is nearly in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr

from ..arrays import Array, Index
from ..designs.view import chosen
from ..dual_cone import balanced, excess_over_cone, interior_slope
from ..duality import DualPoint, duality_gap
from ..point import Point

_NEARLY = 1e-6
"""A residual is nearly feasible if no a_jᵀrho exceeds this share of ||a_j|| ||rho||."""

_NEARLY_ELSEWHERE = 1e-4
"""The same where no other way into the dual feasible set may be known."""

_ROUNDING = 1e-10
"""A residual that is off by no more than this share is pushed at once; others are polished first."""

_FINE = 1e-6
_SPARE = 2.0
"""How accurately a residual is polished, and how many times that it is brought to the safe side."""

_NEXT = 3.0
"""A column with no more than this many times the largest excess to spare is pushed with the others."""

_ROUNDS = 4
_TINY = 1e-300

_AMPLE = 2.0
"""The step is this much longer than needed: taking it adds rounding errors of its own."""


def local_push(point: Point, polished: DualPoint | None = None) -> DualPoint | None:
    """rho + ε t, where t leads into the half-spaces that rho has not left, if that is feasible.

    At a solution w_j is 0 for the columns F inside their bounds and, as a rule, well below 0 for
    the others. So a t with a_jᵀt = -||a_j|| for j in F alone will do, however the other columns lie:
    ε is of the size of the rounding error, and what it costs the others they have to spare. Columns that
    are pushed out all the same join F for another try. Needs the columns of F and one product, where a
    direction inside the whole cone is a problem of its own.

    Farther from the solution each w_j of F is brought to 0 by as much as it needs first: a uniform step
    would cost the gap x_j ε for every one of them. t = H A_F z with H = diag(f''(p)) moves a row little
    where f* has little room. A solver with a factor at hand may have `polished` it already.
    """
    problem = point.problem
    rho = balanced(DualPoint.residual(point), point)
    if polished is not None:
        excess = _excess(polished, point)
        if np.all(excess <= _ROUNDING * point.residual_norm * problem.norms):
            pushed = _pushed(point, polished)
            if pushed is not None and np.isfinite(duality_gap(point, pushed)):
                return pushed
    excess = _excess(rho, point)
    if not np.any(excess > 0.0):
        return rho
    share = float(np.max(excess / np.maximum(problem.norms, _TINY), initial=0.0)) / max(
        point.residual_norm, _TINY
    )
    nearly = _NEARLY if problem.loss.quadratic else _NEARLY_ELSEWHERE
    steady = bool(np.all(np.isfinite(point.curvature)))
    if share > nearly or not (steady and problem.design.has_columns):
        return None
    if share > _ROUNDING:
        rho = _polished(point, rho, excess)
    return _pushed(point, rho)


def _excess(dual: DualPoint, point: Point) -> Array:
    """How far beyond its half-space theta is, by column; negative where there is none."""
    return np.where(point.problem.constrained, excess_over_cone(dual, point), -1.0)


def _polished(point: Point, rho: DualPoint, excess: Array) -> DualPoint:
    """theta with w_j near 0 for the coordinates inside their bounds and for those that are beyond.

    On the right side of it by more than the equations are left unsolved: if no other column objects,
    nothing needs pushing any more.
    """
    problem = point.problem
    used = problem.constrained & (point.inside | (excess > 0.0))
    support = np.flatnonzero(used)
    if len(support) > len(problem.target):
        return rho
    wanted = excess[support] / problem.norms[support]
    spare = _SPARE * _FINE * float(np.linalg.norm(wanted))
    t = _combination(point, support, -(wanted + spare), _FINE)
    return DualPoint.at(rho.theta + t, problem)


def _pushed(point: Point, rho: DualPoint) -> DualPoint | None:
    """rho + ε t for the columns that rho is beyond or next to, and those that this pushes out."""
    problem = point.problem
    excess = _excess(rho, point)
    worst = float(np.max(excess / np.maximum(problem.norms, _TINY), initial=0.0))
    if worst <= 0.0:
        return rho
    support = np.flatnonzero(problem.constrained & (excess > -_NEXT * worst * problem.norms))
    for _ in range(_ROUNDS):
        if len(support) > len(problem.target):
            return None
        t = DualPoint.direction(_combination(point, support, -np.ones(len(support)), 1e-2), problem)
        slope = interior_slope(t, problem)[support]
        if np.any(slope <= 0.0):
            return None
        pushed = rho.plus(_AMPLE * max(float(np.max(excess[support] / slope)), 0.0), t)
        outside = _excess(pushed, point) > 0.0
        if not outside.any():
            return pushed
        support = np.union1d(support, np.flatnonzero(outside))
    return None


def _combination(point: Point, support: Index, wanted: Array, accuracy: float) -> Array:
    """t = H A_F z with ±a_jᵀt = wanted_j ||a_j|| in the support and 0 for equality columns, roughly."""
    problem = point.problem
    equal = np.flatnonzero(problem.equal)
    used = np.concatenate([support, equal])
    side = np.concatenate([problem.side[support] * wanted, np.zeros(len(equal))])
    columns, norms = chosen(problem.design, used), problem.norms[used]
    root = np.sqrt(point.curvature)
    steps = 0

    def products(t: Array) -> Array:
        nonlocal steps
        steps += 1
        return np.asarray(columns.rmatvec(root * np.ravel(t)) / norms)

    operator: Any = LinearOperator(
        (len(used), len(problem.target)),
        matvec=products,
        rmatvec=lambda v: root * columns.matvec(np.ravel(v) / norms),
        dtype=np.float64,
    )
    t: Array = np.asarray(lsmr(operator, side, atol=accuracy, btol=accuracy, maxiter=100)[0])
    problem.work.add(2 * steps * len(used))
    return np.asarray(root * t)
