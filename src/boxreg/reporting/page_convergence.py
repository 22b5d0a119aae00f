"""How the gap fell and columns left, on a report page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .chart import Line, chart
from .page_parts import details, figure, plain, table

if TYPE_CHECKING:
    from ..result import Result


def convergence(result: Result) -> str:
    """Gap and screening ratio against steps and seconds, and all checks as numbers."""
    held, n = result.history, max(result.shape[1], 1)
    if not len(held):
        return '<p class="quiet">No checks were made.</p>'
    share = (result.shape[1] - held.preserved) / n
    target = result.target_gap if 0.0 < result.target_gap < np.inf else None
    axes = ((held.iteration.astype(float), "steps"), (held.seconds, "seconds"))
    charts = []
    for across, name in axes:
        drawn = chart([Line(across, held.gap, "main")], name, "gap", log=True, level=target)
        charts.append(figure(drawn, f"Duality gap against {name}; dotted: the gap asked for"))
    for across, name in axes:
        drawn = chart([Line(across, share, "main", steps=True)], name, "screened", ratio=True)
        charts.append(figure(drawn, f"Share of coordinates proved to be at a bound, by {name}"))
    return f'<div class="charts">{"".join(charts)}</div>' + _checks(result)


def _checks(result: Result) -> str:
    held = result.history
    rows = zip(
        held.iteration.tolist(),
        (f"{s:.6f}" for s in held.seconds.tolist()),
        (f"{w:.1f}" for w in held.work.tolist()),
        (plain(v) for v in held.objective.tolist()),
        (plain(v) for v in held.gap.tolist()),
        held.preserved.tolist(),
        strict=True,
    )
    head = ("step", "seconds", "work", "objective", "gap", "open columns")
    return details(f"All {len(held)} checks as numbers", table(head, rows))
