"""One algorithm on one or more problems, solved in several ways and told apart in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from .case import Case
from .measure import GAP, Policy, measured
from .paper import Printed
from .section import MARKS, Column, Row
from .store import Cell, Figures
from .ways import Way

_PAPER_SECONDS = Column("paper_seconds", "paper: seconds", "seconds")
_PAPER_FASTER = Column("paper_faster", "paper: times faster", "ratio")


def columns(*, seconds: bool = False, faster: bool = False) -> list[Column]:
    """The columns of a comparison, with the paper's seconds and speedups beside ours where it has
    them."""
    return [
        Column("method", "method"),
        Column("seconds", "seconds", "seconds"),
        *([_PAPER_SECONDS] if seconds else []),
        Column("faster", "times faster", "ratio"),
        *([_PAPER_FASTER] if faster else []),
        Column("work", "work", "work"),
        Column("less_work", "times less work", "ratio"),
        Column("screened", "screened", "share"),
        Column("gap", "gap", "gap"),
    ]


NOTE = (
    "Work counts products with A and is the same on any machine. Ratios compare with the first row of "
    "each block. Seconds are the best of a few runs, one thread; '>' marks runs stopped at the time "
    "limit, with the gap they had reached, and '≥' ratios to a baseline that was stopped."
)


@dataclass(frozen=True)
class Comparison:
    """A problem, an algorithm, and the ways to be compared; the first is what ratios refer to.

    expected: seconds of the baseline, roughly.
    """

    key: str
    draw: Callable[[], Case]
    settings: Figures
    ways: Sequence[Way]
    expected: float = 1.0
    policy: Policy = field(default_factory=lambda: Policy(cap=60.0))

    def cells(self) -> list[Cell]:
        """One cell for each way."""
        return [
            Cell(
                key=f"{self.key}-{way.key}",
                settings={
                    **self.settings,
                    "way": way.key,
                    "stop_at": GAP,
                    "policy": self.policy.settings(),
                },
                measure=partial(self._measure, way),
                expected=self._expected(way),
            )
            for way in self.ways
        ]

    def _measure(self, way: Way) -> Figures:
        return measured(self.draw(), way, self.policy)

    def _expected(self, way: Way) -> float:
        once = min(self.expected * way.share, self.policy.cap)
        return max(once, min(once * self.policy.repeats, self.policy.budget))

    def found(self, held: Mapping[str, Figures], way: Way) -> Figures | None:
        """What was measured of one way, if it was."""
        return held.get(f"{self.key}-{way.key}")


def rows(
    comparisons: Sequence[Comparison],
    held: Mapping[str, Figures],
    head: Row,
    printed: Printed | None = None,
) -> list[Row]:
    """One row for each way; medians where there are several problems."""
    return [_row(comparisons, held, way, head, printed) for way in comparisons[0].ways]


def _row(
    comparisons: Sequence[Comparison],
    held: Mapping[str, Figures],
    way: Way,
    head: Row,
    printed: Printed | None,
) -> Row:
    pairs = [(c.found(held, c.ways[0]), c.found(held, way)) for c in comparisons]
    full = [(first, one) for first, one in pairs if first is not None and one is not None]
    measured_ones = [one for _, one in pairs if one is not None]
    capped = any(one["capped"] for one in measured_ones)
    row: Row = {
        **head,
        "method": way.label,
        **{name: _median(measured_ones, name) for name in ("seconds", "work", "screened", "gap")},
        **_ratios(way, comparisons, full),
        "verified": all(one["verified"] for one in measured_ones) if measured_ones else None,
        **_printed(way, printed),
    }
    marks = {name: ">" for name in ("seconds", "work") if capped}
    if any(first["capped"] for first, _ in full) and row["faster"] is not None:
        marks |= {"faster": "≥", "less_work": "≥"}
    return {**row, MARKS: marks}


def _ratios(
    way: Way, comparisons: Sequence[Comparison], full: Sequence[tuple[Figures, Figures]]
) -> Row:
    """How many times faster, and with how much less work, than the baseline; none for a run cut off."""
    if way.key == comparisons[0].ways[0].key or not full or any(one["capped"] for _, one in full):
        return {"faster": None, "less_work": None}
    ratio = {
        name: float(np.median([first[name] / one[name] for first, one in full]))
        for name in ("seconds", "work")
    }
    return {"faster": ratio["seconds"], "less_work": ratio["work"]}


def _printed(way: Way, printed: Printed | None) -> Row:
    """What the paper says of this row."""
    if printed is None or way.key not in ("baseline", "paper"):
        return {"paper_seconds": None, "paper_faster": None}
    if way.key == "baseline":
        return {"paper_seconds": printed.baseline, "paper_faster": None}
    return {"paper_seconds": printed.screening, "paper_faster": printed.speedup}


def _median(found: Sequence[Figures], name: str) -> float | None:
    values = [one[name] for one in found if one[name] is not None]
    return float(np.median(values)) if values else None


def ratio_of(held: Mapping[str, Figures], first: Comparison, way: Way, name: str) -> float | None:
    """Baseline over way, of seconds or work; None where either is missing or was cut off."""
    base, one = first.found(held, first.ways[0]), first.found(held, way)
    if base is None or one is None or one["capped"]:
        return None
    return float(base[name] / one[name])


def solver_title(name: str) -> str:
    """A solver's name in words."""
    titles: dict[str, Any] = {"chambolle_pock": "Chambolle–Pock"}
    return str(titles.get(name, name.replace("_", " ")))
