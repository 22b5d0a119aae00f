"""skglm: Anderson-accelerated coordinate descent on working sets."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from ..problem import Array, Problem
from .rival import Rival, Run, nnls_only


def _prepare(problem: Problem, tolerance: float) -> Run:
    """With a tolerance on the scale of the data: skglm's loss is divided by m."""
    steepest = float(np.max(np.abs(problem.A.T @ _shifted(problem))))
    return _prepared(problem, tolerance * steepest / problem.A.shape[0])


def _shifted(problem: Problem) -> Array:
    """Its box is [0, u]: x is shifted by the lower bound."""
    if not problem.lower:
        return problem.y
    y: Array = problem.y - problem.A @ np.full(problem.A.shape[1], problem.lower)
    return y


def _prepared(problem: Problem, tol: float) -> Run:
    from skglm.datafits import Quadratic
    from skglm.penalties import IndicatorBox, PositiveConstraint
    from skglm.solvers import AndersonCD

    A = sparse.csc_matrix(problem.A) if problem.is_sparse else problem.A
    y, n = _shifted(problem), A.shape[1]
    penalty = (
        PositiveConstraint() if problem.is_nnls else IndicatorBox(problem.upper - problem.lower)
    )
    solver = AndersonCD(
        tol=tol,
        # A box solved on less than all columns comes out wrong: its extrapolation forgets
        # coordinates at the upper bound that are outside the working set.
        p0=10 if problem.is_nnls else n,
        max_iter=200,
        fit_intercept=False,
    )

    def run() -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x: Array = solver.solve(A, y, Quadratic(), penalty)[0] + problem.lower
            return x

    return run


def _refuses(problem: Problem) -> str | None:
    if problem.is_nnls or np.isfinite(problem.upper):
        return None
    return "x >= 0 or a finite box only"


SKGLM = (
    Rival(
        "skglm",
        "skglm",
        "skglm",
        "AndersonCD, PositiveConstraint or IndicatorBox, tol relative to max Aᵀy / m; boxes with all "
        "columns in the working set",
        _prepare,
        _refuses,
        tolerances=(1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10),
    ),
    Rival(
        "skglm.fixed",
        "skglm",
        "skglm",
        "AndersonCD, PositiveConstraint, tol=1e-9 whatever the data, as somebody would call it who "
        "cannot look up beforehand which tol gives the gap",
        _prepared,
        nnls_only,
        tolerances=(1e-9,),
    ),
)
