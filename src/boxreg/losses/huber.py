"""Huber's loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..arrays import Array
from .base import Loss, compiled_brackets
from .checks import positive
from .kinds import HUBER


class Huber(Loss):
    """f(p; y) = ½ r² if |r| <= δ, else δ |r| - ½ δ², with r = p - y and δ > 0.

    f'(p) = r clipped to [-δ, δ] is 1-Lipschitz, so alpha = 1; f*(v) = ½ v² + v y on [-δ, δ].
    Hypotheses: none on y.
    """

    name = "huber"
    cuts_slopes = inverts_derivative = brackets_compiled = True
    alpha = 1.0
    roundoff_derivative = 1.0
    roundoff_value = 6.0

    def __init__(self, delta: float = 1.0) -> None:
        self.delta = positive("delta", delta)

    def values(self, prediction: Array, target: Array) -> Array:
        """c (|r| - ½ c) with c = min(|r|, δ): one form for both sides."""
        size = np.abs(prediction - target)
        inner = np.minimum(size, self.delta)
        return np.asarray(inner * (size - 0.5 * inner))

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """r clipped to [-δ, δ]."""
        return np.clip(prediction - target, -self.delta, self.delta)

    def conjugates(self, v: Array, target: Array) -> Array:
        """v (½ v + y)."""
        return np.where(np.abs(v) <= self.delta, v * (0.5 * v + target), np.inf)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """v + y."""
        return v + target

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """1 where |r| <= δ, 0 beyond."""
        return (np.abs(prediction - target) <= self.delta).astype(np.float64)

    def secants(self, prediction: Array, target: Array) -> Array:
        """min(1, δ / |r|)."""
        return np.asarray(self.delta / np.maximum(np.abs(prediction - target), self.delta))

    def minimisers(self, target: Array) -> Array:
        """y."""
        return target

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """[-δ, δ]."""
        return np.full_like(target, -self.delta), np.full_like(target, self.delta)

    def prox_conjugate(self, v: Array, sigma: Array | float, target: Array) -> Array:
        """(v - sigma y) / (1 + sigma), clipped to [-δ, δ]."""
        return np.clip((v - sigma * target) / (1.0 + sigma), -self.delta, self.delta)

    def scalar_derivative(self) -> Callable[[float, float], float]:
        """r clipped to [-δ, δ]."""
        return partial(_clipped, self.delta)

    def in_kernels(self, count: int) -> tuple[int, float, Array]:
        """As `row_losses` knows it."""
        return HUBER, self.delta, np.zeros(count)

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """Those of `kernels.brackets`."""
        return compiled_brackets(self, prediction, theta, target)


def _clipped(delta: float, p: float, y: float) -> float:
    return min(max(p - y, -delta), delta)
