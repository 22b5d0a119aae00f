"""The squared hinge loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .base import Loss, compiled_brackets
from .checks import labels
from .kinds import SQUARED_HINGE


class SquaredHinge(Loss):
    """f(p; y) = ½ max(0, 1 - y p)², y = ±1 (labels 0 and 1 become -1 and 1).

    f'(p) = -y max(0, 1 - y p) is 1-Lipschitz, so alpha = 1. With a = -y v, f*(v) = ½ a² - a for
    a >= 0, +inf for a < 0.
    """

    name = "squared_hinge"
    cuts_slopes = inverts_derivative = brackets_compiled = True
    alpha = 1.0
    roundoff_derivative = 1.0
    roundoff_value = 6.0

    def accept(self, target: Array) -> Array:
        """Labels as ±1."""
        return labels(target)

    def values(self, prediction: Array, target: Array) -> Array:
        """½ max(0, 1 - y p)²."""
        return 0.5 * np.maximum(1.0 - target * prediction, 0.0) ** 2

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """-y max(0, 1 - y p)."""
        return -target * np.maximum(1.0 - target * prediction, 0.0)

    def conjugates(self, v: Array, target: Array) -> Array:
        """a (½ a - 1), a = -y v >= 0."""
        a = -target * v
        return np.where(a >= 0.0, a * (0.5 * a - 1.0), np.inf)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """v + y."""
        return v + target

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """1 where 1 - y p >= 0, else 0."""
        return (target * prediction <= 1.0).astype(np.float64)

    def minimisers(self, target: Array) -> Array:
        """y: a margin of 1."""
        return target

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """(-inf, 0] for y = 1, [0, inf) for y = -1."""
        return np.where(target > 0.0, -np.inf, 0.0), np.where(target > 0.0, 0.0, np.inf)

    def prox_conjugate(self, v: Array, sigma: Array | float, target: Array) -> Array:
        """-y max(0, (sigma - y v) / (1 + sigma))."""
        return -target * np.maximum((sigma - target * v) / (1.0 + sigma), 0.0)

    def scalar_derivative(self) -> Callable[[float, float], float]:
        """-y max(0, 1 - y p)."""
        return _derivative

    def in_kernels(self, count: int) -> tuple[int, float, Array]:
        """As `row_losses` knows it."""
        return SQUARED_HINGE, 1.0, np.zeros(count)

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """Those of `kernels.brackets`."""
        return compiled_brackets(self, prediction, theta, target)


def _derivative(p: float, y: float) -> float:
    return -y * max(1.0 - y * p, 0.0)
