"""boxreg's public functions, with no options."""

from __future__ import annotations

from ..problem import Problem
from .rival import Rival, Run, exact, nnls_only, takes_all


def _solve(problem: Problem) -> Run:
    import boxreg

    return lambda: boxreg.solve(problem.A, problem.y, problem.lower, problem.upper).x


def _nnls(problem: Problem) -> Run:
    import boxreg

    return lambda: boxreg.nnls(problem.A, problem.y)[0]


OURS = (
    Rival("boxreg.solve", "boxreg", "boxreg", "no options", exact(_solve), takes_all),
    Rival("boxreg.nnls", "boxreg", "boxreg", "no options", exact(_nnls), nnls_only),
)
