"""Work with and without screening, for every loss and every solver that fits it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import boxreg
from benchmarks.race.real_data import Absent

from . import data
from .functions import Huber, LogCosh, Logistic, SquaredHinge
from .problem import LossProblem
from .rivals.ours import proved, solved

TOLERANCE = 1e-6
LIMIT = 20_000
"""Steps: a solver that needs more has not finished, and the table says so."""

SOLVERS = ("auto", "coordinate_descent", "projected_gradient")

WORKLOADS: dict[str, Callable[[], list[LossProblem]]] = {
    "least squares, table 1, n = 1000": lambda: data.table1(1000),
    "Huber, n = 1000": lambda: data.outliers(Huber(0.2), 1000),
    "log-cosh, n = 1000": lambda: data.outliers(LogCosh(), 1000),
    "logistic, Gaussian": lambda: data.gaussian_labels(Logistic()),
    "squared hinge, Gaussian": lambda: data.gaussian_labels(SquaredHinge()),
    "Kullback–Leibler, NIPS": data.documents,
    "non-negative Lasso, n = 1000": lambda: data.lasso(1000, 0.05),
}


def rows(show: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """One row a workload and solver, as they are measured."""
    for name, draw in WORKLOADS.items():
        try:
            problem = draw()[0]
        except Absent:
            continue
        for solver in SOLVERS:
            show(f"screening off and on: {name}, {solver}")
            row = _row(problem, solver)
            if row is not None:
                yield {"workload": name, **row}


def _row(problem: LossProblem, solver: str) -> dict[str, Any] | None:
    """None where the solver does not take the loss."""
    limit = None if solver == "auto" else LIMIT
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
        for way in (False, True):
            try:
                found[way] = solved(
                    problem, tol=TOLERANCE, solver=solver, screening=way, max_iter=limit
                )
            except ValueError:  # says which solvers fit
                return None
    on, off = found[True], found[False]
    return {
        "solver": on.settings["solver"],
        "work_off": off.work,
        "work_on": on.work,
        "seconds_off": off.seconds,
        "seconds_on": on.seconds,
        "screened": on.screening_ratio,
        "finished_off": bool(off.success),
        "finished_on": bool(on.success),
        "verified": bool(proved(problem, on.x, on.theta) <= 1.01 * on.gap),
    }
