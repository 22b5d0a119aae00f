"""scikit-learn: coordinate descent for the non-negative Lasso."""

from __future__ import annotations

import warnings

from scipy import sparse

from ..functions import Array
from ..problem import LossProblem
from .contestant import Contestant, Run


def _lasso(problem: LossProblem, tolerance: float) -> Run:
    from sklearn.linear_model import Lasso

    A = sparse.csc_matrix(problem.A) if problem.is_sparse else problem.A
    model = Lasso(
        alpha=problem.linear / len(problem.y),
        positive=True,
        fit_intercept=False,
        tol=tolerance,
        max_iter=100_000,
    )

    def run() -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x: Array = model.fit(A, problem.y).coef_
            return x

    return run


def _refuses(problem: LossProblem) -> str | None:
    if problem.function.name == "least_squares" and problem.linear > 0.0:
        return None
    return "the non-negative Lasso only"


SKLEARN = (
    Contestant(
        "sklearn.Lasso",
        "scikit-learn",
        "Lasso(positive=True), tol hunted",
        _lasso,
        _refuses,
        tuple(10.0**-k for k in range(4, 13)),
    ),
)
