"""The race as a small table: `python -m benchmarks.race.brief out/bench/results.json`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from .record import Record, entry, our_seconds, ratio, rivals, to_limit
from .report import gap_text, number, time_text

NAMED = ("scipy.nnls", "scipy.bvls", "skglm", "adelie")
AGAIN = ("skglm.fixed",)
"""Those who have a column already, called in another way."""


def table(record: Record, threads: int) -> str:
    """One line a case that was raced with so many threads."""
    lines = [
        "| workload | m×n | boxreg | proved gap | × limit | "
        + " | ".join(NAMED)
        + " | best other |",
        "|---|---|---:|---:|---:|" + "---:|" * len(NAMED) + "---|",
    ]
    for case in record.cases:
        if case["threads"] == threads and "entries" in case:
            cells = [_cell(case, name) for name in NAMED]
            lines.append(
                f"| {case['case']} | {case['m']}×{case['n']} | {time_text(our_seconds(case))} | "
                f"{gap_text(case['certified_gap'])} | {number(to_limit(case))} | "
                + " | ".join(cells)
                + f" | {_best_other(case)} |"
            )
    return "\n".join(lines)


def _cell(case: dict[str, Any], name: str) -> str:
    figure = ratio(case, name)
    if figure is None:
        return "–"
    return ("> " if entry(case, name)["status"] == "over" else "") + number(figure)


def _best_other(case: dict[str, Any]) -> str:
    """The fastest of the rivals that have no column."""
    others = {
        held["solver"]: ratio(case, held["solver"])
        for held in rivals(case)
        if held["solver"] not in (*NAMED, *AGAIN) and held["status"] == "ok"
    }
    known = {name: figure for name, figure in others.items() if figure is not None}
    if not known:
        return "–"
    name = min(known, key=lambda held: known[held])
    return f"{number(known[name])} ({name})"


if __name__ == "__main__":
    held = Record.read(Path(sys.argv[1]))
    for count in held.thread_counts():
        print(f"{count} thread(s)\n\n{table(held, count)}\n")
