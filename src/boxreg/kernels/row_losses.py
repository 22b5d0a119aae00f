"""Derivatives of the losses of this package, row by row, for kernels that solve any of them.

One kernel serves all: a number tells which loss it is, so that nothing is compiled for each of them.
Nothing here feeds a bound.
"""

from __future__ import annotations

import math
from collections import namedtuple

from ..losses.kinds import HUBER, KULLBACK_LEIBLER, LOG_COSH, LOGISTIC, SQUARED_HINGE, SQUARES
from .compiling import branch, leaf

Rows = namedtuple("Rows", ["kind", "parameter", "background", "target", "weights", "split"])
"""Which loss it is, its parameter (δ of Huber's loss and of log-cosh, β of a β-divergence), b, y and ω
of each row, and where rows of squares begin."""


@leaf
def _derivative(kind, k, p, b, y):  # type: ignore[no-untyped-def]  # noqa: PLR0911
    """f'(p; y)."""
    if kind == SQUARES:
        return p - y
    if kind == HUBER:
        return min(max(p - y, -k), k)
    if kind == LOGISTIC:
        tail = math.exp(-abs(p))
        return -y * (tail if y * p > 0.0 else 1.0) / (1.0 + tail)
    if kind == SQUARED_HINGE:
        return -y * max(1.0 - y * p, 0.0)
    if kind == LOG_COSH:
        return k * math.tanh((p - y) / k)
    q = p + b
    if kind == KULLBACK_LEIBLER:
        return (q - y) / q if q > 0.0 else -math.inf
    if q > 0.0:
        return q ** (k - 2.0) * (q - y)
    return -math.inf if y > 0.0 else 0.0


@leaf
def _curvatures(kind, k, p, b, y):  # type: ignore[no-untyped-def]  # noqa: PLR0911
    """f''(p; y), and the curvature of the parabola that touches f at p and has its minimum."""
    if kind == SQUARES:
        return 1.0, 1.0
    if kind == HUBER:
        size = abs(p - y)
        return (1.0, 1.0) if size <= k else (0.0, k / size)
    if kind == LOGISTIC:
        size = abs(p)
        tail = math.exp(-size)
        secant = 0.25 if size < 1e-6 else math.tanh(0.5 * size) / (2.0 * size)
        return tail / ((1.0 + tail) * (1.0 + tail)), secant
    if kind == SQUARED_HINGE:
        return (1.0 if y * p <= 1.0 else 0.0), 1.0
    if kind == LOG_COSH:
        z = abs(p - y) / k
        tail = math.exp(-2.0 * z)
        secant = 1.0 if z < 1e-6 else math.tanh(z) / z
        return 4.0 * tail / ((1.0 + tail) * (1.0 + tail)), secant
    q = p + b
    if not q > 0.0:
        return math.inf, math.inf
    if kind == KULLBACK_LEIBLER:
        return y / q / q, 1.0 / q
    return q ** (k - 3.0) * ((k - 1.0) * q + (2.0 - k) * y), q ** (k - 2.0)


@branch
def residual_at(rows, p, out):  # type: ignore[no-untyped-def]
    """out = -∇F(p); whether all of it is finite."""
    finite = True
    for i in range(len(p)):
        kind = rows.kind if i < rows.split else SQUARES
        slope = _derivative(kind, rows.parameter, p[i], rows.background[i], rows.target[i])
        out[i] = -rows.weights[i] * slope
        finite &= abs(out[i]) < math.inf
    return finite


@branch
def curvatures_at(rows, p, caution, optimism, out):  # type: ignore[no-untyped-def]
    """out = f'' + κ (s - f''), s the secants: κ is the caution where s > f'', the optimism elsewhere.

    None is less than a little of the largest, and where all are 0 they count as 1.
    """
    most = 0.0
    for i in range(len(p)):
        kind = rows.kind if i < rows.split else SQUARES
        h, s = _curvatures(kind, rows.parameter, p[i], rows.background[i], rows.target[i])
        if h < math.inf:
            h += (caution if s > h else optimism) * (s - h)
        out[i] = rows.weights[i] * h
        if out[i] < math.inf:
            most = max(most, out[i])
    for i in range(len(p)):
        out[i] = min(max(out[i], _FLAT * most), most) if most > 0.0 else 1.0


@branch
def ideal_predictions(rows, out):  # type: ignore[no-untyped-def]
    """out = argmin f of every row; the label of a logistic loss, which has none."""
    counts = rows.kind >= KULLBACK_LEIBLER
    for i in range(len(out)):
        out[i] = rows.target[i]
        if counts and i < rows.split:
            out[i] = max(rows.target[i] - rows.background[i], 0.0)


_FLAT = 1e-12
"""The least curvature, as a share of the largest."""


@branch
def curvatures(rows, p, out):  # type: ignore[no-untyped-def]
    """out = √f''(p), 0 where that is not finite."""
    for i in range(len(p)):
        kind = rows.kind if i < rows.split else SQUARES
        h, _ = _curvatures(kind, rows.parameter, p[i], rows.background[i], rows.target[i])
        out[i] = math.sqrt(rows.weights[i] * h) if h < math.inf else 0.0
