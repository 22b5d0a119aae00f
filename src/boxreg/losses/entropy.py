"""h(t) = t - 1 - log t and the divergences made of it, without cancellation and with their rounding."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..arrays import Array
from ..rounding import SLACK


def excess(t: Array, d: Array) -> Array:
    """h(t) = t - 1 - log t for t = 1 + d >= 0; 0 at 1 and nowhere else, +inf at 0 and outside."""
    out = np.empty_like(t)
    _kernels().excesses(t, d, out)
    return out


def excess_bound(t: Array, error: float) -> Array:
    """Upper bound on h at every argument within a relative `error` (at most ½) of t."""
    out = np.empty_like(t)
    _kernels().excess_bounds(t, error, out)
    return out


def logistic_pair(x: Array) -> tuple[Array, Array]:
    """σ(x) and σ(-x), σ(x) = 1 / (1 + exp(-x)), each to a few ulp of itself."""
    tail = np.exp(-np.abs(x))
    large, small = 1.0 / (1.0 + tail), tail / (1.0 + tail)
    up = x >= 0.0
    return np.where(up, large, small), np.where(up, small, large)


def log_logistic(x: Array) -> Array:
    """log σ(x), to a few ulp of itself."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def bernoulli_divergence(s: Array, s1: Array, x: Array, argument_error: float) -> Array:
    """Upper bound on s log(s / σ(x)) + s1 log(s1 / σ(-x)), where s + s1 = 1; +inf outside [0, 1].

    s and s1 are off by at most 3 units roundoff of themselves, x by `argument_error` |x|.
    """
    out = np.empty_like(s)
    _kernels().bernoullis(s, s1, x, argument_error, out)
    return out


def widest_variance(s: Array, s1: Array, x: Array, gap: Array | float) -> Array:
    """max t (1 - t) over a hull of s, σ(x) and every r that both divergences allow.

    They are KL(r‖σ) <= gap and KL(s‖r) <= gap. KL(r‖σ) = ∫ (r - t) / (t (1 - t)) dt over [σ, r] is at
    least (r - σ)² / (2 r) for r > σ, and so is KL(s‖r) with s in the place of σ; solved for r,
    r <= σ + gap + √(gap² + 2 gap σ), and s likewise. The same holds for 1 - r.
    """
    sigma, sigma1 = logistic_pair(x)
    upper, lower = _top(s, sigma, gap), _top(s1, sigma1, gap)
    ends = np.where(upper < 0.5, upper * (1.0 - upper), lower * (1.0 - lower))
    return np.where((upper >= 0.5) & (lower >= 0.5), 0.25, np.minimum(ends * SLACK, 0.25))


def _top(s: Array, sigma: Array, gap: Array | float) -> Array:
    s = np.clip(s, 0.0, 1.0)
    reach = np.minimum(_beyond(s, gap), _beyond(sigma, gap))
    return np.asarray(np.minimum(np.maximum(np.maximum(s, sigma), reach) * SLACK, 1.0))


def _beyond(sigma: Array, gap: Array | float) -> Array:
    return np.asarray(sigma + (gap + np.sqrt(gap * (gap + 2.0 * sigma))) * SLACK)


@cache
def _kernels() -> Any:
    from ..kernels import entropies

    return entropies
