"""Words of the user's in figures, taken as they are: matplotlib would read formulas into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""What matplotlib is told about such text: `$`, `_`, `%` and `\\` are letters like any other."""


def printable(text: str) -> str:
    """The text with a mark in place of what cannot be drawn or encoded; lines are kept apart."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def label(text: str) -> str:
    """The text as the label of a line. Legends leave out labels that begin with an underscore, so those
    begin with a space of no width."""
    said = printable(text)
    return "\N{ZERO WIDTH SPACE}" + said if said.startswith("_") else said


def plain_legend(legend: Legend) -> None:
    """Take the entries of a legend as they are."""
    for entry in legend.get_texts():
        entry.update(PLAIN)


def png(figure: Figure, dpi: int) -> bytes:
    """The figure as a PNG picture. Letters that no font has are boxes, without a warning each."""
    import warnings
    from io import BytesIO

    buffer = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
