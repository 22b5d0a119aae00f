"""Beyond the paper: the same for the Kullback–Leibler divergence, on mutational signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np

from ..losses import LOSSES
from ..solvers import SOLVERS
from . import data
from .case import Case
from .real import RealFigure
from .scale import Scale
from .section import Section
from .store import Cell, Figures
from .ways import Way, default

name = "kullback_leibler"
LOSS = "kullback_leibler"


@lru_cache(maxsize=2)
def _tumour(j: int) -> Case:
    A, counts = data.signatures()
    return Case(f"tumour-{j}", A, counts[:, j], 0.0, np.inf, loss=LOSS)


def _tumours(scale: Scale) -> Mapping[str, Callable[[], Case]]:
    total = data.signatures()[1].shape[1]
    chosen = np.linspace(0, total - 1, scale.tumours + 2).astype(int)[1:-1]
    return {f"{j}": partial(_tumour, int(j)) for j in chosen}


def _ways(solver: str) -> list[Way]:
    """The plain algorithm, the same with the paper's region, ours, the default."""
    plain = SOLVERS[solver].plain

    def baseline(case: Case) -> dict[str, object]:
        return {"solver": plain(), "screening": False}

    def sphere(case: Case) -> dict[str, object]:
        return {"solver": plain(), "region": "gap_sphere", "dual": "line_search"}

    return [
        Way("baseline", "baseline", baseline, off_the_clock=True),
        Way("paper", "screening, gap sphere", sphere, share=0.5),
        Way("ours", "ours", lambda case: {"solver": solver}, share=0.3),
        default(),
    ]


def _solvers() -> tuple[str, ...]:
    """Those that take this loss."""
    candidates = ("coordinate_descent", "projected_gradient", "chambolle_pock")
    return tuple(s for s in candidates if LOSS in (SOLVERS[s].losses or (LOSS,)))


_EXPERIMENT = RealFigure(
    name=name,
    title="Beyond the paper: Kullback–Leibler divergence, mutational signatures",
    text=(
        "Mutation counts of a tumour by non-negative combinations of the 86 COSMIC signatures, which "
        "is maximum likelihood for Poisson counts. 96 × 86: too small for screening to save time, and "
        "shown for what it proves.",
    ),
    dataset="mutational_signatures",
    solvers=_solvers(),
    variants={"counts": _tumours},
    expected=1.0,
    ways=_ways,
)


def cells(scale: Scale) -> list[Cell]:
    """None as long as the loss is not there."""
    return _EXPERIMENT.cells(scale) if LOSS in LOSSES else []


def section(scale: Scale, held: Mapping[str, Figures]) -> Section:
    """The tables, or that the loss is not there."""
    if LOSS in LOSSES:
        return _EXPERIMENT.section(scale, held)
    return Section(name, _EXPERIMENT.title, ["This version has no Kullback–Leibler loss."])
