"""The way into the dual cone from a residual that is nearly in it."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr

from ..arrays import Array, Index
from ..dual_cone import balanced, excess_over_cone
from ..duality import DualPoint
from ..point import Point

_NEARLY = 1e-6
"""A residual is nearly feasible if no a_jᵀrho exceeds this share of ||a_j|| ||rho||."""

_NEARLY_ELSEWHERE = 1e-3
"""The same where no other way into the dual feasible set may be known."""

_MARGIN = 0.2
"""Columns are pushed farther than needed by this share of the largest excess: t is known to a few
digits only, and taking a step adds rounding errors of its own."""

_PUSHES = 4
"""A push may lead out of half-spaces that rho is barely inside: those join the next push."""


def local_push(point: Point) -> DualPoint | None:
    """rho + t, where t leads into the half-spaces that rho has not left, if that is feasible.

    At a solution a_jᵀrho is 0 for the columns F inside their bounds and, as a rule, well below 0 for
    the others. So a t that takes from each a_jᵀrho, j in F, what it has too much will do, however the
    other columns lie: it is of the size of the error of rho, and what it costs the others they have to
    spare. Those that have not are added to F, a few times. Needs the columns of F and one product each
    time, where a direction inside the whole cone is a problem of its own. t = H A_F z with
    H = diag(f''(p)) moves a row little where f* has little room, as a Newton step of the dual does.
    """
    problem = point.problem
    pushed = balanced(DualPoint.residual(point), point)
    pushed_in = np.zeros(len(point.x), dtype=bool)
    nearly = _NEARLY if problem.loss.quadratic else _NEARLY_ELSEWHERE
    for push in range(_PUSHES + 1):
        excess = np.where(problem.constrained, excess_over_cone(pushed, point), -1.0)
        outside = excess > 0.0
        if not outside.any():
            return pushed
        far = np.any(excess[outside] > nearly * point.residual_norm * problem.norms[outside])
        pushed_in |= outside
        support = np.flatnonzero(pushed_in)
        crowded = len(support) > len(problem.target) or not problem.design.has_columns
        if far or crowded or push == _PUSHES:
            return None
        share = np.where(outside, excess, 0.0)[support] / problem.norms[support]
        wanted = share + _MARGIN * float(np.max(share)) * (share > 0.0)
        t = _downhill(point, support, wanted)
        pushed = pushed.plus(1.0, DualPoint.direction(t, problem))
    return None


def _downhill(point: Point, support: Index, amount: Array) -> Array:
    """t = H A_F z with ±a_jᵀt = -amount_j ||a_j|| for j in the support, 0 for free columns, to a few
    digits."""
    problem = point.problem
    free = np.flatnonzero(problem.free)
    used = np.concatenate([support, free])
    wanted = np.concatenate([-problem.side[support] * amount, np.zeros(len(free))])
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
