"""Least squares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..rounding import SLACK, TINY, UNIT_ROUNDOFF, dot, norm
from .base import Loss, compiled_brackets
from .kinds import SQUARES


class LeastSquares(Loss):
    """f(p; y) = ½ (p - y)².

    f'(p) = p - y is 1-Lipschitz, so alpha = 1; f*(v) = ½ v² + v y = ½ ((y + v)² - y²), finite
    everywhere. Hypotheses: none on y.
    """

    name = "least_squares"
    inverts_derivative = brackets_compiled = True
    alpha = 1.0
    quadratic = half_square = cuts_slopes = True
    roundoff_derivative = 1.0
    roundoff_value = 3.0

    def values(self, prediction: Array, target: Array) -> Array:
        """½ (p - y)²."""
        return 0.5 * (prediction - target) ** 2

    def objective(self, prediction: Array, target: Array) -> float:
        """½ ||p - y||²."""
        rho = prediction - target
        return 0.5 * dot(rho, rho)

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """p - y."""
        return prediction - target

    def residual(self, prediction: Array, target: Array) -> Array:
        """y - p."""
        return target - prediction

    def conjugates(self, v: Array, target: Array) -> Array:
        """v (½ v + y): one rounding fewer than the difference of squares, and no cancellation."""
        return v * (0.5 * v + target)

    def conjugate(self, v: Array, target: Array) -> float:
        """Σ v (½ v + y)."""
        return dot(v, 0.5 * v + target)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """v + y."""
        return v + target

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """1."""
        return np.ones_like(prediction)

    def prox_conjugate(self, v: Array, sigma: Array | float, target: Array) -> Array:
        """(v - sigma y) / (1 + sigma)."""
        return (v - sigma * target) / (1.0 + sigma)

    def scalar_derivative(self) -> Callable[[float, float], float]:
        """p - y."""
        return _derivative

    def in_kernels(self, count: int) -> tuple[int, float, Array]:
        """As `row_losses` knows it."""
        return SQUARES, 1.0, np.zeros(count)

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """½ (theta - (y - p))², elementwise."""
        return compiled_brackets(self, prediction, theta, target)

    def fenchel_young(self, prediction: Array, theta: Array, target: Array) -> float:
        """½ ||theta - (y - p)||²: a square, so nothing cancels."""
        rho = target - prediction
        return half_square_gap(norm(theta - rho), norm(rho))


def half_square_gap(apart: float, size: float) -> float:
    """½ ||theta - rho||², rounding included, given ||theta - rho|| and ||rho|| as computed."""
    distance = apart + UNIT_ROUNDOFF * (size + apart)
    return max(0.5 * distance * distance * SLACK, TINY) if distance > 0.0 else 0.0


def _derivative(p: float, y: float) -> float:
    return p - y
