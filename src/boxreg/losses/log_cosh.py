"""The log-cosh loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import xlog1py

from ..arrays import Array
from ..rounding import SLACK
from .base import Loss, compiled_brackets
from .checks import positive
from .entropy import widest_variance
from .kinds import LOG_COSH


class LogCosh(Loss):
    """f(p; y) = δ² log cosh(r / δ), r = p - y, δ = `scale` > 0: ½ r² for small r, δ |r| for large.

    f'(p) = δ tanh(r / δ) is 1-Lipschitz, so alpha = 1. With w = v / δ in [-1, 1],
    f*(v) = v y + ½ δ² ((1 + w) log(1 + w) + (1 - w) log(1 - w)). Hypotheses: none on y.
    """

    name = "log_cosh"
    inverts_derivative = brackets_compiled = True
    alpha = 1.0
    reaches_slopes = False
    roundoff_derivative = 24.0
    roundoff_value = 64.0

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = positive("scale", scale)

    def values(self, prediction: Array, target: Array) -> Array:
        """½ δ² log(1 + sinh² z), and δ² (|z| - log 2 + log(1 + exp(-2 |z|))) for large z = r / δ."""
        z = np.abs(prediction - target) / self.scale
        small = 0.5 * np.log1p(np.sinh(np.minimum(z, 1.0)) ** 2)
        large = z - math.log(2.0) + np.log1p(np.exp(-2.0 * z))
        return np.asarray(self.scale**2 * np.where(z <= 1.0, small, large))

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """δ tanh(r / δ), kept in [-δ, δ]."""
        slope = self.scale * np.tanh((prediction - target) / self.scale)
        return np.clip(slope, -self.scale, self.scale)

    def conjugates(self, v: Array, target: Array) -> Array:
        """v y + δ² (w atanh w + ½ log(1 - w²)), the sum of logarithms for large w."""
        w = np.abs(v) / self.scale
        inside = np.abs(v) <= self.scale
        w = np.where(inside, np.minimum(w, 1.0), 0.0)
        c = np.minimum(w, 0.5)
        small = c * np.arctanh(c) + 0.5 * np.log1p(-c * c)
        large = 0.5 * (xlog1py(1.0 + w, w) + xlog1py(1.0 - w, -w))
        entropy = self.scale**2 * np.where(w <= 0.5, small, large)
        return np.where(inside, v * target + entropy, np.inf)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """y + δ artanh(v / δ); infinite where |v| = δ."""
        with np.errstate(divide="ignore"):
            return np.asarray(target + self.scale * np.arctanh(v / self.scale))

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """1 / cosh²(r / δ) = 4 e / (1 + e)², e = exp(-2 |r| / δ)."""
        tail = np.exp(-2.0 * np.abs(prediction - target) / self.scale)
        return np.asarray(4.0 * tail / (1.0 + tail) ** 2)

    def local_smoothness(
        self, prediction: Array, theta: Array, gap: Array | float, target: Array
    ) -> Array:
        """1 / f*''(v) = 4 s (1 - s) with s = ½ (1 + v / δ), at its largest over what the gap allows."""
        s, s1, x = self._bernoulli(prediction, theta, target)
        share = gap / self.scale**2 * SLACK
        return np.asarray(np.minimum(4.0 * widest_variance(s, s1, x, share), 1.0))

    def secants(self, prediction: Array, target: Array) -> Array:
        """tanh(z) / z, z = r / δ."""
        z = np.maximum(np.abs(prediction - target) / self.scale, 1e-8)
        return np.asarray(np.tanh(z) / z)

    def minimisers(self, target: Array) -> Array:
        """y."""
        return target

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """[-δ, δ]."""
        return np.full_like(target, -self.scale), np.full_like(target, self.scale)

    def scalar_derivative(self) -> Callable[[float, float], float]:
        """δ tanh(r / δ)."""
        return partial(_tanh, self.scale)

    def in_kernels(self, count: int) -> tuple[int, float, Array]:
        """As `row_losses` knows it."""
        return LOG_COSH, self.scale, np.zeros(count)

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """Those of `kernels.brackets`."""
        return compiled_brackets(self, prediction, theta, target)

    def _bernoulli(self, prediction: Array, theta: Array, target: Array) -> tuple[Array, ...]:
        """s, 1 - s and 2 r / δ, none by a difference that cancels."""
        wide = 2.0 * self.scale
        r = prediction - target
        return (self.scale - theta) / wide, (self.scale + theta) / wide, 2.0 * r / self.scale


def _tanh(scale: float, p: float, y: float) -> float:
    return scale * math.tanh((p - y) / scale)
