"""Colours of the figures, for light and dark pages, and the frame that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Theme:
    """Okabe and Ito's colours, told apart with every kind of colour vision, on two grounds."""

    name: str
    ground: str
    ink: str
    faint: str
    palette: tuple[str, ...]

    def colour(self, i: int) -> str:
        """The colour of the i-th line."""
        return self.palette[i % len(self.palette)]


LIGHT = Theme(
    "light",
    "#ffffff",
    "#1b1f24",
    "#d5d9de",
    ("#5b6168", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
)
DARK = Theme(
    "dark",
    "#16191d",
    "#e6e8ea",
    "#3a4047",
    ("#a3abb3", "#56B4E9", "#FF8A4C", "#2FCB9B", "#E7A1C8", "#F0B94A", "#4F9BE8"),
)
THEMES = (LIGHT, DARK)


def panels(
    theme: Theme, rows: int, columns: int, size: tuple[float, float], **options: Any
) -> tuple[Figure, list[Axes]]:
    """An empty figure with its axes, row by row; free of pyplot and its global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", facecolor=theme.ground)
    axes: list[Axes] = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for axis in axes:
        axis.set_facecolor(theme.ground)
        axis.grid(color=theme.faint, linewidth=0.7)
        axis.set_axisbelow(True)
    return figure, axes


def rendered(draw: Callable[[Theme], Figure], theme: Theme, kind: str) -> bytes:
    """A figure as the bytes of a PNG or SVG file, the same for the same figure."""
    buffer = BytesIO()
    metadata = {"Date": None} if kind == "svg" else {}
    with _style(theme):
        figure = draw(theme)
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata, facecolor=theme.ground)
    return buffer.getvalue()


@contextmanager
def _style(theme: Theme) -> Iterator[None]:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'boxreg[plot]'") from error
    names = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    settings: dict[Any, Any] = dict.fromkeys(names, theme.ink)
    settings |= {
        "legend.frameon": False,
        "legend.labelcolor": theme.ink,
        "font.size": 10.0,
        "axes.titlesize": 11.0,
        "svg.hashsalt": "boxreg",
        "svg.fonttype": "path",
    }
    with mpl.rc_context(settings):
        yield
