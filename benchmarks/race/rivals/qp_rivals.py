"""General QP solvers on the normal equations ½ xᵀ(AᵀA)x - (Aᵀy)ᵀx, through qpsolvers."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..problem import Array, Problem
from .rival import Rival, Run

# Interior-point solvers end without an answer when asked for much less than 1e-9.
SETTINGS: dict[str, dict[str, Any]] = {
    "clarabel": {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9},
    "piqp": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 1000},
    "daqp": {"primal_tol": 1e-10, "dual_tol": 1e-12, "iter_limit": 100_000},
    "osqp": {"eps_abs": 1e-8, "eps_rel": 1e-8, "polishing": True, "max_iter": 50_000},
    "highs": {
        "primal_feasibility_tolerance": 1e-10,
        "dual_feasibility_tolerance": 1e-10,
        "threads": 1,
    },
}
LARGEST = {"clarabel": 1000, "piqp": 2000, "daqp": 2000, "osqp": 1000, "highs": 1000}
"""n up to which a dense n×n Gram matrix is a sensible thing to hand to the solver."""
TAKES_SPARSE = ("clarabel", "osqp", "highs")


def _prepare(name: str, problem: Problem) -> Run:
    """The Gram matrix is part of the method, so it is on the clock."""
    from qpsolvers import solve_qp

    A, y = problem.A, problem.y
    lower, upper = problem.bounds

    def run() -> Array:
        gram = A.T @ A
        if problem.is_sparse and name not in TAKES_SPARSE:
            gram = gram.toarray()
        elif name in TAKES_SPARSE:
            gram = sparse.csc_matrix(gram)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = solve_qp(gram, -(A.T @ y), lb=lower, ub=upper, solver=name, **SETTINGS[name])
        if x is None:
            raise ArithmeticError("the solver found no solution")
        return np.asarray(x, dtype=float)

    return run


def _refuses(name: str, problem: Problem) -> str | None:
    if problem.A.shape[1] > LARGEST[name]:
        return f"normal equations: n above {LARGEST[name]}"
    return None


QP = tuple(
    Rival(
        f"qp.{name}",
        "highspy" if name == "highs" else name,
        "highspy" if name == "highs" else name,
        "normal equations, " + ", ".join(f"{k} {v}" for k, v in SETTINGS[name].items()),
        partial(_prepare, name),
        partial(_refuses, name),
    )
    for name in SETTINGS
)
