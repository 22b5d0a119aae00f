"""The duality gap of a Kullback–Leibler problem, compiled: `boxreg.duality` and the loss's brackets.

f(q; y) = y h(q / y), h(t) = t - 1 - log t; bracket of a row: y h(q (1 + θ) / y), or q (1 + θ) where
y = 0.
Hypotheses: A >= 0, x >= 0, background b >= 0.
"""

from __future__ import annotations

import numpy as np

from ..rounding import (
    AGAIN,
    COMBINATION,
    MARGIN,
    SLACK,
    STRETCH,
)
from .box_certificates import box_terms, gamma, size_of
from .brackets import of_kullback_leibler
from .compiling import branch, leaf_sums
from .entropies import excess


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
        high = of_kullback_leibler(p[i] + e + background[i], theta[i], y[i])
        total += max(high, of_kullback_leibler(max(p[i] - e, 0.0) + background[i], theta[i], y[i]))
    total = total * (1.0 + gamma(len(y) + 1)) + sums
    return total * SLACK * SLACK  # once more for another order of summation
