"""What an experiment has to show: text, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .theme import Theme

Kind = Literal["text", "count", "number", "seconds", "work", "ratio", "share", "gap"]
Row = dict[str, Any]

MARKS = "marks"
"""Key of a row under which signs such as '>' stand for the columns that they belong to."""


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of its entries, its heading, and how entries are written."""

    key: str
    title: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Table:
    """Rows of plain values; a missing one is None."""

    title: str
    columns: Sequence[Column]
    rows: list[Row]
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """The table as data."""
        return {
            "title": self.title,
            "columns": [{"key": c.key, "title": c.title, "kind": c.kind} for c in self.columns],
            "rows": self.rows,
            "note": self.note,
        }


@dataclass(frozen=True)
class Drawing:
    """A figure: what it is called, what it shows, and how to draw it."""

    name: str
    caption: str
    draw: Callable[[Theme], Figure]


@dataclass(frozen=True)
class Section:
    """One experiment on the page."""

    name: str
    title: str
    text: list[str]
    tables: list[Table] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)


def written(value: Any, kind: Kind, mark: str = "") -> str:
    """A value as it is shown."""
    if value is None:
        return "–"
    if kind == "text":
        return str(value)
    if kind == "count":
        return f"{value:,}"
    return f"{mark} {_number(float(value), kind)}".strip()


def _number(value: float, kind: Kind) -> str:
    if kind == "share":
        return f"{100.0 * value:.1f} %"
    if kind == "gap":
        return f"{value:.1e}"
    if kind == "ratio":
        return f"{value:.2f} ×" if value < 10.0 else f"{value:,.1f} ×"
    if kind == "work" and value >= 100.0:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 1000.0 else f"{value:,.0f}"
