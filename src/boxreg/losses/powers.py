"""Powers near 1 without cancellation, for β-divergences."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..rounding import ELEMENTARY, UNIT_ROUNDOFF

_NEAR = 0.0625
_TERMS = 15
_STEPS = 100


def power_excess(t: Array, d: Array, a: float) -> tuple[Array, Array]:
    """|(t^a - 1) / a - d| for t = 1 + d >= 0, a in (0, 1) or (1, 2), and a bound on its error.

    It is 0 at t = 1 and nowhere else. Near 1 by the binomial series,
    (a - 1) d² / 2 (1 + (a - 2) d / 3 (1 + (a - 3) d / 4 (…))). The bound includes an error of 4 units
    roundoff in t or d.
    """
    near = np.abs(d) <= _NEAR
    c = np.where(near, d, 0.0)
    tail = np.ones_like(c)
    for n in range(_TERMS, 2, -1):
        tail *= c
        tail *= (a + 1.0 - n) / n
        tail += 1.0
    series = abs(a - 1.0) * 0.5 * c * c * tail
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        log = np.log(t)
        power = t**a
        # t^a - 1 by the one of two ways that keeps its digits
        grown = np.where(np.abs(a * log) < 1.0, np.expm1(a * log), power - 1.0)
        far = np.abs(grown / a - d)
        size = np.abs(d) + np.maximum(power, 1.0) * np.minimum(np.abs(log), 1.0 / a)
    moved = np.abs(c) + 8.0 * UNIT_ROUNDOFF  # the slope of the series' sum is at most 2 |d|
    near_error = 4.0 * ELEMENTARY * series + 16.0 * UNIT_ROUNDOFF * moved
    return np.where(near, series, far), np.where(near, near_error, 6.0 * ELEMENTARY * size)


def power_root(w: Array, beta: float) -> Array:
    """t > 0 with t^(β-1) - t^(β-2) = w; 0 or +inf where it leaves the floats.

    With z = t^(β-1) for w >= 0, z = t^(β-2) for w < 0, and k = (2-β) / (β-1) or its inverse, the
    equation is z - z^-k = |w|, z >= 1: concave and increasing, so that Newton's method climbs to the
    root from max(1, |w|) on its left. A last step in t restores its digits. Closed form at β = 3/2.
    """
    if beta == 1.5:
        return _root_of_three_halves(w)
    up, down = beta - 1.0, 2.0 - beta
    size = np.abs(w)
    k = np.where(w >= 0.0, down / up, up / down)
    z = np.maximum(size, 1.0)
    for _ in range(_STEPS):
        lower = z**-k
        new = np.maximum(z + (size + lower - z) / (1.0 + k * lower / z), z)
        settled = new <= (1.0 + 2.0 * UNIT_ROUNDOFF) * z
        z = new
        if settled.all():
            break
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        t = z ** np.where(w >= 0.0, 1.0 / up, -1.0 / down)
        below = t**-down
        step = (w - (t - 1.0) * below) / (up * below + down * below / t)
        return np.where(np.abs(step) <= 1e-3 * t, t + step, t)


def _root_of_three_halves(w: Array) -> Array:
    """r² where r = √t solves r² - w r - 1 = 0."""
    longer = 0.5 * (np.abs(w) + np.hypot(w, 2.0))
    with np.errstate(over="ignore", under="ignore"):
        return np.where(w >= 0.0, longer, 1.0 / longer) ** 2
