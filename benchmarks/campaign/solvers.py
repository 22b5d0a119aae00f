"""Who takes part in the campaign, and how each is asked."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from references.problems import BoxProblem

Array = NDArray[np.float64]
Solver = Callable[[BoxProblem], Array]


def is_nnls(problem: BoxProblem) -> bool:
    return not np.any(problem.lower) and bool(np.all(np.isinf(problem.upper)))


def ours(problem: BoxProblem) -> dict[str, Solver]:
    """boxreg's public functions, no options."""
    import boxreg

    found: dict[str, Solver] = {"boxreg.solve": lambda p: boxreg.solve(*p.data).x}
    if is_nnls(problem):
        found["boxreg.nnls"] = lambda p: boxreg.nnls(p.A, p.y)[0]
    return found


def others(problem: BoxProblem) -> dict[str, Solver]:
    """Those that take these bounds."""
    found: dict[str, Solver] = {"scipy.bvls": _bvls}
    if is_nnls(problem):
        found["scipy.nnls"] = _nnls
    if np.all(np.isfinite(problem.upper)) or np.all(np.isinf(problem.upper)):
        found["skglm"] = _skglm
    return found


def _nnls(problem: BoxProblem) -> Array:
    from scipy.optimize import nnls

    x: Array = nnls(np.asarray(problem.A, dtype=float), problem.y)[0]
    return x


def _bvls(problem: BoxProblem) -> Array:
    """It wants room between bounds: fixed coordinates are moved to the other side first."""
    from scipy.optimize import lsq_linear

    A, y = np.asarray(problem.A, dtype=float), np.asarray(problem.y, dtype=float)
    x = np.array(problem.lower, dtype=float)
    open_ = problem.lower < problem.upper
    if np.any(open_):
        rest = y - A[:, ~open_] @ x[~open_]
        bounds = (problem.lower[open_], problem.upper[open_])
        x[open_] = lsq_linear(A[:, open_], rest, bounds, method="bvls", tol=1e-15).x
    return x


def _skglm(problem: BoxProblem) -> Array:
    """Its sets are x >= 0 and [0, 1]: shift by the lower bounds, scale by the widths."""
    from skglm.datafits import Quadratic
    from skglm.penalties import IndicatorBox, PositiveConstraint
    from skglm.solvers import AndersonCD

    A = np.asfortranarray(problem.A, dtype=float)
    y = np.asarray(problem.y, dtype=float) - A @ problem.lower
    m, n = A.shape
    boxed = bool(np.all(np.isfinite(problem.upper)))
    width = problem.upper - problem.lower if boxed else np.ones(n)
    scaled = np.asfortranarray(A * width)
    tolerance = 1e-12 * float(np.max(np.abs(scaled.T @ y), initial=0.0)) / m
    solver = AndersonCD(
        tol=tolerance, p0=n if boxed else 10, max_iter=50, max_epochs=2000, fit_intercept=False
    )
    penalty: Any = IndicatorBox(1.0) if boxed else PositiveConstraint()
    z: Array = solver.solve(scaled, y, Quadratic(), penalty)[0]
    x: Array = problem.lower + width * z
    return x


def answer(solver: Solver, problem: BoxProblem) -> Array:
    """The answer as float64, whatever is said on the way."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(solver(problem), dtype=float)
