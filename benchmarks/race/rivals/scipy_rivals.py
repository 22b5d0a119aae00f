"""SciPy: Lawson-Hanson, bounded-variable least squares, trust-region reflective."""

from __future__ import annotations

from functools import partial
from typing import Literal

from ..problem import Problem
from .rival import Rival, Run, dense_nnls_only, exact, takes_all


def _nnls(problem: Problem) -> Run:
    from scipy.optimize import nnls

    A = problem.dense("C")  # it copies any other order
    return lambda: nnls(A, problem.y)[0]


def _lsq_linear(method: Literal["bvls", "trf"], problem: Problem, tolerance: float) -> Run:
    from scipy.optimize import lsq_linear

    A = problem.A if method == "trf" else problem.dense("F")
    bounds = (problem.lower, problem.upper)
    return lambda: lsq_linear(A, problem.y, bounds, method=method, tol=tolerance).x


def _dense_only(problem: Problem) -> str | None:
    return problem.too_large_to_densify()


SCIPY = (
    Rival("scipy.nnls", "scipy", "scipy", "C order", exact(_nnls), dense_nnls_only),
    Rival(
        "scipy.bvls",
        "scipy",
        "scipy",
        "lsq_linear, F order",
        partial(_lsq_linear, "bvls"),
        _dense_only,
        tolerances=(1e-10, 1e-12),
        slow=True,
    ),
    Rival(
        "scipy.trf",
        "scipy",
        "scipy",
        "lsq_linear; A stays sparse",
        partial(_lsq_linear, "trf"),
        takes_all,
        tolerances=(1e-10, 1e-12, 1e-14),
        slow=True,
    ),
)
