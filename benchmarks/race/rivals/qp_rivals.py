"""General QP solvers on the normal equations ½ xᵀ(AᵀA)x - (Aᵀy)ᵀx, through qpsolvers."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..problem import Array, Problem
from .rival import Rival, Run

TOLERANCES: dict[str, tuple[float, ...]] = {
    "clarabel": (1e-8, 1e-9, 1e-10, 1e-11),
    "piqp": (1e-8, 1e-9, 1e-10, 1e-11),
    "daqp": (1e-10,),
    "osqp": (1e-5, 1e-7, 1e-9),
    "highs": (1e-7, 1e-10),
}


def _settings(name: str, tolerance: float) -> dict[str, Any]:
    choices: dict[str, dict[str, Any]] = {
        "clarabel": dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance),
        "piqp": {"eps_abs": tolerance, "eps_rel": tolerance, "max_iter": 1000},
        "daqp": {"primal_tol": tolerance, "dual_tol": 1e-12, "iter_limit": 100_000},
        "osqp": {"eps_abs": tolerance, "eps_rel": tolerance, "polishing": True, "max_iter": 50_000},
        "highs": {
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            "threads": 1,
        },
    }
    return choices[name]


LARGEST = {"clarabel": 1000, "piqp": 2000, "daqp": 2000, "osqp": 1000, "highs": 1000}
"""n up to which a dense n×n Gram matrix is a sensible thing to hand to the solver."""
TAKES_SPARSE = ("clarabel", "osqp", "highs")


def _prepare(name: str, problem: Problem, tolerance: float) -> Run:
    """The Gram matrix is part of the method, so it is on the clock."""
    from qpsolvers import solve_qp

    A, y = problem.A, problem.y
    lower, upper = problem.bounds
    settings = _settings(name, tolerance)

    def run() -> Array:
        gram = A.T @ A
        if problem.is_sparse and name not in TAKES_SPARSE:
            gram = gram.toarray()
        elif name in TAKES_SPARSE:
            gram = sparse.csc_matrix(gram)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = solve_qp(gram, -(A.T @ y), lb=lower, ub=upper, solver=name, **settings)
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
        "normal equations, Gram matrix on the clock" + (", polishing" if name == "osqp" else ""),
        partial(_prepare, name),
        partial(_refuses, name),
        tolerances=TOLERANCES[name],
        place="apart" if name in ("clarabel", "highs") else "here",
    )
    for name in TOLERANCES
)
