"""boxreg, as a caller has it without naming a solver."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import boxreg
from boxreg.losses import Huber, KullbackLeibler

from ..functions import Array
from ..problem import LossProblem
from .contestant import Contestant, Run

ASKED = 1e-9


def arguments(problem: LossProblem) -> dict[str, Any]:
    """What `solve` and `verify` take beside A, y and the bounds."""
    function: Any = problem.function
    loss: Any = function.name
    if loss == "huber":
        loss = Huber(function.delta)
    elif loss == "kullback_leibler":
        loss = KullbackLeibler(function.background)
    linear = np.full(problem.A.shape[1], problem.linear) if problem.linear else None
    return {"loss": loss, "linear": linear}


def solved(problem: LossProblem, **options: Any) -> boxreg.Result:
    """`solve`, silent about a gap that is out of reach."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
        bounds = (problem.lower, problem.upper)
        return boxreg.solve(problem.A, problem.y, *bounds, **arguments(problem), **options)


def proved(problem: LossProblem, x: Array, theta: Array) -> float:
    """The gap that boxreg's verifier proves, rounding included; inf where it proves none."""
    bounds = (problem.lower, problem.upper)
    held = boxreg.verify(problem.A, problem.y, x, theta, *bounds, **arguments(problem))
    return float(held.gap) if held else np.inf


def _prepare(problem: LossProblem, tolerance: float) -> Run:
    return lambda: solved(problem, tol=tolerance).x


def _takes_all(problem: LossProblem) -> str | None:
    return None


OURS = (
    Contestant(
        "boxreg.solve",
        "boxreg",
        f"solve(A, y, 0, u, loss=…, tol={ASKED:g})",
        _prepare,
        _takes_all,
        (ASKED,),
        forks=False,
    ),
)
