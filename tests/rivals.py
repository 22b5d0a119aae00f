"""L-BFGS-B on a judged problem, for the time it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from boxreg.losses import LOSSES
from references.judged import Judged

_REACHED = 1e-8
"""A minimum is reached by what is no more than this share of the objective at the start above it."""


class Race(NamedTuple):
    """How L-BFGS-B did."""

    seconds: float
    reached: Callable[[], bool]
    """Whether it ended at the minimum; a function, as rational arithmetic takes its time."""


def lbfgsb(problem: Any, enough: float = np.inf) -> Race | None:
    """L-BFGS-B on a problem, stopped once it has taken `enough` seconds; None for other kinds."""
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
    found = minimize(
        *(value, start),
        jac=True,
        method="L-BFGS-B",
        callback=watch,
        bounds=np.column_stack([problem.lower, problem.upper]),
        options={"maxiter": 15_000, "ftol": 1e-14},
    )
    seconds = time.perf_counter() - clock

    def reached() -> bool:
        least = problem.optimum
        above = problem.objective(np.clip(found.x, problem.lower, problem.upper)) - least
        return bool(above <= Fraction(_REACHED) * (problem.objective(start) - least))

    return Race(seconds, reached)
