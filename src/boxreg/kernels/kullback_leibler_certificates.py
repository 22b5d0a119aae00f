"""The duality gap of a Kullback–Leibler problem, compiled: `boxreg.duality` and the loss's brackets.

f(q; y) = y h(q / y), h(t) = t - 1 - log t; bracket of a row: y h(q (1 + θ) / y), or q (1 + θ) where
y = 0.
Hypotheses: A >= 0, x >= 0, background b >= 0.
"""

from __future__ import annotations

import math

import numpy as np

from ..rounding import (
    AGAIN,
    COMBINATION,
    ELEMENTARY,
    FAINT,
    MARGIN,
    RATIO,
    SERIES,
    SERIES_ROUNDING,
    SLACK,
    STRETCH,
    TINY,
)
from .box_certificates import box_terms, gamma, size_of
from .compiling import branch, leaf, leaf_sums


@leaf
def excess(t, d):  # type: ignore[no-untyped-def]
    """h(t) for t = 1 + d, without cancellation (see `losses.entropy`)."""
    if abs(d) <= SERIES:
        s = d / (2.0 + d)
        z, tail = s * s, 0.0
        for k in range(21, 1, -2):
            tail = tail * z + 1.0 / k
        return s * d - 2.0 * s * z * tail
    return d - math.log(t) if FAINT < t < np.inf else np.inf


@leaf
def _excess_bound(t, error):  # type: ignore[no-untyped-def]
    """Upper bound on h at every argument within a relative `error` of t."""
    value, d = excess(t, t - 1.0), abs(t - 1.0)
    own = SERIES_ROUNDING * value + (2.0 * ELEMENTARY * d if d > SERIES else 0.0)
    return (value + own + d * error + error * error) * (1.0 + ELEMENTARY)


@leaf
def _bracket(q, theta, y):  # type: ignore[no-untyped-def]
    """Upper bound on f(q; y) + f*(-θ) + p θ."""
    slope = 1.0 + theta
    if not (q >= 0.0 and slope >= 0.0):
        return np.inf
    product = q * slope
    if y == 0.0:
        return 0.0 if q == 0.0 or slope == 0.0 else max(product * SLACK, TINY)
    ratio = (product if product > FAINT else 0.0) / y
    bound = y * _excess_bound(ratio, RATIO) if ratio < np.inf else product
    return max(bound * SLACK, TINY)


@branch
def divergence(q, y):  # type: ignore[no-untyped-def]
    """sum_i f(q_i; y_i); inf where q_i = 0 < y_i."""
    total = 0.0
    for i in range(len(y)):
        if y[i] == 0.0:
            total += q[i]
        elif q[i] <= 0.0:
            return np.inf
        else:
            ratio = q[i] / y[i]
            total += y[i] * excess(ratio, (q[i] - y[i]) / y[i]) if ratio < np.inf else q[i]
    return total


@leaf_sums
def shrink(w, theta, y, sums, norms, box, error):  # type: ignore[no-untyped-def]
    """Move theta towards -1, where every w_j is -a_jᵀ1, as little as feasibility asks; the error of w.

    Rows with y = 0 have θ = -1 already. -1.0 where nothing will do.
    """
    size, root = size_of(theta), np.sqrt(float(len(theta)))
    own = gamma(len(theta) + 2) * root * SLACK
    doubt = MARGIN * (error + COMBINATION * size)
    spare = MARGIN * (own + COMBINATION * root)
    share = 0.0
    for j in range(len(w)):
        over = w[j] + doubt * norms[j]
        if over > 0.0 and box.side[j] > 0.0:
            room = sums[j] - spare * norms[j]
            if not room > 0.0:
                return -1.0
            share = max(share, over / (over + room))
    if share == 0.0:
        return error
    share = share * STRETCH
    if not share < 1.0:
        return -1.0
    for i in range(len(theta)):
        theta[i] = (1.0 - share) * theta[i] - share if y[i] > 0.0 else -1.0
    for j in range(len(w)):
        w[j] = (1.0 - share) * w[j] - share * sums[j]
    # Each component is off by at most 3u |θ_i| + 2u share, and so is each product, over ||a_j||.
    return (1.0 - share) * error + share * own + COMBINATION * (size + share * root)


@branch
def kullback_leibler_gap(x, p, w, theta, y, background, norms, box, error):  # type: ignore[no-untyped-def]
    """Upper bound on P(x) - D(theta); `error` is that of w, p the computed A x."""
    sums = box_terms(x, w, norms, box, error, AGAIN * error, False)
    if not sums < np.inf:
        return np.inf
    count = 0
    for j in range(len(x)):
        count += x[j] != 0.0
    relative, total = AGAIN * gamma(count + 4) * SLACK, 0.0
    for i in range(len(y)):
        e = relative * p[i]
        high = _bracket(p[i] + e + background[i], theta[i], y[i])
        total += max(high, _bracket(max(p[i] - e, 0.0) + background[i], theta[i], y[i]))
    total = total * (1.0 + gamma(len(y) + 1)) + sums
    return total * SLACK * SLACK  # once more for another order of summation
