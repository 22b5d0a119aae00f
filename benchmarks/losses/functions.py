"""The losses in plain NumPy: f, f' and f* for scoring and for L-BFGS-B, with no code of boxreg's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

Array = NDArray[np.float64]

_LEAST = 1e-300
"""Predictions count as at least this under a logarithm."""


def _weighted(rows: Array, w: Array | float) -> Array:
    """w times the rows; the rows themselves where no weights were given."""
    return rows if isinstance(w, float) and w == 1.0 else w * rows


class Function(ABC):
    """F(p) = sum_i w_i f(p_i; y_i); all weights are 1 unless given."""

    name: str

    @property
    def finite_at_zero(self) -> bool:
        return True

    @abstractmethod
    def value_and_slope(self, p: Array, y: Array, w: Array | float = 1.0) -> tuple[float, Array]:
        """F(p) = sum_i w_i f(p_i; y_i) and w f'(p)."""

    @abstractmethod
    def conjugate(self, v: Array, y: Array) -> float:
        """F*(v); inf outside its domain."""


@dataclass(frozen=True)
class Quadratic(Function):
    """½ (p - y)²."""

    name = "least_squares"

    def value_and_slope(self, p: Array, y: Array, w: Array | float = 1.0) -> tuple[float, Array]:
        r = p - y
        slope = _weighted(r, w)
        return 0.5 * float(r @ slope), slope

    def conjugate(self, v: Array, y: Array) -> float:
        return float(v @ y + 0.5 * v @ v)


@dataclass(frozen=True)
class Huber(Function):
    """½ r² for |r| <= δ, δ |r| - ½ δ² beyond; r = p - y."""

    delta: float
    name = "huber"

    def value_and_slope(self, p: Array, y: Array, w: Array | float = 1.0) -> tuple[float, Array]:
        r = p - y
        slope = np.clip(r, -self.delta, self.delta)
        weighted = _weighted(slope, w)
        return float(weighted @ r - 0.5 * weighted @ slope), weighted

    def conjugate(self, v: Array, y: Array) -> float:
        if np.max(np.abs(v), initial=0.0) > self.delta:
            return np.inf
        return float(v @ y + 0.5 * v @ v)


@dataclass(frozen=True)
class Logistic(Function):
    """log(1 + exp(-y p)), y = ±1."""

    name = "logistic"

    def value_and_slope(self, p: Array, y: Array, w: Array | float = 1.0) -> tuple[float, Array]:
        z = y * p
        tail = np.exp(-np.abs(z))
        value = float(
            np.sum(_weighted(np.log1p(tail), w)) - np.sum(_weighted(np.minimum(z, 0.0), w))
        )
        return value, _weighted(-y * np.where(z > 0.0, tail, 1.0) / (1.0 + tail), w)

    def conjugate(self, v: Array, y: Array) -> float:
        s = -y * v
        if np.min(s, initial=0.0) < 0.0 or np.max(s, initial=0.0) > 1.0:
            return np.inf
        return float(np.sum(xlogy(s, s) + xlog1py(1.0 - s, -s)))


@dataclass(frozen=True)
class SquaredHinge(Function):
    """½ max(0, 1 - y p)², y = ±1."""

    name = "squared_hinge"

    def value_and_slope(self, p: Array, y: Array, w: Array | float = 1.0) -> tuple[float, Array]:
        short = np.maximum(1.0 - y * p, 0.0)
        weighted = _weighted(short, w)
        return 0.5 * float(weighted @ short), -y * weighted

    def conjugate(self, v: Array, y: Array) -> float:
        s = -y * v
        if np.min(s, initial=0.0) < 0.0:
            return np.inf
        return float(0.5 * s @ s - np.sum(s))


@dataclass(frozen=True)
class LogCosh(Function):
    """log cosh(p - y)."""

    name = "log_cosh"

    def value_and_slope(self, p: Array, y: Array, w: Array | float = 1.0) -> tuple[float, Array]:
        r = p - y
        size = np.abs(r)
        values = size + np.log1p(np.exp(-2.0 * size)) - np.log(2.0)
        return float(np.sum(_weighted(values, w))), _weighted(np.tanh(r), w)

    def conjugate(self, v: Array, y: Array) -> float:
        if np.max(np.abs(v), initial=0.0) > 1.0:
            return np.inf
        entropy = xlog1py(1.0 + v, v) + xlog1py(1.0 - v, -v)
        return float(v @ y + 0.5 * np.sum(entropy))


@dataclass(frozen=True)
class KullbackLeibler(Function):
    """q - y + y log(y / q), q = p + b."""

    background: float = 0.0
    name = "kullback_leibler"

    @property
    def finite_at_zero(self) -> bool:
        return self.background > 0.0

    def value_and_slope(self, p: Array, y: Array, w: Array | float = 1.0) -> tuple[float, Array]:
        q = np.maximum(p + self.background, _LEAST)
        values = q - y + xlogy(y, y) - y * np.log(q)
        return float(np.sum(_weighted(values, w))), _weighted(1.0 - y / q, w)

    def conjugate(self, v: Array, y: Array) -> float:
        if np.any(v > 1.0) or np.any((v == 1.0) & (y > 0.0)):
            return np.inf
        return float(-self.background * np.sum(v) - np.sum(xlog1py(y, -v)))
