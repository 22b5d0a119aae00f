"""How runs converged, as a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .plain_text import label as plain_label
from .plain_text import plain_legend, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

# Okabe and Ito's colours, told apart with every kind of colour vision.
_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_BASELINE = "no screening"


def convergence_figure(results: Mapping[str, Result], axes: Any = None) -> Figure:
    """Gap and screening ratio against iterations and time, one line for each result.

    Parameters
    ----------
    results : results by label. A label that ends with 'no screening' is drawn dashed, in the colour
        of the label without those words.
    axes : four matplotlib axes to draw in: gap against iterations, gap against time, then the
        screening ratio against both. By default a new figure, free of pyplot and its global state.
    """
    panels: list[Axes] = _new_panels() if axes is None else list(np.ravel(axes))
    if len(panels) != 4:
        raise ValueError(f"axes: expected 4 matplotlib axes, got {len(panels)}")
    _scale(panels, results)
    colours = _colours(results)
    for label, result in results.items():
        _draw(panels, result, label, colours[_base(label)])
    for target in {result.target_gap for result in results.values()}:
        if 0.0 < target < np.inf:
            for panel in panels[:2]:
                panel.axhline(target, color="grey", linestyle=":", linewidth=1.0, zorder=1)
    _name(panels)
    figure: Figure = panels[0].figure  # type: ignore[assignment]
    if axes is None:
        entries = panels[0].get_legend_handles_labels()
        plain_legend(figure.legend(*entries, loc="outside lower center", ncols=2))
        for panel in panels:
            panel.label_outer()
    else:
        plain_legend(panels[1].legend(loc="upper left", bbox_to_anchor=(1.02, 1.0)))
    return figure


def _new_panels() -> list[Axes]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'boxreg[plot]'") from error

    class NotebookFigure(Figure):
        """Shows itself in a notebook, which else draws only the figures that pyplot manages."""

        def _repr_png_(self) -> bytes:
            return png(self, dpi=110)

    figure = NotebookFigure(figsize=(9.6, 6.8), layout="constrained")
    return list(figure.subplots(2, 2, sharex="col", sharey="row").flat)


def _base(label: str) -> str:
    return label.removesuffix(_BASELINE).rstrip(" ,:")


def _colours(labels: Mapping[str, Result]) -> dict[str, str]:
    bases = dict.fromkeys(_base(label) for label in labels)
    return {base: _PALETTE[i % len(_PALETTE)] for i, base in enumerate(bases)}


def _draw(panels: list[Axes], result: Result, label: str, colour: str) -> None:
    history, n = result.history, result.shape[1]
    ratio = (n - history.preserved) / max(n, 1)
    proved = np.isfinite(history.gap) & (history.gap > 0)
    style: dict[str, Any] = {
        "color": colour,
        "linestyle": "--" if label.endswith(_BASELINE) else "-",
        "linewidth": 1.6,
        # A dot where the run ended; with a single check there is nothing else to see.
        "marker": "o",
        "markersize": 4,
        "markevery": slice(-1, None),
        "label": plain_label(label),
    }
    for column, across in enumerate((history.iteration, history.seconds)):
        panels[column].plot(across[proved], history.gap[proved], **style)
        panels[2 + column].plot(across, ratio, drawstyle="steps-post", **style)


def _scale(panels: list[Axes], results: Mapping[str, Result]) -> None:
    """Choose the scales; before drawing, for a margin is a share of the scaled length."""
    histories = [result.history for result in results.values() if len(result.history)]
    for panel in panels[:2]:
        panel.set_yscale("log")
    wide = _wide([float(history.iteration[-1]) for history in histories])
    for panel in panels[::2]:
        if wide:
            # Iterations begin at 0, which a pure log scale cannot show.
            panel.set_xscale("symlog", linthresh=1.0, linscale=0.3)
        else:
            panel.locator_params(axis="x", integer=True)
    if _wide([float(history.seconds[-1]) for history in histories]):
        for panel in panels[1::2]:
            panel.set_xscale("log")


def _wide(ends: list[float]) -> bool:
    """Whether the runs differ so much in length that a linear scale would hide the short ones."""
    return len(ends) > 1 and min(ends) > 0 and max(ends) > 20.0 * min(ends)


def _name(panels: list[Axes]) -> None:
    for i, panel in enumerate(panels):
        panel.set_xlabel("time (s)" if i % 2 else "iterations")
        panel.set_ylabel("duality gap (dotted: target)" if i < 2 else "screening ratio")
        panel.grid(alpha=0.25)
        if i >= 2:
            panel.set_ylim(-0.03, 1.03)
