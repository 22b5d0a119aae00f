"""The way into the dual cone from a residual that is nearly in it."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr

from ..arrays import Array, Index
from ..dual_cone import balanced, excess_over_cone, interior_slope
from ..duality import DualPoint
from ..point import Point

_NEARLY = 1e-6
"""A residual is nearly feasible if no a_jᵀrho exceeds this share of ||a_j|| ||rho||."""

_NEARLY_ELSEWHERE = 1e-3
"""The same where no other way into the dual feasible set may be known."""

_AMPLE = 2.0
"""The step is this much longer than needed: taking it adds rounding errors of its own."""


def local_push(point: Point) -> DualPoint | None:
    """rho + ε t, where t leads into the half-spaces that rho has not left, if that is feasible.

    At a solution a_jᵀrho is 0 for the columns F inside their bounds and, as a rule, well below 0 for
    the others. So a t with a_jᵀt = -||a_j|| for j in F alone will do, however the other columns lie:
    ε is of the size of the rounding error, and what it costs the others they have to spare. Needs the
    columns of F and one product, where a direction inside the whole cone is a problem of its own.
    t = H A_F z with H = diag(f''(p)) moves a row little where f* has little room.
    """
    problem = point.problem
    rho = balanced(DualPoint.residual(point), point)
    excess = np.where(problem.constrained, excess_over_cone(rho, point), -1.0)
    support = np.flatnonzero(excess > 0.0)
    if not len(support):
        return rho
    nearly = _NEARLY if problem.loss.quadratic else _NEARLY_ELSEWHERE
    far = np.any(excess[support] > nearly * point.residual_norm * problem.norms[support])
    if far or len(support) > len(problem.target) or not problem.design.has_columns:
        return None
    t = DualPoint.direction(_downhill(point, support), problem)
    slope = interior_slope(t, problem)[support]
    if np.any(slope <= 0.0):
        return None
    pushed = rho.plus(_AMPLE * float(np.max(excess[support] / slope)), t)
    inside = excess_over_cone(pushed, point) <= 0.0
    return pushed if np.all(inside | ~problem.constrained) else None


def _downhill(point: Point, support: Index) -> Array:
    """t = H A_F z with ±a_jᵀt = -||a_j|| for j in the support, 0 for free columns, to a few digits."""
    problem = point.problem
    free = np.flatnonzero(problem.free)
    used = np.concatenate([support, free])
    wanted = np.concatenate([-problem.side[support], np.zeros(len(free))])
    columns, norms = problem.design.keep(used), problem.norms[used]
    root = np.sqrt(point.curvature)
    steps = 0

    def products(t: Array) -> Array:
        nonlocal steps
        steps += 1
        return np.asarray(columns.rmatvec(root * np.ravel(t)) / norms)

    operator = LinearOperator(
        (len(used), len(problem.target)),
        matvec=products,
        rmatvec=lambda v: root * columns.matvec(np.ravel(v) / norms),
        dtype=np.float64,
    )
    t: Array = np.asarray(lsmr(operator, wanted, atol=1e-2, btol=1e-2, maxiter=100)[0])
    problem.work.add(2 * steps * len(used))
    return np.asarray(root * t)
