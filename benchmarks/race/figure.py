"""The race as a figure: everybody's time over boxreg's, with gaps beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .record import Record, ratio, rivals, to_limit
from .report import FLOOR

MARKERS = "osD^v<>PXhp*"
COLOURS = (
    *("#1f77b4", "#17becf", "#6baed6"),  # SciPy
    *("#ff7f0e", "#2ca02c"),  # skglm, adelie
    *("#d62728", "#e377c2"),  # scikit-learn
    *("#9467bd", "#8c564b", "#7f7f7f", "#bcbd22", "#393b79"),  # QP
)
GAP_WORTH_NAMING = 1e-8


def draw(record: Record, stem: Path) -> list[Path]:
    """Write the figure as PNG and SVG; nothing where nothing was raced."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    counts = record.thread_counts()
    raced = {
        count: [case for case in record.cases if case["threads"] == count and "entries" in case]
        for count in counts
    }
    counts = [count for count in counts if raced[count]]
    if not counts:
        return []
    order = list(dict.fromkeys(case["case"] for count in counts for case in raced[count]))
    height = 2.6 + 0.36 * len(order)
    figure, axes = plt.subplots(
        1,
        len(counts) + 1,
        figsize=(5.6 * len(counts) + 4.5, height),
        sharey=True,
        squeeze=False,
        width_ratios=[3.0] * len(counts) + [1.8],
    )
    names = [held["solver"] for held in rivals(raced[counts[0]][0])]
    styles = {
        name: (MARKERS[i % len(MARKERS)], COLOURS[i % len(COLOURS)]) for i, name in enumerate(names)
    }
    rows = {name: row for row, name in enumerate(order)}
    axes[0][0].set_yticks(range(len(order)), order)
    axes[0][0].set_ylim(len(order) - 0.4, -0.6)
    for count, axis in zip(counts, axes[0], strict=False):
        _ratios(axis, raced[count], rows, styles)
        axis.set_title(f"{count} thread" + ("s" if count > 1 else ""), fontsize=10)
    _gaps(axes[0][-1], raced[counts[0]], rows, styles)
    for axis in axes[0]:
        axis.set_xscale("log")
        axis.grid(axis="x", which="major", color="0.85")
        axis.grid(axis="y", color="0.93")
        axis.set_axisbelow(True)
    _legend(figure, styles)
    held = record.environment
    figure.suptitle(
        f"Time over boxreg's time: right of 1 is slower than boxreg\n{held['date'][:10]}, "
        f"{held['cpu']}, {held['cores']} cores",
        fontsize=10,
    )
    figure.tight_layout(rect=(0, 0.75 / height, 1, 1))
    paths = [stem.with_suffix(suffix) for suffix in (".png", ".svg")]
    for path in paths:
        figure.savefig(path, dpi=150)
    plt.close(figure)
    return paths


def _ratios(
    axis: Any, cases: list[dict[str, Any]], rows: dict[str, int], styles: dict[str, Any]
) -> None:
    for case in cases:
        row = rows[case["case"]]
        for held in rivals(case):
            figure = ratio(case, held["solver"])
            if figure is None:
                continue
            marker, colour = styles[held["solver"]]
            rough = held["status"] == "ok" and held["relative_gap"] > GAP_WORTH_NAMING
            hollow = rough or held["status"] == "over"
            axis.plot(
                figure,
                row,
                marker,
                color=colour,
                markersize=6.5,
                markerfacecolor="none" if hollow else colour,
                linestyle="none",
            )
            if held["status"] == "over":
                axis.annotate(
                    "",
                    (figure * 1.8, row),
                    (figure * 1.12, row),
                    arrowprops={"arrowstyle": "->", "color": colour},
                )
        limit = to_limit(case)
        if limit:
            axis.plot(1.0 / limit, row, "|", color="black", markersize=13, markeredgewidth=2)
    axis.axvline(1.0, color="black", linewidth=1)
    axis.set_xlabel("time / boxreg's time")


def _gaps(
    axis: Any, cases: list[dict[str, Any]], rows: dict[str, int], styles: dict[str, Any]
) -> None:
    """Relative gaps with the fewest threads; boxreg's is the one that its certificate proves."""
    for case in cases:
        row = rows[case["case"]]
        for held in rivals(case):
            if held["status"] == "ok":
                marker, colour = styles[held["solver"]]
                gap = max(held["relative_gap"], FLOOR)
                axis.plot(gap, row, marker, color=colour, markersize=5, alpha=0.8)
        proved = max(case["certified_gap"], FLOOR)
        if np.isfinite(proved):
            axis.plot(proved, row, "|", color="crimson", markersize=13, markeredgewidth=2)
    axis.axvline(1e-9, color="0.4", linewidth=1, linestyle="--")
    axis.set_title("relative duality gap, 1e-9 asked", fontsize=10)
    axis.set_xlabel("gap / P(0)")


def _legend(figure: Any, styles: dict[str, Any]) -> None:
    from matplotlib.lines import Line2D

    plain = {"linestyle": "none", "markersize": 6.5}
    entries = [
        Line2D([], [], marker=marker, color=colour, label=name, **plain)
        for name, (marker, colour) in styles.items()
    ]
    entries += [
        Line2D([], [], marker="|", color="black", label="oracle limit", markeredgewidth=2, **plain),
        Line2D(
            [], [], marker="|", color="crimson", label="boxreg, proved", markeredgewidth=2, **plain
        ),
        Line2D(
            [],
            [],
            marker="o",
            color="0.4",
            markerfacecolor="none",
            label=f"hollow: gap above {GAP_WORTH_NAMING:g}, or (arrow) stopped",
            **plain,
        ),
    ]
    figure.legend(handles=entries, loc="lower center", ncols=6, fontsize=8, frameon=False)
