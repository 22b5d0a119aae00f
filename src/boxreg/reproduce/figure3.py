"""Figure 3: screening with the oracle dual point, and what dual updates close of the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ..api import solve
from ..arrays import Array
from ..dual_updates import Oracle, SupportPolish
from ..workloads import bvls_table2, nnls_table1
from .case import Case
from .comparison import NOTE, Comparison, columns, ratio_of, rows, solver_title
from .curves import convergence
from .paper import SPEEDUPS
from .scale import Scale
from .section import Column, Drawing, Section, Table
from .store import Cell, Figures
from .theme import Theme
from .ways import Arguments, Way, baseline, ours, paper, paper_solver, start

if TYPE_CHECKING:
    from matplotlib.figure import Figure

name = "figure3"
_SOLVERS = ("coordinate_descent", "chambolle_pock")


@lru_cache(maxsize=1)
def _theta(case: Case) -> Array:
    """The dual solution, to a relative gap of 1e-12; off every clock."""
    return solve(*case.data, tol=1e-12).theta


def _way(solver: str, key: str, label: str, **changed: object) -> Way:
    """The paper's method with another dual point."""

    def arguments(case: Case) -> Arguments:
        held: Arguments = {
            "solver": paper_solver(solver, case),
            "region": "gap_sphere",
            **start(solver, case),
            **changed,
        }
        if held.get("dual") == "oracle":
            held["dual"] = Oracle(_theta(case))
        if not case.bounded:
            held["direction"] = "ones"
        return held

    return Way(key, label, arguments, share=0.15)


def _ways(solver: str) -> list[Way]:
    polish = SupportPolish(adopt=False)
    return [
        baseline(solver),
        paper(solver),
        _way(solver, "oracle", "oracle dual point", dual="oracle"),
        _way(solver, "search", "line search", dual="line_search"),
        _way(solver, "polish", "support polish", dual=polish),
        ours(solver),
        _way(
            solver, "oracle_ball", "oracle, two-point ball", dual="oracle", region="two_point_ball"
        ),
    ]


@lru_cache(maxsize=1)
def _case(solver: str, m: int, n: int) -> Case:
    draw = nnls_table1 if solver == "coordinate_descent" else bvls_table2
    return Case.of(draw(n, m=m))


def _comparison(scale: Scale, solver: str) -> Comparison:
    nnls = solver == "coordinate_descent"
    m, n = scale.figure3_nnls if nnls else scale.figure3_bvls
    return Comparison(
        key=f"{name}-{m}x{n}-{solver}",
        draw=partial(_case, solver, m, n),
        settings={"workload": name, "variant": "coded", "m": m, "n": n, "solver": solver},
        ways=_ways(solver),
        expected=3000 * m * n * 0.6e-9,
        policy=scale.policy,
    )


def cells(scale: Scale) -> list[Cell]:
    """Both problems, every dual point."""
    return [cell for solver in _SOLVERS for cell in _comparison(scale, solver).cells()]


def section(scale: Scale, held: Mapping[str, Figures]) -> Section:
    """A table for each problem, and gap and screening ratio against time."""
    tables = [_table(scale, held, solver) for solver in _SOLVERS]
    text = [
        "Data as coded. The oracle dual point is the dual solution itself, known beforehand: how far "
        "better dual points could take screening. The dual updates that are compared with it use the "
        "same algorithm, region and checks; 'ours' changes those too.",
        "Way closed: where the logarithm of the work lies between that of the paper's screening (0) and "
        "that with the oracle (1). Above 1 is better than the oracle with the paper's region.",
    ]
    drawing = Drawing(name, "Gap and screening ratio against time.", partial(_draw, scale, held))
    title = "Figure 3: the oracle dual point"
    return Section(name, title, text, tables, [drawing])


def _table(scale: Scale, held: Mapping[str, Figures], solver: str) -> Table:
    one = _comparison(scale, solver)
    m, n = one.settings["m"], one.settings["n"]
    found = rows([one], held, {})
    for row, way in zip(found, one.ways, strict=True):
        row["closed"] = _closed(held, one, way)
        row["paper_faster"] = SPEEDUPS["oracle", solver].speedup if way.key == "oracle" else None
    problem = "NNLS" if solver == "coordinate_descent" else "BVLS"
    shown = [*columns(faster=True), Column("closed", "way closed", "share")]
    return Table(f"{problem}, {solver_title(solver)}, {m} × {n}", shown, found, NOTE)


def _closed(held: Mapping[str, Figures], one: Comparison, way: Way) -> float | None:
    """Where the work lies between the paper's screening and the oracle, on a log scale."""
    keys = {w.key: w for w in one.ways}
    if way.key in ("baseline", "paper", "oracle", "oracle_ball"):
        return None
    ends = [ratio_of(held, one, keys[key], "work") for key in ("paper", "oracle")]
    here = ratio_of(held, one, way, "work")
    low, high = ends
    if low is None or high is None or here is None or not high > low:
        return None
    return float(np.log(here / low) / np.log(high / low))


def _draw(scale: Scale, held: Mapping[str, Figures], theme: Theme) -> Figure:
    problems = {}
    for solver in _SOLVERS:
        one = _comparison(scale, solver)
        problem = "NNLS" if solver == "coordinate_descent" else "BVLS"
        shown = [way for way in one.ways if way.key not in ("search", "oracle_ball")]
        problems[f"{problem}, {solver_title(solver)}"] = {
            way.label: one.found(held, way) for way in shown
        }
    return convergence(theme, problems)
