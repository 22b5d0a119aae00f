"""The Kullback–Leibler divergence (Poisson counts)."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Index, Mask
from ..rounding import SLACK, UNIT_ROUNDOFF
from .base import compiled_brackets
from .entropy import excess
from .kinds import KULLBACK_LEIBLER
from .positive import PositiveLoss


class KullbackLeibler(PositiveLoss):
    """f(p; y) = q - y + y log(y / q), q = p + b, with y >= 0 and a known background b >= 0.

    f'(p) = 1 - y / q; f*(v) = -b v - y log(1 - v) for v < 1 (and for v = 1 if y = 0). With
    h(t) = t - 1 - log t, f = y h(q / y) and f(p) + f*(-θ) + p θ = y h(q (1 + θ) / y).
    Hypotheses: y >= 0, A >= 0, lower >= 0. A row with y = 0 is linear: f = q.

    f' has no Lipschitz constant that holds wherever f* is finite, so alpha = 0; a background bounds
    f'' by y / b² over p >= 0 (`curvature_bounds`), but not the dual's curvature, which tends to 0 as θ
    grows. `local_smoothness` has the constants that the gap proves.
    """

    name = "kullback_leibler"
    inverts_derivative = brackets_compiled = True
    reaches_slopes = False
    roundoff_derivative = 4.0
    roundoff_value = 64.0

    def rows(self, kept: Index) -> KullbackLeibler:
        """The background of those rows."""
        return KullbackLeibler(self._background.rows(kept).value)

    def linear_rows(self, target: Array) -> Mask | None:
        """y = 0."""
        zero = target == 0.0
        return zero if zero.any() else None

    def values(self, prediction: Array, target: Array) -> Array:
        """y h(q / y); q where y = 0; +inf where q < 0, and where q = 0 < y."""
        q = prediction + self.background
        some = target > 0.0
        y = np.where(some, target, 1.0)
        with np.errstate(over="ignore"):
            ratio = q / y
            value = np.where(some & (ratio < np.inf), y * excess(ratio, (q - y) / y), q)
        return np.where(q >= 0.0, value, np.inf)

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """(q - y) / q; 1 where y = 0; -inf where q <= 0 < y."""
        q = prediction + self.background
        fine = q > 0.0
        with np.errstate(over="ignore"):
            slope = (q - target) / np.where(fine, q, 1.0)
        return np.where(target > 0.0, np.where(fine, slope, -np.inf), 1.0)

    def conjugates(self, v: Array, target: Array) -> Array:
        """-b v - y log(1 - v)."""
        some = target > 0.0
        inside = (v < 1.0) | (~some & (v <= 1.0))
        logs = np.log1p(-np.where(inside & some, v, 0.0))
        return np.where(inside, -self.background * v - target * logs, np.inf)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """y / (1 - v) - b."""
        return target / (1.0 - v) - self.background

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """y / q²."""
        q = prediction + self.background
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return np.where(target > 0.0, target / q / q, 0.0)

    def curvature_bounds(self, target: Array) -> Array:
        """y / b²."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            bound = np.where(self.background > 0.0, target / self.background**2, np.inf)
        return np.where(target > 0.0, bound, 0.0)

    def local_smoothness(
        self, prediction: Array, theta: Array, gap: Array | float, target: Array
    ) -> Array:
        """1 / f*''(-θ) = (1 + θ)² / y, at the largest of θ_i, ρ_i and what θ*_i can be.

        Let h(t) <= g = gap / y. For t > 1, h(t) >= (t - 1)² / (2 t) (equal at 1, and the derivatives
        are (t - 1) / t >= (t - 1)(t + 1) / (2 t²)), so t <= 1 + g + √(2 g + g²). For t < 1,
        h(t) >= ½ (1 - t)² as h'' = 1 / t² >= 1, and h(t) >= -1 - log t, so
        t >= max(1 - √(2 g), exp(-1 - g)). The bracket of (p, θ*) has t = q (1 + θ*) / y, that of
        (p*, θ) has t = q* (1 + θ) / y with 1 + θ* = y / q*. Hence
        1 + θ* <= min(y t_hi / q, (1 + θ) / t_lo, y / b), the last because q* >= b.
        """
        q = prediction + self.background
        y = np.where(target > 0.0, target, 1.0)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            g = np.maximum(gap, 0.0) / y * SLACK
            root = np.sqrt(g) * np.sqrt(2.0 + g)
            lowest = np.maximum(1.0 - np.sqrt(2.0 * g) * SLACK, np.exp(-1.0 - g)) / SLACK
            at_point = y / q
            most = np.minimum(at_point * (1.0 + g + root), (1.0 + theta) / lowest)
            most = np.where(np.isnan(most), np.inf, np.minimum(most, y / self.background))
            most = np.maximum(np.maximum(most, at_point), 1.0 + theta) * SLACK
            bound = most / y * most * SLACK
        return np.where((target > 0.0) & (q > 0.0) & (theta > -1.0), bound, np.inf)

    def in_kernels(self, count: int) -> tuple[int, float, Array]:
        """As `row_losses` knows it."""
        return KULLBACK_LEIBLER, 1.0, np.broadcast_to(self.background, count)

    def secants(self, prediction: Array, target: Array) -> Array:
        """1 / q; +inf at q = 0."""
        with np.errstate(over="ignore", divide="ignore"):
            return np.asarray(1.0 / np.maximum(prediction + self.background, 0.0))

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """(-inf, 1), with its end where y = 0."""
        return np.full_like(target, -np.inf), np.ones_like(target)

    def prox_conjugate(self, v: Array, sigma: Array | float, target: Array) -> Array:
        """1 - z with z² - (1 - c) z - sigma y = 0, z >= 0, c = v + sigma b."""
        c = v + sigma * self.background
        apart = np.abs(1.0 - c)
        root = np.hypot(apart, 2.0 * np.sqrt(sigma * target))
        longer = 0.5 * (apart + root)
        shorter = np.divide(sigma * target, longer, out=np.zeros_like(longer), where=longer > 0.0)
        s = 1.0 - np.where(c <= 1.0, longer, shorter)
        return np.minimum(s, np.where(target > 0.0, 1.0 - UNIT_ROUNDOFF, 1.0))  # 1 is outside

    def derivative_errors(self, prediction: Array, derivatives: Array, target: Array) -> Array:
        """Those of (q - y) / q, and of q = p + b: half an ulp of q moves f' by u q f''."""
        own = super().derivative_errors(prediction, derivatives, target)
        if self._background.zero:
            return own
        q = prediction + self.background
        return own + 2.0 * UNIT_ROUNDOFF * target / np.where(q > 0.0, q, np.inf)

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """Those of `kernels.brackets`."""
        return compiled_brackets(self, prediction, theta, target)
