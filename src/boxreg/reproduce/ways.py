"""The ways to solve a problem that an experiment compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..solvers.base import PrimalSolver
from .case import Case
from .own_dual import OwnDual
from .paper_solvers import (
    FullResidualActiveSet,
    PaperActiveSet,
    PaperDescent,
    PaperGradient,
    PaperPrimalDual,
)

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """A column of a comparison: how `solve` is called.

    off_the_clock: seconds and work leave out the checks, which the algorithm has no use for.
    share: its cost over that of the baseline, roughly, for estimates of the time that is left.
    """

    key: str
    label: str
    arguments: Callable[[Case], Arguments]
    off_the_clock: bool = False
    share: float = 1.0


def paper_solver(name: str, case: Case, relaxation: float = 2.0) -> PrimalSolver[Any]:
    """A solver with the constants of the paper's code; projected gradient steps by relaxation/||A||²."""
    if name == "coordinate_descent":
        return PaperDescent()
    if name == "active_set":
        return PaperActiveSet()
    if name == "projected_gradient":
        return PaperGradient(relaxation / case.squared_norm)
    sigma = 0.01
    return PaperPrimalDual(sigma, 0.9 / (sigma * case.squared_norm))


def start(name: str, case: Case) -> Arguments:
    """Where the paper's code starts: all ones, |N(0,1)|, or 0."""
    n = case.A.shape[1]
    if name == "coordinate_descent":
        return {"x0": np.ones(n)}
    if name == "projected_gradient":
        return {"x0": np.abs(np.random.default_rng(1).standard_normal(n))}
    return {}


def paper_dual(name: str, case: Case) -> Arguments:
    """The paper's dual point: the residual, translated along -1 where there is no upper bound; for the
    primal-dual solver its own dual variable."""
    if not case.bounded:
        return {"dual": "translation", "direction": "ones"}
    return {"dual": OwnDual() if name == "chambolle_pock" else "residual"}


def baseline(name: str, relaxation: float = 2.0) -> Way:
    """The plain algorithm; its gap is computed off the clock."""

    def arguments(case: Case) -> Arguments:
        solver = paper_solver(name, case, relaxation)
        if name == "active_set":
            solver = FullResidualActiveSet()
        return {"solver": solver, "screening": False, **paper_dual(name, case), **start(name, case)}

    return Way("baseline", "baseline", arguments, off_the_clock=True)


def support_only() -> Way:
    """The active set's baseline with residuals from the support alone."""

    def arguments(case: Case) -> Arguments:
        return {"solver": PaperActiveSet(), "screening": False, **paper_dual("active_set", case)}

    return Way("support", "baseline, residual from the support", arguments, True, 0.6)


def paper(name: str, relaxation: float = 2.0) -> Way:
    """The plain algorithm with the paper's screening: gap sphere, a check every ten iterations."""

    def arguments(case: Case) -> Arguments:
        return {
            "solver": paper_solver(name, case, relaxation),
            "region": "gap_sphere",
            **paper_dual(name, case),
            **start(name, case),
        }

    return Way("paper", "paper's screening", arguments, share=0.25)


def ours(name: str) -> Way:
    """The same algorithm with the library's region, dual points, acceleration and times of checks."""
    return Way("ours", "ours", lambda case: {"solver": name, **start(name, case)}, share=0.04)


def default() -> Way:
    """What `solve` does when told nothing."""
    return Way("default", "default solver", lambda case: {}, share=0.01)


def four(name: str, relaxation: float = 2.0) -> list[Way]:
    """Baseline, the paper's screening, ours, the default solver (five for the active set)."""
    between = [support_only()] if name == "active_set" else []
    return [baseline(name, relaxation), *between, paper(name, relaxation), ours(name), default()]
