"""Figures that several experiments share: convergence, and speedup against size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .measure import GAP
from .theme import Theme, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Runs = Mapping[str, dict[str, Any] | None]
"""What was measured, by label of the line."""

_STYLES = ("--", "-", "-", "-", "-.", ":", "-")


def convergence(theme: Theme, problems: Mapping[str, Runs], across: str = "seconds") -> Figure:
    """Gap (above) and screening ratio (below) against time or work, a column for each problem."""
    figure, axes = panels(theme, 2, len(problems), (4.6 * len(problems) + 0.4, 5.6), sharex="col")
    order = _order(problems)
    for column, (title, runs) in enumerate(problems.items()):
        above, below = axes[column], axes[len(problems) + column]
        above.set_title(title)
        for label, run in runs.items():
            if run is not None:
                _line(theme, above, below, run["history"], label, order.index(label), across)
        _frame(theme, above, below, across)
    _legend(figure, axes)
    return figure


def _line(
    theme: Theme,
    above: Axes,
    below: Axes,
    history: Mapping[str, Any],
    label: str,
    i: int,
    across: str,
) -> None:
    style: dict[str, Any] = {"color": theme.colour(i), "label": label, "linewidth": 1.7}
    style |= {"linestyle": _STYLES[i % len(_STYLES)]}
    end: dict[str, Any] = {"marker": "o", "markersize": 4, "markevery": slice(-1, None)}
    x = np.array(history[across], dtype=float)
    gap = np.array(history["gap"], dtype=float)
    proved = np.isfinite(gap) & (gap > 0)
    above.plot(x[proved], gap[proved], **style, **end)
    below.plot(x, history["ratio"], drawstyle="steps-post", **style, **end)


def _frame(theme: Theme, above: Axes, below: Axes, across: str) -> None:
    above.set_yscale("log")
    above.axhline(GAP, color=theme.ink, linewidth=0.8, linestyle=":")
    above.set_ylabel("duality gap")
    below.set_ylabel("screening ratio")
    below.set_ylim(-0.03, 1.03)
    below.set_xscale("log")
    below.set_xlabel({"seconds": "time (s)", "work": "work (products with A)"}.get(across, across))


def speedups(
    theme: Theme,
    problems: Mapping[str, Mapping[str, Sequence[tuple[float, float | None]]]],
    across: str,
    along: str,
) -> Figure:
    """Lines of (x, speedup) on log scales, a column for each problem."""
    figure, axes = panels(theme, 1, len(problems), (4.6 * len(problems) + 0.4, 3.9))
    order = _order(problems)
    for axis, (title, lines) in zip(axes, problems.items(), strict=True):
        axis.set_title(title)
        for label, points in lines.items():
            known = [(x, y) for x, y in points if y is not None]
            colour = theme.colour(order.index(label))
            style = "--" if label.startswith("paper, printed") else "-"
            axis.plot(*_split(known), style, marker="o", label=label, color=colour)
        axis.axhline(1.0, color=theme.ink, linewidth=0.8)
        _log_ticks(axis)
        axis.set_xlabel(across)
    axes[0].set_ylabel(along)
    _legend(figure, axes)
    return figure


def _split(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _order(problems: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """All labels in the order of the fullest list, so that a label has one colour everywhere."""
    fullest = max(problems.values(), key=len)
    return list(dict.fromkeys([*fullest, *(name for one in problems.values() for name in one)]))


def _log_ticks(axis: Axes) -> None:
    """A log scale with plain numbers at 1, 2 and 5."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter(NullFormatter())


def _legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One entry a label, whichever panel it is in."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(str(label), handle)
    if found:
        figure.legend(
            list(found.values()), list(found), loc="outside lower center", ncols=min(3, len(found))
        )
