"""skglm: Anderson-accelerated coordinate descent on working sets."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from ..problem import Array, Problem
from .rival import Rival, Run


def _prepare(problem: Problem, tolerance: float) -> Run:
    from skglm.datafits import Quadratic
    from skglm.penalties import IndicatorBox, PositiveConstraint
    from skglm.solvers import AndersonCD

    A = sparse.csc_matrix(problem.A) if problem.is_sparse else problem.A
    m, n = A.shape
    # Its box is [0, u]: shift x by the lower bound.
    y = problem.y - A @ np.full(n, problem.lower) if problem.lower else problem.y
    penalty = (
        PositiveConstraint() if problem.is_nnls else IndicatorBox(problem.upper - problem.lower)
    )
    solver = AndersonCD(
        tol=tolerance * float(np.max(np.abs(A.T @ y))) / m,  # its loss is divided by m
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
)
