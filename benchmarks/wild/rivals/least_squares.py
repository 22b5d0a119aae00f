"""Solvers of least squares: those of the race, and SciPy's nnls wherever columns can be made to fit it.

Weights and a ridge term become factors of rows and rows, off the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.race.problem import Array
from benchmarks.race.rivals import RIVALS, Rival, Run

from ..problem import WildProblem

FROM_THE_RACE = ("scipy.bvls", "scipy.trf", "adelie", "sklearn.LinearRegression")
QP = ("qp.clarabel", "qp.piqp", "qp.daqp", "qp.osqp")


def each_column(runs: list[Run]) -> Run:
    """A loop over right-hand sides; the answers as columns."""
    if len(runs) == 1:
        return runs[0]
    return lambda: np.column_stack([run() for run in runs])


def _least_squares_only(problem: WildProblem) -> str | None:
    plain = problem.loss == "least_squares" and problem.linear is None
    return None if plain else "least squares without a linear cost only"


def _from_the_race(held: Rival, most: int | None = None) -> Rival:
    """A contestant of the race, called for one column after the other."""

    def prepare(problem: WildProblem, tolerance: float) -> Run:
        columns = range(problem.count)
        return each_column([held.prepare(problem.least_squares(j), tolerance) for j in columns])

    def refuses(problem: WildProblem) -> str | None:
        if most is not None and problem.count > most:
            return "one right-hand side only"
        return _least_squares_only(problem) or held.refuses(problem.least_squares())

    return replace(held, prepare=prepare, refuses=refuses, slow=False)


def _shifted(problem: WildProblem) -> tuple[Array, Array, Callable[[Array], Array]]:
    """(B, Z, back): x = back(z), z >= 0 the solution of ‖B z - Z‖; flips, shifts and splits columns."""
    plain = problem.least_squares()
    A = plain.dense("C")
    below, above = np.isfinite(problem.lower), np.isfinite(problem.upper)
    sign = np.where(above & ~below, -1.0, 1.0)
    origin = np.where(below, problem.lower, np.where(above, problem.upper, 0.0))
    free = np.flatnonzero(~below & ~above)
    B = np.ascontiguousarray(np.hstack([A * sign, -A[:, free]])) if len(free) else A * sign
    targets = [problem.least_squares(j).y - A @ origin for j in range(problem.count)]

    def back(z: Array) -> Array:
        x = z[: len(sign)].copy()
        x[free] -= z[len(sign) :]
        found: Array = origin + sign * x
        return found

    return B, np.column_stack(targets), back


def _nnls(problem: WildProblem, tolerance: float) -> Run:
    from scipy.optimize import nnls

    if problem.is_nnls:
        A, Y = problem.least_squares().dense("C"), problem.targets
        return each_column([lambda y=y: nnls(A, y)[0] for y in np.ascontiguousarray(Y.T)])
    B, Z, back = _shifted(problem)
    return each_column([lambda z=z: back(nnls(B, z)[0]) for z in np.ascontiguousarray(Z.T)])


def _no_two_sided(problem: WildProblem) -> str | None:
    if np.any(np.isfinite(problem.lower) & np.isfinite(problem.upper)):
        return "bounds on one side only"
    return _least_squares_only(problem) or problem.least_squares().too_large_to_densify()


def _settings(**changes: Any) -> Rival:
    return replace(RIVALS["scipy.nnls"], **changes)


LEAST_SQUARES = (
    _settings(
        settings="C order; columns with an upper bound flipped, free ones split, off the clock",
        prepare=_nnls,
        refuses=_no_two_sided,
    ),
    *(_from_the_race(RIVALS[name]) for name in FROM_THE_RACE[:2]),
    *(_from_the_race(RIVALS[name], most=1) for name in (*FROM_THE_RACE[2:], *QP)),
)
