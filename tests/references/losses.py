"""Every loss in high precision: one row each in `ROWS`, or several where parameters matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
from hypothesis import strategies as st
from mpmath import mpf

from boxreg.losses import (
    BetaDivergence,
    Huber,
    KullbackLeibler,
    LeastSquares,
    LogCosh,
    Logistic,
    Loss,
    SquaredHinge,
)

Precise = Callable[[Any, Any], Any]
Numbers = st.SearchStrategy[float]


@dataclass(frozen=True)
class Row:
    """A loss, where to draw predictions and targets from, and f, f', f* of mpmath numbers."""

    loss: Loss
    predictions: Numbers
    targets: Numbers
    value: Precise
    derivative: Precise
    conjugate: Precise


def powers(low: int, high: int) -> Numbers:
    """Positive numbers of every size from 10^low to 10^high."""
    return st.tuples(st.floats(1.0, 9.99), st.integers(low, high)).map(
        lambda t: t[0] * 10.0 ** t[1]
    )


def signed(positive: Numbers) -> Numbers:
    """Either sign, and 0."""
    return st.one_of(st.just(0.0), positive, positive.map(lambda x: -x))


MILD = signed(powers(-2, 2))
WIDE = st.one_of(MILD, signed(powers(-100, 100)))
SIZES = st.one_of(powers(-2, 2), powers(-100, 100))
COUNTS = st.one_of(st.just(0.0), st.integers(1, 50).map(float), SIZES)
LABELS = st.sampled_from([-1.0, 1.0])


def _huber(delta: float) -> tuple[Precise, Precise, Precise]:
    d = mpf(delta)
    return (
        lambda p, y: (p - y) ** 2 / 2 if abs(p - y) <= d else d * abs(p - y) - d * d / 2,
        lambda p, y: max(-d, min(d, p - y)),
        lambda v, y: v * v / 2 + v * y if abs(v) <= d else mpmath.inf,
    )


def _x_log_x(x: Any) -> Any:
    return x * mpmath.log(x) if x > 0 else mpf(0)


def _entropy(s: Any) -> Any:
    return _x_log_x(s) + _x_log_x(1 - s) if 0 <= s <= 1 else mpmath.inf


def _softplus(x: Any) -> Any:
    return max(x, mpf(0)) + mpmath.log1p(mpmath.exp(-abs(x)))


def _sigma(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x)) if x > 0 else mpmath.exp(x) / (1 + mpmath.exp(x))


def _log_cosh(scale: float) -> tuple[Precise, Precise, Precise]:
    d = mpf(scale)
    log2 = lambda: mpmath.log(2)  # noqa: E731 at the precision of the moment
    return (
        lambda p, y: d * d * (_softplus(2 * (p - y) / d) - (p - y) / d - log2()),
        lambda p, y: d * (2 * _sigma(2 * (p - y) / d) - 1),
        lambda v, y: v * y + d * d * (_entropy((1 + v / d) / 2) + log2()),
    )


def _kullback_leibler(background: float) -> tuple[Precise, Precise, Precise]:
    b = mpf(background)

    def value(p: Any, y: Any) -> Any:
        q = p + b
        if y == 0:
            return q
        return q - y + y * mpmath.log(y / q) if q > 0 else mpmath.inf

    def conjugate(v: Any, y: Any) -> Any:
        if y == 0:
            return -b * v if v <= 1 else mpmath.inf
        return -b * v - y * mpmath.log(1 - v) if v < 1 else mpmath.inf

    def derivative(p: Any, y: Any) -> Any:
        if y == 0:
            return mpf(1)
        return 1 - y / (p + b) if p + b > 0 else -mpmath.inf

    return value, derivative, conjugate


def beta_root(v: Any, y: Any, beta: Any) -> Any:
    """q with q^(β-1) - y q^(β-2) = v, by Newton's method to the working precision."""
    up, down = beta - 1, 2 - beta
    if y == 0:
        return v ** (1 / up) if v > 0 else mpf(0)
    w = v / y**up
    k = down / up if w >= 0 else up / down
    z = max(abs(w), mpf(1))
    for _ in range(2000):
        lower = z**-k
        step = (abs(w) + lower - z) / (1 + k * lower / z)
        z += step
        if abs(step) <= z * mpf(10) ** (4 - mpmath.mp.dps):
            break
    return y * z ** (1 / up if w >= 0 else -1 / down)


def _beta(number: float, background: float) -> tuple[Precise, Precise, Precise]:
    beta, b = mpf(number), mpf(background)

    def value(p: Any, y: Any) -> Any:
        q = p + b
        first = y**beta / (beta * (beta - 1)) + q**beta / beta
        return first - (y * q ** (beta - 1) / (beta - 1) if q > 0 else 0)

    def derivative(p: Any, y: Any) -> Any:
        q = p + b
        if q == 0:
            return mpf(0) if y == 0 else -mpmath.inf
        return q ** (beta - 1) - y * q ** (beta - 2)

    def conjugate(v: Any, y: Any) -> Any:
        q = beta_root(v, y, beta)
        return (q - b) * v - value(q - b, y)

    return value, derivative, conjugate


_NEAR_COUNTS = st.one_of(st.just(0.0), powers(-2, 2), powers(-40, 40))

ROWS: dict[str, Row] = {
    "least_squares": Row(
        LeastSquares(),
        WIDE,
        WIDE,
        lambda p, y: (p - y) ** 2 / 2,
        lambda p, y: p - y,
        lambda v, y: v * v / 2 + v * y,
    ),
    "huber": Row(Huber(), WIDE, WIDE, *_huber(1.0)),
    "huber, delta 0.03": Row(Huber(0.03), WIDE, WIDE, *_huber(0.03)),
    "logistic": Row(
        Logistic(),
        WIDE,
        LABELS,
        lambda p, y: _softplus(-y * p),
        lambda p, y: -y * _sigma(-y * p),
        lambda v, y: _entropy(-y * v),
    ),
    "squared_hinge": Row(
        SquaredHinge(),
        WIDE,
        LABELS,
        lambda p, y: max(mpf(0), 1 - y * p) ** 2 / 2,
        lambda p, y: -y * max(mpf(0), 1 - y * p),
        lambda v, y: v * v / 2 + y * v if -y * v >= 0 else mpmath.inf,
    ),
    "log_cosh": Row(LogCosh(), WIDE, WIDE, *_log_cosh(1.0)),
    "log_cosh, scale 0.3": Row(LogCosh(0.3), WIDE, WIDE, *_log_cosh(0.3)),
    "kullback_leibler": Row(KullbackLeibler(), COUNTS, COUNTS, *_kullback_leibler(0.0)),
    "kullback_leibler, background": Row(
        KullbackLeibler(0.7), COUNTS, COUNTS, *_kullback_leibler(0.7)
    ),
    "beta_divergence": Row(BetaDivergence(), COUNTS, COUNTS, *_beta(1.5, 0.0)),
    "beta_divergence, background": Row(BetaDivergence(1.5, 0.2), COUNTS, COUNTS, *_beta(1.5, 0.2)),
    "beta_divergence, 1.1": Row(BetaDivergence(1.1), _NEAR_COUNTS, _NEAR_COUNTS, *_beta(1.1, 0.0)),
    "beta_divergence, 1.85 and background": Row(
        BetaDivergence(1.85, 0.1), _NEAR_COUNTS, _NEAR_COUNTS, *_beta(1.85, 0.1)
    ),
}
"""Name of the loss, and what is particular about the row after a comma."""
