"""scikit-learn: positive linear regression (SciPy's nnls inside) and the positive Lasso."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from ..problem import Array, Problem
from .rival import Rival, Run, dense_nnls_only, exact, nnls_only

PENALTY = 1e-11
"""Of the penalty at which the answer is 0: as near to none as the Lasso takes."""


def _linear(problem: Problem) -> Run:
    from sklearn.linear_model import LinearRegression

    A = problem.dense("C")
    model = LinearRegression(positive=True, fit_intercept=False)
    return lambda: model.fit(A, problem.y).coef_


def _lasso(problem: Problem, tolerance: float) -> Run:
    from sklearn.linear_model import Lasso

    A = sparse.csc_matrix(problem.A) if problem.is_sparse else problem.A
    largest = float(np.max(A.T @ problem.y)) / A.shape[0]
    model = Lasso(
        PENALTY * largest, positive=True, fit_intercept=False, tol=tolerance, max_iter=1_000_000
    )

    def run() -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x: Array = model.fit(A, problem.y).coef_
            return x

    return run


SKLEARN = (
    Rival(
        "sklearn.LinearRegression",
        "sklearn",
        "scikit-learn",
        "positive, C order",
        exact(_linear),
        dense_nnls_only,
    ),
    Rival(
        "sklearn.Lasso",
        "sklearn",
        "scikit-learn",
        f"positive, alpha {PENALTY:g} of the largest",
        _lasso,
        nnls_only,
        tolerances=(1e-6, 1e-8, 1e-9, 1e-10),
        slow=True,
    ),
)
