"""Work with and without screening, for every loss and every solver that fits it.

Three ways, as in `benchmarks.ratios`: the plain algorithm; the same with screening, its iterates its
own; and as `solve` does it by default, with acceleration and polished points taken up. Only the first
two differ by screening alone. The default solvers have no plain form: theirs are two ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.race.real_data import Absent
from benchmarks.ratios import ways
from boxreg.history import Snapshot

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


def _begun(seen: Snapshot) -> bool:
    return seen.iteration > 0


def _ways(solver: str) -> dict[str, dict[str, Any]]:
    """The arguments of `solve`, by the name of the way."""
    if solver == "auto":
        return {"plain": {"screening": False}, "screened": {}}
    return {way: {**held, "max_iter": LIMIT} for way, held in ways(solver).items()}


def _row(problem: LossProblem, solver: str) -> dict[str, Any] | None:
    """None where the solver does not take the loss."""
    found = {}
    for way, held in _ways(solver).items():
        try:
            solved(problem, tol=TOLERANCE, callback=_begun, **held)  # compile
        except ValueError:  # says which solvers fit
            return None
        found[way] = solved(problem, tol=TOLERANCE, **held)
    last = found["screened"]
    return {
        "solver": last.settings["solver"],
        "work": {way: result.work for way, result in found.items()},
        "seconds": {way: result.seconds for way, result in found.items()},
        "finished": {way: bool(result.success) for way, result in found.items()},
        "screened": last.screening_ratio,
        "verified": all(
            proved(problem, result.x, result.theta) <= 1.01 * result.gap
            for result in found.values()
        ),
    }
