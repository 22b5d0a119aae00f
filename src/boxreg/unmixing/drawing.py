"""The maps as figures."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..reporting.plain_text import PLAIN, printable
from .maps import Maps
from .scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS, _NOTHING = "cividis", "#d9d9d9"
_LONGEST = 23
"""Letters of a name that fit above a panel."""


def abundance_figure(scene: Scene, maps: Maps, count: int) -> Figure:
    """The materials with the largest means, one panel each, each with a scale of its own."""
    shown = maps.strongest(count)
    columns = _columns(len(shown), maps.residual.shape)
    rows = -(-len(shown) // columns)
    width = max(2.75, 4.0 / columns)
    tall = float(np.clip(maps.residual.shape[0] / maps.residual.shape[1], 0.25, 3.0))
    total = len(maps.names)
    what = f"{len(shown)} largest of {total} materials" if total > len(shown) else "all materials"
    title = _title(scene.title, f"abundances (coefficients, no unit), {what}", width * columns)
    heading = 0.2 * (1 + title.count("\n")) + 0.2
    figure = _figure(width * columns, (0.72 * width * tall + 0.45) * rows + heading)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel, k in zip(panels, shown, strict=False):
        _draw(figure, panel, maps.abundance[k], "abundance")
        said = (_short(maps.names[k]), f"mean {maps.means[k]:.2g}")
        if tall > 1.5:
            panel.set_title("\n".join(said), fontsize=9, **PLAIN)
        else:
            panel.set_title(", ".join(said), fontsize=9, loc="left", **PLAIN)
        panel.set_xticks([])
        panel.set_yticks([])
    for panel in panels[len(shown) :]:
        panel.set_visible(False)
    figure.suptitle(title, fontsize=11, **PLAIN)
    return figure


def residual_figure(scene: Scene, maps: Maps) -> Figure:
    """What the library does not explain, pixel by pixel."""
    height, width = maps.residual.shape
    tall = float(np.clip(height / width, 0.25, 3.0))
    figure = _figure(6.4, min(5.0 * tall, 8.0) + 1.1)
    panel = figure.subplots()
    _draw(figure, panel, 100.0 * maps.residual, "‖y − Ax‖ / ‖y‖  (%)")
    panel.set_xlabel("pixel, across")
    panel.set_ylabel("pixel, down")
    solved = maps.residual[np.isfinite(maps.residual)]
    said = f"median {100.0 * np.median(solved):.2g} %" if solved.size else "no pixel was solved"
    panel.set_title(_title(scene.title, f"relative residual, {said}", 5.0), fontsize=11, **PLAIN)
    return figure


def _figure(width: float, height: float) -> Figure:
    """Free of pyplot and its global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def _columns(count: int, shape: tuple[int, ...]) -> int:
    """So many that the figure is about a third wider than tall."""
    across = np.sqrt(1.3 * count * shape[0] / shape[1])
    return int(np.clip(round(float(across)), 1, min(count, 6)))


def _draw(figure: Figure, panel: Axes, values: Array, label: str) -> None:
    import matplotlib as mpl

    held = values[np.isfinite(values)]
    low = min(0.0, float(np.min(held))) if held.size else 0.0
    high = float(np.quantile(held, 0.995)) if held.size else 0.0
    if high <= low:
        high = max(float(np.max(held)) if held.size else 0.0, low) or 1.0
    colours = mpl.colormaps[_COLOURS].with_extremes(bad=_NOTHING)
    drawn = panel.imshow(values, cmap=colours, vmin=low, vmax=high, interpolation="nearest")
    beyond: Any = "max" if held.size and np.max(held) > high else "neither"
    thick = 0.035 * max(1.0, values.shape[0] / values.shape[1])
    place = panel.inset_axes((1.02, 0.0, thick, 1.0))  # as tall as the map, whatever its shape
    bar = figure.colorbar(drawn, cax=place, extend=beyond, extendfrac=0.04)
    bar.set_label(label, fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.ax.locator_params(nbins=5)


def _title(scene: str, said: str, width: float) -> str:
    """Two lines, or more where the figure is narrow: a letter takes a twelfth of an inch, about."""
    return "\n".join(fill(printable(line), int(11.0 * width)) for line in (scene, said))


def _short(name: str) -> str:
    name = printable(name.replace("\n", " ").replace("_", " "))
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
