"""Line charts as inline SVG, in the colours of the page around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from ..arrays import Array

_WIDTH, _HEIGHT = 420, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 12, 42


@dataclass(frozen=True)
class Scale:
    """Numbers to places along an axis."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, values: Array) -> Array:
        """Places of the values; NaN where a log scale has none."""
        if self.log:
            values = np.log10(values, out=np.full(values.shape, np.nan), where=values > 0)
        span = self.high - self.low
        share = (values - self.low) / span if span > 0 else np.full(values.shape, 0.5)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """A few round numbers, with their labels."""
        if not self.log:
            return [(tick, _label(tick)) for tick in _round_ticks(self.low, self.high)]
        first, last = int(np.ceil(self.low - 1e-9)), int(np.floor(self.high + 1e-9))
        step = max(1, -(-(last - first) // 5))
        return [(10.0**power, f"1e{power}") for power in range(first, last + 1, step)]


@dataclass(frozen=True)
class Line:
    """One line or cloud of a chart; `kind` is its class in the style sheet."""

    across: Array
    up: Array
    kind: str
    steps: bool = False
    dots: bool = False
    """Only dots, for values that no line connects."""


def chart(
    lines: Sequence[Line],
    across: str,
    up: str,
    *,
    log: bool = False,
    ratio: bool = False,
    level: float | None = None,
) -> str:
    """Lines over common axes; `level` is a dotted horizontal line, `ratio` an axis from 0 to 1."""
    all_x = np.concatenate([np.asarray(line.across, dtype=float) for line in lines])
    all_y = np.concatenate([np.asarray(line.up, dtype=float) for line in lines])
    shown = np.isfinite(all_x) & np.isfinite(all_y) & ((all_y > 0) | (not log))
    if not shown.any():
        return f'<p class="quiet">Nothing to draw: {escape(up)} was never finite.</p>'
    heights = all_y[shown]
    if level is not None and level > 0:
        heights = np.append(heights, level)
    x = Scale(0.0, max(float(all_x[shown].max()), 1e-300), _LEFT, _WIDTH - _RIGHT)
    y = _vertical(heights, log, ratio)
    parts = [_axes(x, y, across, up)]
    if level is not None and level > 0:
        at = float(y(np.array([level]))[0])
        parts.append(
            f'<line class="level" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        )
    parts += [_drawn(line, x, y) for line in lines]
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(up)} against {escape(across)}">{"".join(parts)}</svg>'
    )


def _vertical(heights: Array, log: bool, ratio: bool) -> Scale:
    if ratio:
        return Scale(0.0, 1.0, _HEIGHT - _BOTTOM, _TOP)
    low, high = float(np.min(heights)), float(np.max(heights))
    if log:
        low, high = float(np.floor(np.log10(low))), float(np.ceil(np.log10(high)))
        return Scale(low, max(high, low + 1.0), _HEIGHT - _BOTTOM, _TOP, log=True)
    return Scale(min(low, 0.0), max(high, 1.0), _HEIGHT - _BOTTOM, _TOP)


def _axes(x: Scale, y: Scale, across: str, up: str) -> str:
    floor, middle = _HEIGHT - _BOTTOM, (_LEFT + _WIDTH - _RIGHT) / 2
    parts = []
    for tick, label in x.ticks():
        at = float(x(np.array([tick]))[0])
        parts.append(f'<text class="tick" x="{at:.1f}" y="{floor + 17}">{label}</text>')
    for tick, label in y.ticks():
        at = float(y(np.array([tick]))[0])
        grid = f'x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"'
        parts.append(f'<line class="grid" {grid}/>')
        parts.append(f'<text class="tick end" x="{_LEFT - 6}" y="{at + 4:.1f}">{label}</text>')
    parts.append(f'<text class="name" x="{middle:.0f}" y="{_HEIGHT - 6}">{escape(across)}</text>')
    parts.append(
        f'<text class="name" transform="translate(13 {(floor + _TOP) / 2:.0f}) rotate(-90)">'
        f"{escape(up)}</text>"
    )
    return "".join(parts)


def _drawn(line: Line, x: Scale, y: Scale) -> str:
    places = zip(
        x(np.asarray(line.across, dtype=float)), y(np.asarray(line.up, float)), strict=True
    )
    points = [(h, v) for h, v in places if np.isfinite(h) and np.isfinite(v)]
    if line.dots:
        marks = "".join(f"M{h:.1f} {v:.1f}h0" for h, v in points)
        return f'<path class="dots {line.kind}" d="{marks}"/>' if marks else ""
    path = ""
    for i, (h, v) in enumerate(points):
        corner = f"H{h:.1f}" if line.steps and i else ""
        path += f"{corner}{'L' if i else 'M'}{h:.1f} {v:.1f}"
    ends = "".join(
        f'<circle class="{line.kind}" cx="{h:.1f}" cy="{v:.1f}" r="3"/>' for h, v in points[-1:]
    )
    return f'<path class="line {line.kind}" d="{path}"/>{ends}'


def _round_ticks(low: float, high: float) -> list[float]:
    """At most six multiples of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not span > 0:
        return [low]
    unit = 10.0 ** np.floor(np.log10(span))
    step = next(s * unit for s in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if span / (s * unit) <= 5.01)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return [float(k * step) + 0.0 for k in np.arange(first, last + 1)]


def _label(tick: float) -> str:
    return f"{tick:.6g}".replace("e+0", "e").replace("e-0", "e-")
