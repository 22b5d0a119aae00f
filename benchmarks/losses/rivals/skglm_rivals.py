"""skglm: proximal Newton and Anderson-accelerated coordinate descent on working sets."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..functions import Array
from ..problem import LossProblem
from .contestant import Contestant, Run

HAS = ("logistic", "least_squares", "huber")


def _parts(problem: LossProblem) -> tuple[Any, Any]:
    from skglm import datafits, penalties

    function: Any = problem.function
    m = len(problem.y)  # its losses are means
    datafit = {
        "logistic": datafits.Logistic,
        "least_squares": datafits.Quadratic,
        "huber": lambda: datafits.Huber(function.delta),
    }[function.name]()
    if problem.linear:
        return datafit, penalties.L1(problem.linear / m, positive=True)
    if np.isfinite(problem.upper):
        return datafit, penalties.IndicatorBox(problem.upper)
    return datafit, penalties.PositiveConstraint()


def _prepare(solver_name: str, problem: LossProblem, tolerance: float) -> Run:
    from skglm import solvers

    A = sparse.csc_matrix(problem.A) if problem.is_sparse else problem.A
    m, n = A.shape
    datafit, penalty = _parts(problem)
    slope = problem.function.value_and_slope(np.zeros(m), problem.y)[1]
    # Its extrapolation forgets coordinates at an upper bound that are outside the working set.
    boxed = np.isfinite(problem.upper)
    iterations = {"max_iter": 200} if solver_name == "AndersonCD" else {"max_iter": 100}
    solver = getattr(solvers, solver_name)(
        tol=tolerance * float(np.max(np.abs(A.T @ slope))) / m,
        p0=n if boxed else 10,
        fit_intercept=False,
        **iterations,
    )

    def run() -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x: Array = solver.solve(A, problem.y, datafit, penalty)[0]
            return x

    return run


def _refuses(solver_name: str, problem: LossProblem) -> str | None:
    if problem.function.name not in HAS:
        return "has no such loss"
    if solver_name == "ProxNewton" and problem.function.name == "huber":
        return "its Huber loss has no second derivatives"
    return None


SKGLM = tuple(
    Contestant(
        f"skglm.{name}",
        "skglm",
        f"{name}, PositiveConstraint, IndicatorBox (all columns in the working set) or L1(positive), "
        "tol relative to max |Aᵀf'(0)| / m, hunted",
        partial(_prepare, name),
        partial(_refuses, name),
        (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10),
    )
    for name in ("ProxNewton", "AndersonCD")
)
