"""h(t) = t - 1 - log t and the divergences made of it, number by number, with their rounding.

`losses.entropy` says what they are for.
"""

from __future__ import annotations

import math

import numpy as np

from ..rounding import ELEMENTARY, FAINT, SERIES, SERIES_ROUNDING, TINY
from .compiling import compiled, leaf


@leaf
def excess(t, d):  # type: ignore[no-untyped-def]
    """h(t) for t = 1 + d >= 0; 0 at 1 and nowhere else, +inf at 0 and outside.

    Near 1, where d counts and t does not, with s = d / (2 + d): log t = 2 (s + s³/3 + s⁵/5 + …) and
    d - 2 s = s d, so h = s d - 2 s³ (1/3 + s²/5 + …). The second term is at most a tenth of the first;
    ten terms leave 1e-17 of h.
    """
    if abs(d) <= SERIES:
        s = d / (2.0 + d)
        z, tail = s * s, 0.0
        for k in range(21, 1, -2):
            tail = tail * z + 1.0 / k
        return s * d - 2.0 * s * z * tail
    return d - math.log(t) if FAINT < t < np.inf else np.inf


@leaf
def excess_bound(t, error):  # type: ignore[no-untyped-def]
    """Upper bound on h at every argument within a relative `error` (at most ½) of t.

    h(t (1 + e)) - h(t) = t e - log(1 + e) <= (t - 1) e + e². To that comes the rounding of `excess`.
    """
    value, d = excess(t, t - 1.0), abs(t - 1.0)
    if not value < np.inf:
        return np.inf
    own = SERIES_ROUNDING * value + (2.0 * ELEMENTARY * d if d > SERIES else 0.0)
    return (value + own + d * error + error * error) * (1.0 + ELEMENTARY)


@leaf
def _part(s, sigma, log_sigma, error, argument_error):  # type: ignore[no-untyped-def]
    """Upper bound on s h(σ / s) = σ - s + s log(s / σ), which is σ at s = 0."""
    if not s > FAINT:
        return (sigma if sigma <= FAINT else sigma * (1.0 + error)) * (1.0 + ELEMENTARY) + TINY
    if sigma <= FAINT:  # where σ underflows its logarithm does not
        log = math.log(s)
        far = log - log_sigma
        far += 2.0 * (ELEMENTARY + argument_error) * (abs(log) + abs(log_sigma))
        return s * max(far - 1.0 + sigma / s, 0.0) * (1.0 + ELEMENTARY)
    return s * excess_bound(sigma / s, error) * (1.0 + ELEMENTARY)


@leaf
def bernoulli(s, s1, x, argument_error):  # type: ignore[no-untyped-def]
    """Upper bound on s log(s / σ(x)) + s1 log(s1 / σ(-x)), where s + s1 = 1; +inf outside [0, 1].

    Written as s h(σ / s) + s1 h((1 - σ) / s1): two terms >= 0. s and s1 are off by at most 3 units
    roundoff of themselves, x by `argument_error` |x|, which moves log σ(x) by at most
    `argument_error` |x| σ(-x).
    """
    if not (s >= 0.0 and s1 >= 0.0):
        return np.inf
    tail = math.exp(-abs(x))
    large, small, log = 1.0 / (1.0 + tail), tail / (1.0 + tail), math.log1p(tail)
    sigma, sigma1 = (large, small) if x >= 0.0 else (small, large)
    own, moved = 4.0 * ELEMENTARY, argument_error * min(abs(x), 1e15)
    first = _part(s, sigma, min(x, 0.0) - log, own + moved * sigma1, argument_error)
    second = _part(s1, sigma1, min(-x, 0.0) - log, own + moved * sigma, argument_error)
    return max(first + second, TINY)


@compiled
def excesses(t, d, out):  # type: ignore[no-untyped-def]
    """`excess` of every pair."""
    for i in range(len(t)):
        out[i] = excess(t[i], d[i])


@compiled
def excess_bounds(t, error, out):  # type: ignore[no-untyped-def]
    """`excess_bound` of every t."""
    for i in range(len(t)):
        out[i] = excess_bound(t[i], error)


@compiled
def bernoullis(s, s1, x, argument_error, out):  # type: ignore[no-untyped-def]
    """`bernoulli` of every triple."""
    for i in range(len(s)):
        out[i] = bernoulli(s[i], s1[i], x[i], argument_error)
