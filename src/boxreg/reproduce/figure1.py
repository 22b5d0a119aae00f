"""Figure 1: speedup against the share of coordinates at a bound, ten sizes of the box."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ..workloads import bvls_figure1
from .case import Case
from .comparison import NOTE, Comparison, columns, ratio_of, rows
from .curves import speedups
from .paper_solvers import PatientGradient
from .scale import Scale
from .section import Column, Drawing, Section, Table
from .store import Cell, Figures
from .theme import Theme
from .ways import Arguments, Way, baseline, default, ours, paper, paper_dual, start

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SOLVER = "projected_gradient"
_RELAXATION = 1.0

name = "figure1"


def _patient(case: Case) -> Arguments:
    return {
        "solver": PatientGradient(_RELAXATION / case.squared_norm),
        "region": "two_point_ball",
        **paper_dual(_SOLVER, case),
        **start(_SOLVER, case),
    }


WAYS = (
    baseline(_SOLVER, _RELAXATION),
    paper(_SOLVER, _RELAXATION),
    Way("patient", "same steps, our checks and region", _patient, share=0.5),
    ours(_SOLVER),
    default(),
)


@lru_cache(maxsize=1)
def _case(m: int, n: int, box: float) -> Case:
    return Case.of(bvls_figure1(box, m=m, n=n))


def _comparison(scale: Scale, box: float) -> Comparison:
    m, n = scale.figure1
    return Comparison(
        key=f"{name}-{m}x{n}-b{box:.3g}",
        draw=partial(_case, m, n, box),
        settings={"workload": name, "variant": "coded", "m": m, "n": n, "box": box},
        ways=WAYS,
        expected=2000 * m * n * 0.6e-9,
        policy=scale.policy,
    )


def cells(scale: Scale) -> list[Cell]:
    """Every box, every way."""
    return [cell for box in scale.boxes for cell in _comparison(scale, box).cells()]


def section(scale: Scale, held: Mapping[str, Figures]) -> Section:
    """The table by box, and the figure."""
    found = []
    for box in scale.boxes:
        one = _comparison(scale, box)
        head = {"box": box, "saturation": _saturation(held, one)}
        found += rows([one], held, head)
    shown = [
        Column("box", "box b", "number"),
        Column("saturation", "saturation", "share"),
        *columns(),
    ]
    m, n = scale.figure1
    text = [
        f"A and y ~ N(0,1), unit columns, {m} × {n}, −b ≤ x ≤ b. Projected gradient with steps of "
        "1/‖A‖² from |N(0,1)|.",
        "In the paper speedup grows with the share of saturated coordinates and is below 1 under a "
        "critical one. 'Same steps, our checks and region' is the paper's algorithm step for step, "
        "checked less and less often: what checks cost fades where nothing can be screened.",
    ]
    drawing = Drawing(
        name,
        "Speedup over the baseline against the saturation ratio, by time and by work.",
        partial(_draw, scale, held),
    )
    title = "Figure 1: speedup against saturation"
    return Section(name, title, text, [Table("By size of the box", shown, found, NOTE)], [drawing])


def _saturation(held: Mapping[str, Figures], one: Comparison) -> float | None:
    """Of the default solver's solution, which is exact."""
    found = one.found(held, WAYS[-1])
    return None if found is None else float(found["saturation"])


def _draw(scale: Scale, held: Mapping[str, Figures], theme: Theme) -> Figure:
    problems = {}
    for title, measure in (("by time", "seconds"), ("by work", "work")):
        lines: dict[str, list[tuple[float, float | None]]] = {}
        for way in WAYS[1:]:
            ones = [_comparison(scale, box) for box in scale.boxes]
            points = [(_saturation(held, one), ratio_of(held, one, way, measure)) for one in ones]
            lines[way.label] = sorted((x, y) for x, y in points if x is not None)
        problems[title] = lines
    return speedups(theme, problems, "saturation ratio", "times better than the baseline")
