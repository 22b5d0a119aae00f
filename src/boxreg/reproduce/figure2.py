"""Figure 2: screening ratio against iterations for several directions of the dual translation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from . import data
from .case import Case
from .comparison import Comparison
from .paper_solvers import PaperDescent
from .scale import Scale
from .section import Column, Drawing, Row, Section, Table
from .store import Cell, Figures
from .theme import Theme, panels
from .ways import Arguments, Way

if TYPE_CHECKING:
    from matplotlib.figure import Figure

name = "figure2"
_LEVELS = (0.5, 0.9)


class _EveryEpoch(PaperDescent):
    """Checked after every epoch: ten would be half the run."""

    check_period = 1


def _extreme(case: Case, choose: Any) -> Array:
    """Minus the column most or least correlated with the others; 10⁻⁵ added, as in the paper's code.

    Two documents without a word in common make their products 0: the addition makes t interior.
    """
    sums = case.A.T @ np.asarray(case.A.sum(axis=1)).ravel()
    column = case.A[:, [int(choose(sums))]].toarray().ravel() + 1e-5
    return np.asarray(-column / np.linalg.norm(column))


def _way(key: str, label: str, direction: Any) -> Way:
    def arguments(case: Case) -> Arguments:
        t = direction(case) if callable(direction) else direction
        return {
            "solver": _EveryEpoch(),
            "region": "gap_sphere",
            "dual": "translation",
            "direction": t,
        }

    return Way(key, label, arguments)


WAYS = (
    _way("most", "−a₊, most correlated", lambda case: _extreme(case, np.argmax)),
    _way("least", "−a₋, least correlated", lambda case: _extreme(case, np.argmin)),
    _way("ones", "−1", "ones"),
    _way("mean", "−mean column", "mean"),
    _way("auto", "auto", "auto"),
)


def _comparison(scale: Scale, document: int) -> Comparison:
    return Comparison(
        key=f"{name}-{document}",
        draw=partial(data.nips, document),
        settings={"workload": "nips", "document": document, "data": data.origin("nips_1-17")},
        ways=WAYS,
        expected=0.3,
        policy=scale.policy,
    )


def cells(scale: Scale) -> list[Cell]:
    """Every document, every direction."""
    chosen = data.document_indices(scale.documents)
    return [cell for document in chosen for cell in _comparison(scale, document).cells()]


def section(scale: Scale, held: Mapping[str, Figures]) -> Section:
    """When half and nine tenths are screened, and the curve of one document."""
    chosen = data.document_indices(scale.documents)
    ones = [_comparison(scale, document) for document in chosen]
    columns = (
        Column("direction", "direction t"),
        *(Column(f"at{level}", f"epochs to {100 * level:.0f} %", "number") for level in _LEVELS),
        Column("iterations", "epochs to the gap", "number"),
        Column("work", "work", "work"),
        Column("seconds", "seconds", "seconds"),
    )
    rows = [_row(ones, held, way) for way in WAYS]
    text = [
        f"One document by the others, unit columns; medians over {len(chosen)} documents. Plain "
        "coordinate descent from 0, gap sphere, translated residual, a check after every epoch.",
        "In the paper −a₊ screens far sooner than −a₋, and −1 and −mean column are close to the best. "
        "The paper counts 14035 words, this file 14036.",
    ]
    drawing = Drawing(
        name, "Screening ratio against epochs, one document.", partial(_draw, ones[0], held)
    )
    title = data.titled("Figure 2: directions of the dual translation", "nips_1-17")
    text = data.explained(text, "nips_1-17")
    return Section(name, title, text, [Table("Directions", columns, rows)], [drawing])


def _row(ones: list[Comparison], held: Mapping[str, Figures], way: Way) -> Row:
    found = [run for one in ones if (run := one.found(held, way)) is not None]
    row: Row = {"direction": way.label, "marks": {}}
    for level in _LEVELS:
        row[f"at{level}"] = _median([_epochs_to(run, level) for run in found])
    for key in ("iterations", "work", "seconds"):
        row[key] = _median([float(run[key]) for run in found])
    return row


def _epochs_to(run: Figures, level: float) -> float | None:
    """The first check at which so large a share was screened."""
    history = run["history"]
    pairs = zip(history["iteration"], history["ratio"], strict=True)
    return next((float(i) for i, ratio in pairs if ratio >= level), None)


def _median(values: list[float | None]) -> float | None:
    """The median; None where some run never got there."""
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known and len(known) == len(values) else None


def _draw(one: Comparison, held: Mapping[str, Figures], theme: Theme) -> Figure:
    figure, (axis,) = panels(theme, 1, 1, (6.4, 4.0))
    for i, way in enumerate(WAYS):
        run = one.found(held, way)
        if run is not None:
            history = run["history"]
            axis.plot(
                history["iteration"],
                history["ratio"],
                label=way.label,
                color=theme.colour(i + 1),
                linestyle="--" if way.key == "auto" else "-",
                linewidth=1.8,
            )
    axis.set_xlabel("epochs")
    axis.set_ylabel("screening ratio")
    axis.set_xscale("symlog", linthresh=1.0)
    axis.set_ylim(-0.03, 1.03)
    axis.legend(loc="upper left")
    return figure
