"""boxreg's functions as a user calls them, with no options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.race.problem import Array
from benchmarks.race.rivals import Rival, Run
from benchmarks.race.rivals.rival import exact

from ..problem import WildProblem


def _bound(values: Array) -> Any:
    """One number where all are the same, as a user writes it."""
    return float(values[0]) if np.all(values == values[0]) else values


def _call(name: str, problem: WildProblem) -> Run:
    """`solve` or `solve_many` with what the problem has."""
    import boxreg
    from boxreg.losses import Huber, KullbackLeibler

    function: Any = problem.function
    loss: Any = problem.loss
    if loss == "huber":
        loss = Huber(function.delta)
    elif loss == "kullback_leibler":
        loss = KullbackLeibler(function.background)
    terms: dict[str, Any] = {} if loss == "least_squares" else {"loss": loss}
    if problem.weights is not None:
        terms["sample_weight"] = problem.weights
    if problem.linear is not None:
        terms["linear"] = problem.linear
    if problem.ridge:
        terms["ridge"] = problem.ridge
    bounds = (_bound(problem.lower), _bound(problem.upper))
    called = getattr(boxreg, name)
    return lambda: called(problem.A, problem.Y, *bounds, **terms)


def _nnls(problem: WildProblem) -> Run:
    import boxreg

    return lambda: boxreg.nnls(problem.A, problem.Y)


def _lsq_linear(problem: WildProblem) -> Run:
    import boxreg

    bounds = (_bound(problem.lower), _bound(problem.upper))
    return lambda: boxreg.lsq_linear(problem.A, problem.Y, bounds)


def _result(found: Any) -> tuple[Array, dict[str, Any]]:
    return found.x, {"gaps": [float(found.gap)], "ended": found.status.name}


def _batch(found: Any) -> tuple[Array, dict[str, Any]]:
    from boxreg import RhsStatus

    ends = sorted({RhsStatus(code).name for code in np.ravel(found.status)})
    return found.x, {"gaps": [float(gap) for gap in np.ravel(found.gap)], "ended": ", ".join(ends)}


def _pair(found: Any) -> tuple[Array, dict[str, Any]]:
    return found[0], {}


def _fit(found: Any) -> tuple[Array, dict[str, Any]]:
    return found.x, {"gaps": [float(found.gap)], "ended": f"status {found.status}"}


def _one(problem: WildProblem) -> str | None:
    return None if problem.count == 1 else "solve_many is for several right-hand sides"


def _several(problem: WildProblem) -> str | None:
    return None if problem.count > 1 else "one right-hand side"


def _plain_nnls(problem: WildProblem) -> str | None:
    return _one(problem) or (None if problem.is_nnls else "plain non-negative least squares only")


def _bounded(problem: WildProblem) -> str | None:
    return _one(problem) or (None if problem.bounded_fit else "not called on this seed")


def _ours(
    name: str,
    prepare: Callable[[WildProblem], Run],
    refuses: Callable[[WildProblem], str | None],
    read: Callable[[Any], tuple[Array, dict[str, Any]]],
) -> Rival:
    return Rival(
        f"boxreg.{name}", "boxreg", "boxreg", "no options", exact(prepare), refuses, read=read
    )


OURS = (
    _ours("solve", partial(_call, "solve"), _one, _result),
    _ours("solve_many", partial(_call, "solve_many"), _several, _batch),
    _ours("nnls", _nnls, _plain_nnls, _pair),
    _ours("lsq_linear", _lsq_linear, _bounded, _fit),
)
