"""The performance profile of Dolan and Moré, and the ratios of all problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race.record import Record

from .summary import Call, calls, headline, reached, with_nnls

LIMIT = 100.0
"""The largest τ that is drawn."""

COLOURS = (
    *("#1f77b4", "#17becf", "#6baed6"),  # SciPy
    *("#2ca02c", "#98df8a"),  # L-BFGS-B
    *("#ff7f0e", "#ffbb78", "#d62728", "#e377c2"),  # skglm, scikit-learn
    *("#9467bd", "#8c564b", "#7f7f7f", "#bcbd22", "#393b79"),
)


def profile(rows: list[dict[str, Any]], chosen: list[Call]) -> dict[str, list[float]]:
    """solver → its time over the fastest solver's on each problem it reached, sorted.

    boxreg counts once for each problem, with the call that was chosen.
    """
    ours = {call.row["seed"]: call for call in chosen if not call.failure}
    found: dict[str, list[float]] = {}
    for row in rows:
        times = {
            held["solver"]: float(held["seconds"])
            for held in row["entries"]
            if not held["solver"].startswith("boxreg.") and reached(held)
        }
        if row["seed"] in ours:
            times["boxreg"] = float(ours[row["seed"]].entry["seconds"])
        fastest = min(times.values(), default=np.inf)
        for name, seconds in times.items():
            found.setdefault(name, []).append(seconds / fastest)
    return {name: sorted(ratios) for name, ratios in found.items()}


def draw(record: Record, stem: Path) -> list[Path]:
    """Write the figure as PNG and SVG; nothing where nothing was raced."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = calls(record.cases)
    main = headline(found)
    if not main:
        return []
    figure, (left, right) = plt.subplots(1, 2, figsize=(13.0, 6.2), width_ratios=[1.25, 1.0])
    _profile(left, record.cases, found)
    _ratios(right, main)
    held = record.environment
    figure.suptitle(
        f"{len(main)} problems as scientists bring them, one thread, {held['date'][:10]}, "
        f"{held['cpu']}",
        fontsize=11,
    )
    figure.tight_layout()
    paths = [stem.with_suffix(suffix) for suffix in (".png", ".svg")]
    for path in paths:
        figure.savefig(path, dpi=150)
    plt.close(figure)
    return paths


def _profile(axis: Any, rows: list[dict[str, Any]], called: list[Call]) -> None:
    """Thick: `solve` and `solve_many`; dashed: with `nnls` where the problem is what it is for."""
    found, count = profile(rows, headline(called)), len(rows)
    nnls = profile(rows, with_nnls(called)).get("boxreg", [])
    found = {"boxreg": found.get("boxreg", []), "boxreg, nnls where it applies": nnls, **found}
    order = sorted(found, key=lambda name: (not name.startswith("boxreg"), -len(found[name])))
    for name in order:
        ratios = np.array(found[name])
        steps = np.concatenate([[1.0], ratios[ratios <= LIMIT], [LIMIT]])
        shares = np.searchsorted(ratios, steps, side="right") / count
        ours = name.startswith("boxreg")
        colour = "black" if ours else COLOURS[(order.index(name) - 2) % len(COLOURS)]
        axis.step(
            steps,
            100.0 * shares,
            where="post",
            color=colour,
            linewidth=2.6 if name == "boxreg" else 1.4,
            linestyle="--" if ours and name != "boxreg" else "-",
            label=f"{name} ({100 * len(ratios) / count:.0f} % reached)",
            zorder=3 if ours else 2,
        )
    axis.set_xscale("log")
    axis.set_xlim(1.0, LIMIT)
    axis.set_ylim(0.0, 100.0)
    axis.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axis.set_xlabel("τ: time over the fastest solver's on that problem")
    axis.set_ylabel("problems solved to 1e-8 within τ, %")
    axis.set_title("Performance profile", fontsize=10)
    axis.grid(color="0.9")
    axis.legend(fontsize=7.5, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)


def _ratios(axis: Any, main: list[Call]) -> None:
    """Every problem by its size: the best other's time over boxreg's."""
    losses = sorted({call.row["loss"] for call in main})
    for i, loss in enumerate(losses):
        held = [call for call in main if call.row["loss"] == loss and call.ratio is not None]
        sizes = [call.row["stored"] * call.row["count"] for call in held]
        ratios = np.clip([call.ratio for call in held], 1e-3, 1e3)
        lower = np.array([call.at_least for call in held], dtype=bool)
        colour = f"C{i}"
        axis.plot(
            np.array(sizes)[~lower],
            ratios[~lower],
            "o",
            color=colour,
            markersize=4.5,
            alpha=0.8,
            label=loss,
        )
        axis.plot(
            np.array(sizes)[lower], ratios[lower], "^", color=colour, markersize=5, mfc="none"
        )
    failed = [call for call in main if call.failure]
    if failed:
        sizes = [call.row["stored"] * call.row["count"] for call in failed]
        axis.plot(
            sizes,
            [1e-3] * len(sizes),
            "x",
            color="crimson",
            markersize=8,
            label="boxreg failed",
            clip_on=False,
        )
    axis.plot([], [], "^", color="0.4", mfc="none", label="no other reached it: at least")
    axis.axhline(1.0, color="black", linewidth=1)
    axis.axhline(0.5, color="0.5", linewidth=0.8, linestyle="--")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(1e-3, 1.2e3)
    axis.set_xlabel("stored entries of A × right-hand sides")
    axis.set_ylabel("best other's time / boxreg's")
    axis.set_title("Above 1: faster than the best other, with hindsight", fontsize=10)
    axis.grid(color="0.9")
    axis.legend(fontsize=7.5, loc="upper left", framealpha=0.9)
