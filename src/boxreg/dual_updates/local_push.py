"""The way into the dual cone from a residual that is nearly in it."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr

from ..arrays import Array, Index
from ..dual_cone import excess_over_cone, interior_slope
from ..duality import DualPoint
from ..point import Point
from ..reduced import ReducedProblem

_NEARLY = 1e-6
"""A residual is nearly feasible if no a_jᵀrho exceeds this share of ||a_j|| ||rho||."""


def local_push(point: Point) -> DualPoint | None:
    """rho + ε t, where t leads into the half-spaces that rho has not left, if that is feasible.

    At a solution a_jᵀrho is 0 for the columns F inside their bounds and, as a rule, well below 0 for
    the others. So a t with a_jᵀt = -||a_j|| for j in F alone will do, however the other columns lie:
    ε is of the size of the rounding error, and what it costs the others they have to spare. Needs the
    columns of F and one product, where a direction inside the whole cone is a problem of its own.
    """
    problem = point.problem
    rho = DualPoint.residual(point)
    excess = np.where(problem.unbounded, excess_over_cone(rho, problem), -1.0)
    support = np.flatnonzero(excess > 0.0)
    if not len(support):
        return rho
    far = np.any(excess[support] > _NEARLY * point.residual_norm * problem.norms[support])
    if far or len(support) > len(problem.target) or not problem.design.has_columns:
        return None
    t = DualPoint.at(_downhill(problem, support), problem)
    slope = interior_slope(t, problem)[support]
    if np.any(slope <= 0.0):
        return None
    pushed = rho.plus(float(np.max(excess[support] / slope)), t)
    inside = pushed.correlation + pushed.error * problem.norms <= 0.0
    return pushed if np.all(inside | ~problem.unbounded) else None


def _downhill(problem: ReducedProblem, support: Index) -> Array:
    """The t of least norm with a_jᵀt = -||a_j|| for j in the support, to a few digits."""
    columns, norms = problem.design.keep(support), problem.norms[support]
    steps = 0

    def products(t: Array) -> Array:
        nonlocal steps
        steps += 1
        return columns.rmatvec(np.ravel(t)) / norms

    operator = LinearOperator(
        (len(support), len(problem.target)),
        matvec=products,
        rmatvec=lambda v: columns.matvec(np.ravel(v) / norms),
        dtype=np.float64,
    )
    t = lsmr(operator, -np.ones(len(support)), atol=1e-2, btol=1e-2, maxiter=100)[0]
    problem.work.add(2 * steps * len(support))
    return np.asarray(t)
