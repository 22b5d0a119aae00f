"""Beyond the paper: the same for the Kullback–Leibler divergence, on mutational signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np

from ..solvers import SOLVERS
from . import data
from .case import Case
from .real import RealFigure
from .scale import Scale
from .ways import Arguments, Way

_GAP: Arguments = {"tol": 1e-8, "atol": 0.0}
"""Relative: a tumour may have a hundred mutations or a million."""


@lru_cache(maxsize=2)
def _tumour(j: int) -> Case:
    A, counts = data.signatures()
    return Case(f"tumour-{j}", A, counts[:, j], 0.0, np.inf, loss="kullback_leibler")


def _tumours(scale: Scale) -> Mapping[str, Callable[[], Case]]:
    total = data.signatures()[1].shape[1]
    chosen = np.linspace(0, total - 1, scale.tumours + 2).astype(int)[1:-1]
    return {f"{j}": partial(_tumour, int(j)) for j in chosen}


def _ways(solver: str) -> list[Way]:
    """The plain algorithm, the same with the paper's region, ours, the default."""
    plain = SOLVERS[solver].plain

    def baseline(case: Case) -> Arguments:
        return {"solver": plain(), "screening": False, **_GAP}

    def sphere(case: Case) -> Arguments:
        return {"solver": plain(), "region": "gap_sphere", "dual": "line_search", **_GAP}

    return [
        Way("baseline", "baseline", baseline, off_the_clock=True),
        Way("paper", "screening, gap sphere", sphere, share=0.5),
        Way("ours", "ours", lambda case: {"solver": solver, **_GAP}, share=0.3),
        Way("default", "default solver", lambda case: dict(_GAP), share=0.1),
    ]


EXPERIMENT = RealFigure(
    name="kullback_leibler",
    title="Beyond the paper: Kullback–Leibler divergence, mutational signatures",
    text=(
        "Mutation counts of a tumour by non-negative combinations of the 86 COSMIC signatures: maximum "
        "likelihood for Poisson counts. Runs stop at a relative gap of 1e-8. The gap sphere uses local "
        "strong concavity (Dantas, Soubies and Févotte, 2021). 96 × 86 is small: look at the work.",
    ),
    dataset="mutational_signatures",
    solvers=("projected_gradient",),
    variants={"counts": _tumours},
    expected=1.0,
    ways=_ways,
)
