"""Sample weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array, Index, Mask
from ..rounding import UNIT_ROUNDOFF
from .base import Loss, compiled_brackets

_ROUNDOFF = 2.0 * UNIT_ROUNDOFF


class Weighted(Loss):
    """sum_i ω_i f(p_i; y_i) with weights ω_i > 0, for any loss f.

    (ω f)' = ω f', (ω f)*(v) = ω f*(v / ω), and each row has its own constant ω_i / alpha. A rounded
    v / ω, put back on an end of the domain that it has passed by rounding, belongs to a v within two
    unit roundoffs of the one asked for: that is two terms more in the error of a product with it, which
    `ReducedProblem.correlation_error` has to spare.
    """

    def __init__(self, loss: Loss, weights: Array) -> None:
        self.loss = loss
        self.weights = weights
        self.name = loss.name
        self.alpha = loss.alpha / float(np.max(weights)) if len(weights) else loss.alpha
        self.quadratic = loss.quadratic
        self.cuts_slopes = loss.cuts_slopes
        self.needs_nonnegative = loss.needs_nonnegative
        self.brackets_compiled = loss.brackets_compiled
        self.rounding_known = loss.rounding_known
        self.reaches_slopes = loss.reaches_slopes
        self.inverts_derivative = loss.inverts_derivative
        self.roundoff_derivative = loss.roundoff_derivative + 1.0
        self.roundoff_value = loss.roundoff_value + 1.0

    def values(self, prediction: Array, target: Array) -> Array:
        """ω f(p)."""
        return self.weights * self.loss.values(prediction, target)

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """ω f'(p)."""
        return self.weights * self.loss.derivatives(prediction, target)

    def conjugates(self, v: Array, target: Array) -> Array:
        """ω f*(v / ω)."""
        return self.weights * self.loss.conjugates(self._unweighted(v, target), target)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """f*'(v / ω)."""
        return self.loss.inverse_derivatives(v / self.weights, target)

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """ω f''(p)."""
        return self.weights * self.loss.curvatures(prediction, target)

    def accept(self, target: Array) -> Array:
        """As f takes them."""
        return self.loss.accept(target)

    def check_rows(self, count: int) -> None:
        """One weight a row, and the parameters of f."""
        if len(self.weights) != count:
            raise ValueError(
                f"sample_weight: expected one entry for each of the {count} rows of A, "
                f"got {len(self.weights)} entries"
            )
        self.loss.check_rows(count)

    def secants(self, prediction: Array, target: Array) -> Array:
        """ω times those of f."""
        return self.weights * self.loss.secants(prediction, target)

    def minimisers(self, target: Array) -> Array | None:
        """Those of f."""
        return self.loss.minimisers(target)

    def rows(self, kept: Index) -> Weighted:
        """The weights of those rows."""
        return Weighted(self.loss.rows(kept), self.weights[kept])

    def linear_rows(self, target: Array) -> Mask | None:
        """Those of f."""
        return self.loss.linear_rows(target)

    def smoothness(self, target: Array) -> Array:
        """ω / alpha."""
        return self.weights * self.loss.smoothness(target)

    def curvature_bounds(self, target: Array) -> Array:
        """ω times those of f."""
        return self.weights * self.loss.curvature_bounds(target)

    def local_smoothness(
        self, prediction: Array, theta: Array, gap: Array | float, target: Array
    ) -> Array:
        """ω times that of f, whose bracket is at most gap / ω."""
        share = gap / self.weights
        return self.weights * self.loss.local_smoothness(
            prediction, -self._unweighted(-theta, target), share, target
        )

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """ω times that of f*."""
        low, high = self.loss.dual_domain(target)
        return self.weights * low, self.weights * high

    def prox_conjugate(self, v: Array, sigma: Array | float, target: Array) -> Array:
        """ω prox of f* at v / ω with sigma / ω."""
        ratio = sigma / self.weights
        return self.weights * self.loss.prox_conjugate(v / self.weights, ratio, target)

    def scalar_derivative(self) -> Callable[[float, float], float] | None:
        """That of f: the kernels know the weights."""
        return self.loss.scalar_derivative()

    def in_kernels(self, count: int) -> tuple[int, float, Array] | None:
        """That of f: the kernels know the weights."""
        return self.loss.in_kernels(count)

    def row_weights(self, count: int) -> tuple[Array, int]:
        """The weights."""
        return self.weights, count

    def derivative_errors(self, prediction: Array, derivatives: Array, target: Array) -> Array:
        """ω times those of f, and one more rounding (twice the bound covers both)."""
        own = self.loss.derivative_errors(prediction, derivatives / self.weights, target)
        return super().derivative_errors(prediction, derivatives, target) + self.weights * own

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """ω times those of f at theta / ω."""
        if self.brackets_compiled:
            return compiled_brackets(self, prediction, theta, target)
        own = -self._unweighted(-theta, target)
        terms = self.loss.fenchel_young_terms(prediction, own, target)
        return self.weights * terms * (1.0 + 2e-16)

    def _unweighted(self, v: Array, target: Array) -> Array:
        """v / ω, on the end of the domain where it is beyond that by two unit roundoffs at most."""
        own = v / self.weights
        low, high = self.loss.dual_domain(target)
        own = np.where((own < low) & (own >= low - _ROUNDOFF * np.abs(low)), low, own)
        return np.where((own > high) & (own <= high + _ROUNDOFF * np.abs(high)), high, own)
