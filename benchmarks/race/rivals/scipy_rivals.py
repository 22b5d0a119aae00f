"""SciPy: Lawson-Hanson, bounded-variable least squares, trust-region reflective."""

from __future__ import annotations

from typing import Literal

from ..problem import Problem
from .rival import Rival, Run, dense_nnls_only, takes_all


def _nnls(problem: Problem) -> Run:
    from scipy.optimize import nnls

    A = problem.dense("C")  # it copies any other order
    return lambda: nnls(A, problem.y)[0]


def _lsq_linear(problem: Problem, method: Literal["bvls", "trf"]) -> Run:
    from scipy.optimize import lsq_linear

    A = problem.A if method == "trf" else problem.dense("F")
    bounds = (problem.lower, problem.upper)
    return lambda: lsq_linear(A, problem.y, bounds, method=method, tol=1e-12).x


def _dense_only(problem: Problem) -> str | None:
    return problem.too_large_to_densify()


SCIPY = (
    Rival("scipy.nnls", "scipy", "scipy", "C order", _nnls, dense_nnls_only),
    Rival(
        "scipy.bvls",
        "scipy",
        "scipy",
        "lsq_linear, tol 1e-12",
        lambda problem: _lsq_linear(problem, "bvls"),
        _dense_only,
    ),
    Rival(
        "scipy.trf",
        "scipy",
        "scipy",
        "lsq_linear, tol 1e-12; A stays sparse",
        lambda problem: _lsq_linear(problem, "trf"),
        takes_all,
    ),
)
