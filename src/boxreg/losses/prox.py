"""The prox of a conjugate, by a scalar equation in each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array

if TYPE_CHECKING:
    from .base import Loss

_STEPS = 100
_WIDE = 1e300
_SHARE = 1.0 / 16.0
_ROUNDED = 1e-14
"""A share of the terms of the equation that their rounding may leave, whatever p is."""


def prox_of_conjugate(loss: Loss, v: Array, sigma: Array | float, target: Array) -> Array:
    """argmin_s f*(s) + (s - v)² / (2 sigma), elementwise.

    With s = f'(p) the minimum is where f'(p) + sigma p = v: increasing in p, with slope at least
    sigma. Newton's method on it, kept inside a bracket that shrinks at every step. Where f' is bounded
    the bracket is known; the start is where f' changes most, from which Newton's method does not leave
    it.
    """
    sigma = np.broadcast_to(np.asarray(sigma, dtype=np.float64), v.shape)
    least, most = loss.dual_domain(target)
    floor = 0.0 if loss.needs_nonnegative else -_WIDE
    low = np.clip(_widened((v - most) / sigma, -1.0), floor, _WIDE)
    high = np.clip(_widened((v - least) / sigma, 1.0), floor, _WIDE)
    centre = target
    if loss.needs_nonnegative:
        centre = np.where(target > 0.0, target, np.maximum(v / sigma, 1.0))
    p = np.clip(centre, low, high)
    for _ in range(_STEPS):
        slope = loss.derivatives(p, target)
        excess = slope + sigma * p - v
        high = np.where(excess > 0.0, p, high)
        low = np.where(excess <= 0.0, p, low)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            newton = p - excess / (loss.curvatures(p, target) + sigma)
        inside = (newton > low) & (newton < high)
        # Where Newton leaves the bracket: double away from 0 while one end is open, else halve.
        half = _halfway(low, high) if loss.needs_nonnegative else 0.5 * (low + high)
        middle = np.where(high >= _WIDE, 2.0 * np.abs(p) + 1.0, half)
        middle = np.where(low <= -_WIDE, -2.0 * np.abs(p) - 1.0, middle)
        size = np.abs(slope) + sigma * np.abs(p) + np.abs(v)
        nothing = np.abs(excess) <= _ROUNDED * size
        following = np.where(nothing, p, np.where(inside, newton, middle))
        settled = np.abs(following - p) <= 4e-16 * np.abs(following)
        p = following
        if np.all(settled):
            break
    # s = f'(p) = v - sigma p: whichever magnifies the error of p less.
    with np.errstate(invalid="ignore", over="ignore"):
        flat = loss.curvatures(p, target) < sigma
        s = np.where(flat, loss.derivatives(p, target), v - sigma * p)
    return np.clip(s, least, most)


def _halfway(low: Array, high: Array) -> Array:
    """Between two p >= 0 of which the root may be a small share: in proportion, not in the middle."""
    return np.where(low > 0.0, np.sqrt(low) * np.sqrt(high), _SHARE * high)


def _widened(end: Array, sign: float) -> Array:
    """An end of a bracket, a little farther out: the quotient was rounded."""
    return end + sign * 1e-12 * np.abs(end)
