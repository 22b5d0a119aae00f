"""L-BFGS-B on a judged problem, for the time it takes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.optimize import minimize

from boxreg.losses import LOSSES
from references.judged import Judged


def lbfgsb_seconds(problem: Any, enough: float = np.inf) -> float | None:
    """Seconds that SciPy's L-BFGS-B takes; None where the problem is of another kind.

    It is stopped once it has taken `enough` of them.
    """
    if not isinstance(problem, Judged):
        return None
    A, y, loss = (
        np.asarray(problem.A, dtype=float),
        problem.y,
        LOSSES[problem.loss](**problem.parameters),
    )
    weights = problem.terms.get("sample_weight", np.ones(len(y)))
    weights = weights / weights.max()
    cost = problem.terms.get("linear", np.zeros(A.shape[1]))

    def value(x: Any) -> tuple[float, Any]:
        p = A @ x
        with np.errstate(all="ignore"):
            total = float(weights @ loss.values(p, y)) + float(cost @ x)
            return total, A.T @ (weights * loss.derivatives(p, y)) + cost

    def watch(_: Any) -> None:
        if time.perf_counter() - clock >= enough:
            raise StopIteration

    start = np.clip(np.zeros(A.shape[1]), problem.lower, problem.upper)
    clock = time.perf_counter()
    minimize(
        *(value, start),
        jac=True,
        method="L-BFGS-B",
        callback=watch,
        bounds=np.column_stack([problem.lower, problem.upper]),
        options={"maxiter": 15_000, "ftol": 1e-14},
    )
    return time.perf_counter() - clock
