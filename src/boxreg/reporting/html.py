"""A result as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .text import result_rows

if TYPE_CHECKING:
    from ..result import Result

# Notebooks style tables themselves (stripes, right alignment); a theme's colours must shine through.
_TABLE = "border-collapse:collapse;border:none;margin:0;color:inherit;font-size:inherit"
_ROW = "background:transparent"
_CELL = "text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:none"
_NAME = f"{_CELL};opacity:0.65;font-weight:normal"
_WIDTH, _HEIGHT, _MARGIN = 200, 44, 4


def result_html(result: Result) -> str:
    """The result as a small table with a sparkline of the gap and one of the open columns."""
    mark = "✓" if result.success and result.certificate else "✗"
    rows = "".join(
        f'<tr style="{_ROW}"><th style="{_NAME}">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(value)}</td></tr>'
        for name, value in result_rows(result)
    )
    return (
        '<div style="color:inherit;background:transparent;font-size:0.92em">'
        f'<div style="margin-bottom:4px"><b>{mark} boxreg</b> {escape(result.message)}</div>'
        f'<table style="{_TABLE}">{rows}</table>'
        f'<div style="margin-top:6px">{_gap_curve(result)}{_open_curve(result)}</div></div>'
    )


def _gap_curve(result: Result) -> str:
    gap = result.history.gap
    shown = np.isfinite(gap) & (gap > 0)
    logs = np.log10(gap, out=np.full(len(gap), np.nan), where=shown)
    low, high = (logs[shown].min(), logs[shown].max()) if shown.any() else (0.0, 1.0)
    caption = "gap, log scale: " + " → ".join(f"{end:.1e}" for end in _ends(gap))
    return _sparkline(logs, low, high, caption)


def _open_curve(result: Result) -> str:
    preserved = result.history.preserved
    shares = preserved / max(result.shape[1], 1)
    return _sparkline(shares, 0.0, 1.0, "open columns: " + " → ".join(map(str, _ends(preserved))))


def _ends(values: npt.NDArray[Any]) -> list[Any]:
    """First and last of the values; fewer if there are fewer."""
    return [*values[:1], *values[1:][-1:]]


def _sparkline(values: Array, low: float, high: float, caption: str) -> str:
    """The finite values against their position, scaled so that [low, high] fills the height."""
    across = np.linspace(_MARGIN, _WIDTH - _MARGIN, max(len(values), 2))[: len(values)]
    share = (values - low) / (high - low) if high > low else 0.5 + 0.0 * values
    down = _HEIGHT - _MARGIN - share * (_HEIGHT - 2 * _MARGIN)
    places = [(h, v) for h, v in zip(across, down, strict=True) if np.isfinite(v)]
    line = " ".join(f"{h:.1f},{v:.1f}" for h, v in places)
    end = "".join(f'<circle cx="{h:.1f}" cy="{v:.1f}" r="2.5"/>' for h, v in places[-1:])
    return (
        '<span style="display:inline-block;margin-right:24px">'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" fill="currentColor">'
        f"<title>{escape(caption)}, check by check</title>"
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.5"/>{end}</svg>'
        f'<br/><span style="opacity:0.65;font-size:0.9em">{escape(caption)}</span></span>'
    )
