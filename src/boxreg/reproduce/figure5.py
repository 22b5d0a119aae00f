"""Figure 5: archetypal analysis of the NIPS papers, coordinate descent and active set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from . import data
from .case import Case
from .real import RealFigure
from .scale import Scale


def _documents(scale: Scale) -> Mapping[str, Callable[[], Case]]:
    chosen = data.document_indices(scale.documents)
    return {f"{document}": partial(data.nips, document) for document in chosen}


EXPERIMENT = RealFigure(
    name="figure5",
    title="Figure 5: NIPS papers",
    text=(
        "One document by non-negative combinations of the 2482 others, word counts scaled to unit "
        "norm, sparse (3.7 %). Steps and starts as in table 1.",
        "The paper counts 14035 words, this file 14036. Documents 1366 and 1402, which are identical, "
        "are not taken as y.",
    ),
    dataset="nips_1-17",
    solvers=("coordinate_descent", "active_set"),
    variants={"unit columns": _documents},
    expected=1.0,
)
