"""The Fenchel–Young gap f(p) + f*(-theta) + p theta of a row, for the losses that kernels know.

Upper bounds, rounding included: 0 exactly where theta = -f'(p), +inf where -theta is outside the domain
of f*.
"""

from __future__ import annotations

import numpy as np

from ..losses.kinds import HUBER, KULLBACK_LEIBLER, LOG_COSH, LOGISTIC, SQUARED_HINGE, SQUARES
from ..rounding import FAINT, RATIO, SLACK, TINY, UNIT_ROUNDOFF
from .compiling import branch, compiled, leaf
from .entropies import bernoulli, excess_bound

_ENDS = 2.0 * UNIT_ROUNDOFF
"""A rounded v / ω counts as an end of the domain if it is beyond that by no more than this share."""


@leaf
def _of_squares(p, theta, y):  # type: ignore[no-untyped-def]
    """½ (theta - (y - p))²."""
    rho = y - p
    apart = abs(theta - rho) + UNIT_ROUNDOFF * (abs(rho) + abs(theta))
    return max(0.5 * apart * apart * SLACK, TINY) if apart > 0.0 else 0.0


@leaf
def _of_huber(delta, p, theta, y):  # type: ignore[no-untyped-def]
    """½ (v - r)² where |r| <= δ, else (δ - w) (|r| - δ + ½ (δ - w)), w = v sgn r; v = -theta.

    Rounding is monotone: a computed |r| > δ proves it of the true one; and where the true |r| is
    slightly larger than δ, ½ (v - r)² is larger than the bracket.
    """
    if not abs(theta) <= delta:
        return np.inf
    r = p - y
    size = abs(r)
    if size <= delta:
        near = abs(theta + r) + UNIT_ROUNDOFF * (abs(theta) + 2.0 * size)
        return max(0.5 * near * near * SLACK, TINY) if near > 0.0 else 0.0
    room = delta + (theta if r > 0.0 else -theta)
    far = room * (size - delta + 0.5 * room + 2.0 * UNIT_ROUNDOFF * size) * SLACK
    return max(far, TINY) if room > 0.0 else 0.0


@leaf
def _of_squared_hinge(p, theta, y):  # type: ignore[no-untyped-def]
    """With m = 1 - y p, a = y theta: ½ (m - a)² where m >= 0, else ½ a² + a |m|."""
    m, a = 1.0 - y * p, y * theta
    if not a >= 0.0:
        return np.inf
    if m >= 0.0:
        near = abs(m - a) + UNIT_ROUNDOFF * (abs(a) + 2.0 * m)
        return max(0.5 * near * near * SLACK, TINY) if near > 0.0 else 0.0
    return max(a * (0.5 * a + abs(m)) * SLACK, TINY) if a > 0.0 else 0.0


@leaf
def of_kullback_leibler(q, theta, y):  # type: ignore[no-untyped-def]
    """y h(q (1 + theta) / y), h(t) = t - 1 - log t; q (1 + theta) where y = 0."""
    slope = 1.0 + theta
    if not (q >= 0.0 and slope >= 0.0):
        return np.inf
    product = q * slope
    if y == 0.0:
        return 0.0 if q == 0.0 or slope == 0.0 else max(product * SLACK, TINY)
    ratio = (product if product > FAINT else 0.0) / y
    # Where the ratio overflows, y log(y / product) < 0 leaves less than the product.
    bound = y * excess_bound(ratio, RATIO) if ratio < np.inf else product
    return max(bound * SLACK, TINY)


@branch
def _bracket(kind, k, b, p, theta, y):  # type: ignore[no-untyped-def]
    """That of the loss of this kind, with its parameter and its background."""
    if kind == SQUARES:
        bound = _of_squares(p, theta, y)
    elif kind == HUBER:
        bound = _of_huber(k, p, theta, y)
    elif (
        kind == LOGISTIC
    ):  # s log(s / σ) + (1 - s) log((1 - s) / (1 - σ)), s = y theta, σ = σ(-y p)
        bound = bernoulli(y * theta, 1.0 - y * theta, -y * p, 0.0)
    elif kind == SQUARED_HINGE:
        bound = _of_squared_hinge(p, theta, y)
    elif kind == LOG_COSH:  # the same with s = ½ (1 - theta / δ), σ = σ(2 r / δ), times δ²
        wide, x = 2.0 * k, 2.0 * (p - y) / k
        bound = bernoulli((k - theta) / wide, (k + theta) / wide, x, 3.0 * UNIT_ROUNDOFF)
        bound = k * k * bound * SLACK
    elif kind == KULLBACK_LEIBLER:
        bound = of_kullback_leibler(p + b, theta, y)
    else:
        bound = np.inf
    return bound if bound >= 0.0 else np.inf


@leaf
def _unweighted(kind, k, y, v):  # type: ignore[no-untyped-def]
    """v / ω, put back on the end of the domain that it has passed by its own rounding."""
    low, high = -np.inf, np.inf
    if kind in (HUBER, LOG_COSH):
        low, high = -k, k
    elif kind == LOGISTIC:
        low, high = min(-y, 0.0), max(-y, 0.0)
    elif kind == KULLBACK_LEIBLER:
        high = 1.0
    if low - _ENDS * abs(low) <= v < low:
        return low
    return high if high < v <= high + _ENDS * abs(high) else v


@branch
def row_bracket(kind, k, b, weight, p, theta, y):  # type: ignore[no-untyped-def]
    """ω f(p) + (ω f)*(-theta) + p theta."""
    if weight == 1.0:
        return _bracket(kind, k, b, p, theta, y)
    v = _unweighted(kind, k, y, -theta / weight)
    return weight * _bracket(kind, k, b, p, -v, y) * (1.0 + _ENDS)


@compiled
def brackets(kind, k, background, weights, split, p, theta, y, out):  # type: ignore[no-untyped-def]
    """The bracket of every row, that of squares from row `split` on."""
    for i in range(len(p)):
        own = kind if i < split else SQUARES
        out[i] = row_bracket(own, k, background[i], weights[i], p[i], theta[i], y[i])
