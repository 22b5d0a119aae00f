"""The logistic loss."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import xlog1py, xlogy

from ..arrays import Array
from .base import Loss, compiled_brackets
from .checks import labels
from .entropy import log_logistic, logistic_pair, widest_variance
from .kinds import LOGISTIC


class Logistic(Loss):
    """f(p; y) = log(1 + exp(-y p)), y = ±1 (labels 0 and 1 become -1 and 1).

    f'(p) = -y σ(-y p), with σ(x) = 1 / (1 + exp(-x)), is ¼-Lipschitz, so alpha = 4. With s = -y v,
    f*(v) = s log s + (1 - s) log(1 - s) on 0 <= s <= 1; it is 0 at both ends.
    """

    name = "logistic"
    inverts_derivative = brackets_compiled = True
    alpha = 4.0
    reaches_slopes = False
    roundoff_derivative = 24.0
    roundoff_value = 48.0

    def accept(self, target: Array) -> Array:
        """Labels as ±1."""
        return labels(target)

    def values(self, prediction: Array, target: Array) -> Array:
        """log(1 + exp(-y p))."""
        return -log_logistic(target * prediction)

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """-y σ(-y p)."""
        return -target * logistic_pair(target * prediction)[1]

    def conjugates(self, v: Array, target: Array) -> Array:
        """s log s + (1 - s) log(1 - s), s = -y v."""
        s = -target * v
        inside = (s >= 0.0) & (s <= 1.0)
        s = np.where(inside, s, 0.0)
        return np.where(inside, xlogy(s, s) + xlog1py(1.0 - s, -s), np.inf)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """-y log(s / (1 - s)), s = -y v; infinite where s is 0 or 1."""
        s = -target * v
        with np.errstate(divide="ignore"):
            return np.asarray(-target * (np.log(s) - np.log1p(-s)))

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """σ (1 - σ)."""
        sigma, sigma1 = logistic_pair(prediction)
        return np.asarray(sigma * sigma1)

    def secants(self, prediction: Array, target: Array) -> Array:
        """tanh(p / 2) / (2 p) (Jaakkola and Jordan, 2000)."""
        size = np.maximum(np.abs(prediction), 1e-8)
        return np.asarray(np.tanh(0.5 * size) / (2.0 * size))

    def local_smoothness(
        self, prediction: Array, theta: Array, gap: Array | float, target: Array
    ) -> Array:
        """1 / f*''(v) = s (1 - s), at its largest over what the gap allows (`widest_variance`)."""
        s = target * theta
        return widest_variance(s, 1.0 - s, -target * prediction, gap)

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """[-1, 0] for y = 1, [0, 1] for y = -1."""
        return np.minimum(-target, 0.0), np.maximum(-target, 0.0)

    def scalar_derivative(self) -> Callable[[float, float], float]:
        """-y σ(-y p)."""
        return _derivative

    def in_kernels(self, count: int) -> tuple[int, float, Array]:
        """As `row_losses` knows it."""
        return LOGISTIC, 1.0, np.zeros(count)

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """Those of `kernels.brackets`."""
        return compiled_brackets(self, prediction, theta, target)


def _derivative(p: float, y: float) -> float:
    tail = math.exp(-abs(p))
    return -y * (tail if y * p > 0.0 else 1.0) / (1.0 + tail)
