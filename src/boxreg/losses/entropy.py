"""h(t) = t - 1 - log t and the divergences made of it, without cancellation and with their rounding."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..rounding import ELEMENTARY, FAINT, SERIES, SERIES_ROUNDING, SLACK, TINY

_ODD = 1.0 / np.arange(21.0, 1.0, -2.0)


def excess(t: Array, d: Array) -> Array:
    """h(t) = t - 1 - log t for t = 1 + d >= 0; 0 at 1 and nowhere else, +inf at 0 and outside.

    Near 1, where d counts and t does not, with s = d / (2 + d): log t = 2 (s + s³/3 + s⁵/5 + …) and
    d - 2 s = s d, so h = s d - 2 s³ (1/3 + s²/5 + …). The second term is at most a tenth of the first;
    ten terms leave 1e-17 of h.
    """
    near = np.abs(d) <= SERIES
    s = np.where(near, d, 0.0) / np.where(near, 2.0 + d, 2.0)
    square = s * s
    tail = np.polyval(_ODD, square)
    inside = (t > FAINT) & (t < np.inf)
    far = d - np.log(np.where(inside, t, 1.0))
    return np.where(near, s * d - 2.0 * s * square * tail, np.where(inside, far, np.inf))


def excess_bound(t: Array, error: Array | float) -> Array:
    """Upper bound on h at every argument within a relative `error` (at most ½) of t.

    h(t (1 + e)) - h(t) = t e - log(1 + e) <= (t - 1) e + e². To that comes the rounding of `excess`.
    """
    value = excess(t, t - 1.0)
    d = np.abs(t - 1.0)
    with np.errstate(invalid="ignore"):  # d = inf: value is inf too
        own = SERIES_ROUNDING * value + np.where(d > SERIES, 2.0 * ELEMENTARY * d, 0.0)
        bound = (value + own + d * error + error * np.asarray(error)) * (1.0 + ELEMENTARY)
    return np.where(np.isfinite(value), bound, np.inf)


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

    Written as s h(σ / s) + s1 h((1 - σ) / s1): two terms >= 0. s and s1 are off by at most 3 units
    roundoff of themselves, x by `argument_error` |x|, which moves log σ(x) by at most
    `argument_error` |x| σ(-x).
    """
    sigma, sigma1 = logistic_pair(x)
    log_sigma, log_sigma1 = log_logistic(x), log_logistic(-x)
    own = 4.0 * ELEMENTARY
    moved = argument_error * np.minimum(np.abs(x), 1e15)
    first = _part(s, sigma, log_sigma, own + moved * sigma1, argument_error)
    second = _part(s1, sigma1, log_sigma1, own + moved * sigma, argument_error)
    return np.where((s >= 0.0) & (s1 >= 0.0), np.maximum(first + second, TINY), np.inf)


def _part(s: Array, sigma: Array, log_sigma: Array, error: Array, argument_error: float) -> Array:
    """Upper bound on s h(σ / s) = σ - s + s log(s / σ), which is σ at s = 0."""
    some = s > FAINT
    scale = np.where(some, s, 1.0)
    close = scale * excess_bound(np.where(some, sigma, 1.0) / scale, error)
    # Where σ underflows its logarithm does not.
    far = np.log(scale) - log_sigma
    far += 2.0 * (ELEMENTARY + argument_error) * (np.abs(np.log(scale)) + np.abs(log_sigma))
    faint = np.where(some, scale * np.maximum(far - 1.0 + sigma / scale, 0.0), sigma)
    bound = np.where(sigma <= FAINT, faint, np.where(some, close, sigma * (1.0 + error)))
    return bound * (1.0 + ELEMENTARY) + np.where(some, 0.0, TINY)


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
