"""scipy.optimize.minimize, L-BFGS-B."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.optimize import Bounds, minimize

from ..functions import Array
from ..problem import LossProblem
from .contestant import Contestant, Run

TOLERANCES = (*(10.0**-k for k in np.arange(7.0, 16.1, 0.5)), 0.0)


def _prepare(memory: int, problem: LossProblem, tolerance: float) -> Run:
    """P / P₀ and its gradient: two products with A and one pass over the rows an evaluation."""
    A = problem.A.tocsr() if problem.is_sparse else problem.A
    At = problem.A.T.tocsr() if problem.is_sparse else problem.A.T
    function, y, linear, scale = problem.function, problem.y, problem.linear, problem.scale()
    start = problem.start()
    bounds = Bounds(np.full(len(start), problem.lower), np.full(len(start), problem.upper))
    options = {
        "ftol": tolerance,
        "gtol": 0.0,
        "maxcor": memory,
        "maxiter": 100_000,
        "maxfun": 200_000,
    }

    def both(x: Array) -> tuple[float, Array]:
        value, slope = function.value_and_slope(A @ x, y)
        gradient = At @ slope
        if linear:
            value, gradient = value + linear * float(x.sum()), gradient + linear
        return value / scale, gradient / scale

    return lambda: (
        minimize(both, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    )


def _takes_all(problem: LossProblem) -> str | None:
    return None


LBFGSB = tuple(
    Contestant(
        name,
        "scipy",
        f"objective and gradient in NumPy, divided by P₀; maxcor {memory}, gtol 0, ftol hunted",
        partial(_prepare, memory),
        _takes_all,
        TOLERANCES,
    )
    for name, memory in (("L-BFGS-B", 10), ("L-BFGS-B/50", 50))
)
