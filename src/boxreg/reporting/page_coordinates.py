"""Which coordinates are where, on a report page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .chart import Line, chart
from .coordinates import Places, proofs, ranges
from .page_parts import details, figure, plain, table

if TYPE_CHECKING:
    from ..result import Result

_ROWS = 500
"""Coordinates listed one by one."""
_DOTS = 4000
"""Coordinates drawn one by one; of more, an even choice."""


def coordinates(result: Result) -> str:
    """How many are at each bound, when each was proved to be, and the values of the others."""
    places = Places.of(result)
    rows = [
        ("at the lower bound", places.at_lower, places.proved_lower, "low"),
        ("at the upper bound", places.at_upper, places.proved_upper, "high"),
        ("between the bounds", places.inside, None, ""),
    ]
    body = "".join(
        f'<tr><td><span class="key {kind}"></span>{name}</td>'
        f'<td class="number">{np.count_nonzero(mask)}</td>'
        f'<td class="number">{"–" if proved is None else np.count_nonzero(proved)}</td></tr>'
        for name, mask, proved, kind in rows
    )
    summary = (
        '<div class="scroll"><table id="places"><tr><th>where</th><th class="number">in x</th>'
        f'<th class="number">proved in every solution</th></tr>{body}</table></div>'
    )
    return summary + _proved(result) + _inside(result, places)


def _proved(result: Result) -> str:
    found = proofs(result)
    if not found:
        return '<p class="quiet">No coordinate was proved to be at a bound.</p>'
    chosen = np.flatnonzero(result.screened)
    chosen = chosen[:: -(-len(chosen) // _DOTS)]
    clouds = []
    for side, kind in ((-1, "low"), (1, "high")):
        mine = chosen[result.screened[chosen] == side]
        if len(mine):
            at = result.screened_at[mine].astype(float)
            clouds.append(Line(mine.astype(float), at, kind, dots=True))
    steps = np.array([step for step, _, _ in found], dtype=float)
    curves = [
        Line(steps, np.cumsum(counts).astype(float), kind, steps=True)
        for counts, kind in (
            ([len(low) for _, low, _ in found], "low"),
            ([len(high) for _, _, high in found], "high"),
        )
    ]
    which = '<span class="key low"></span>lower <span class="key high"></span>upper'
    drawn = figure(chart(clouds, "coordinate", "step"), f"When each was proved: {which}") + figure(
        chart(curves, "steps", "proved"), f"How many were proved: {which}"
    )
    head = ("step", "at lower", "at upper", "which, at lower", "which, at upper")
    rows = [
        (step, len(low), len(high), ranges(low) or "–", ranges(high) or "–")
        for step, low, high in found
    ]
    return f'<div class="charts">{drawn}</div>' + details(
        "Which coordinates were proved when (counted from 0)", table(head, rows, words=2)
    )


def _inside(result: Result, places: Places) -> str:
    inside = np.flatnonzero(places.inside)
    if not len(inside):
        return ""
    shown = inside[np.argsort(-np.abs(result.x[inside]), kind="stable")][:_ROWS]
    title = f"The {len(inside)} coordinates between their bounds"
    if len(inside) > _ROWS:
        title += f" (the {_ROWS} largest)"
    rows = (
        (j, plain(x), plain(low), plain(high))
        for j, x, low, high in zip(
            shown.tolist(),
            result.x[shown].tolist(),
            result.lower[shown].tolist(),
            result.upper[shown].tolist(),
            strict=True,
        )
    )
    return details(title, table(("j", "x", "lower", "upper"), rows))
