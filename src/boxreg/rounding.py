"""Rounding-error bounds: the constants that turn a computed number into a proof.

Model (Higham, *Accuracy and Stability of Numerical Algorithms*, ch. 3): a sum or inner product of
k terms, evaluated in any order, with or without fused multiply-adds, satisfies

    |fl(sum a_i b_i) - sum a_i b_i| <= gamma_k sum |a_i| |b_i|,    gamma_k = k u / (1 - k u),

with u = 2^-53. By Cauchy–Schwarz a column product a_jᵀv is then off by at most gamma_k ||a_j|| ||v||.
That takes no product of its own; the sum itself is asked for where it may be far smaller.
Hypothesis: no overflow and no harmful underflow. Validation refuses data whose column norms leave
[SMALLEST_NORM, 1 / SMALLEST_NORM], which keeps both away.

The constants are those of every proof: Python, numba's kernels and those for GPUs take them from here
and nowhere else (a changed one makes kernels compile again, see `kernels.caching`).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from .arrays import Array

UNIT_ROUNDOFF: Final = 2.0**-53
"""u: the relative error of one operation in float64."""

SLACK: Final = 1.0 + 1e-8
"""Covers the rounding of the error bounds themselves: norms and sums of positive numbers, whose
relative error is at most gamma_k and so below 1e-8 for every k up to 9e7."""

TINY: Final = 1e-300
"""More than every underflow of a sum together: each adds at most 2^-1074, and no sum has 1e22 terms."""

LEAST: Final = 2.0**-1074
"""The least number above 0: more than one product loses by underflow, sums losing nothing."""

UNDERFLOW: Final = 1e-150
"""Numbers below this have squares, or products with column norms, that may underflow."""

SMALLEST_NORM: Final = 1e-140
"""Column norms below this, or above its inverse, are refused: their squares may leave float64."""

FAINT: Final = 1e-290
"""Arguments of a logarithm or a power count as 0 up to here: next to the end of float64's range their
relative error is no longer a few units roundoff."""

COMBINATION: Final = 6.0 * UNIT_ROUNDOFF
"""Relative error of theta + s t and of its products by linearity: three roundings each, of numbers no
larger than ||theta|| + s ||t||, in theta and in the products."""

ELEMENTARY: Final = 8.0 * UNIT_ROUNDOFF
"""Relative error granted to one exp, log, tanh or power: vectorised libraries promise 4 ulp."""

SERIES: Final = 0.25
"""|t - 1| up to which t - 1 - log t is summed as a series, whose terms do not cancel."""

SERIES_ROUNDING: Final = 32.0 * UNIT_ROUNDOFF
"""Relative error of that series, and of the difference beyond it but for the logarithm's own."""

RATIO: Final = 6.0 * UNIT_ROUNDOFF
"""Relative error of q (1 + theta) / y, q a sum of two numbers: five roundings."""

MARGIN: Final = 3.0
"""Dual feasibility is left with this many times its rounding error to spare, so that the certificate,
which computes the products again, proves it too."""

AGAIN: Final = 1.0 + 2.0 * (1.0 + 1e-7)
"""Errors are charged so many times in a gap that is reported as a claim: once for this computation, and
twice for how far from it another computation, in another order of summation, may be."""

STRETCH: Final = 1.0 + 1e-12
"""A step towards an anchor is made longer by this factor, which covers the rounding of the step."""

_PIECE = 8192
_PIECES = 16


def gamma(terms: int) -> float:
    """Worst relative error of a sum of products with `terms` terms."""
    return terms * UNIT_ROUNDOFF / (1.0 - terms * UNIT_ROUNDOFF)


def dot(u: Array, v: Array) -> float:
    """uᵀv. In pieces too short for the threads of BLAS, which take longer to wake than the sum does."""
    if len(u) <= _PIECE:
        return float(u.dot(v))
    if len(u) > _PIECES * _PIECE:
        return float(np.einsum("i,i->", u, v))
    total = 0.0
    for k in range(0, len(u), _PIECE):
        total += u[k : k + _PIECE].dot(v[k : k + _PIECE])
    return float(total)


def norm(v: Array) -> float:
    """Euclidean norm of v, within a factor SLACK of the true one, squares that underflow included."""
    return root(dot(v, v), v)


def root(square: float, v: Array) -> float:
    """The norm of v, given vᵀv; v is scaled by its largest entry where the squares underflow."""
    size = math.sqrt(square)
    if size >= UNDERFLOW or not v.size:
        return size
    largest = float(np.max(np.abs(v)))
    if largest == 0.0:
        return 0.0
    scaled = v / largest
    return max(largest * math.sqrt(dot(scaled, scaled)), largest)


def norm_at_least(v: Array) -> float:
    """A lower bound on the Euclidean norm of v: what may be subtracted in a proof."""
    size = norm(v)
    return size / SLACK if size >= TINY else 0.0
