"""One loss on the first rows, another on the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .base import Loss, compiled_brackets


class StackedLoss(Loss):
    """F(p) = F_top(p_1 … p_m) + F_bottom(p_{m+1} …): the data term and the rows of a ridge term."""

    def __init__(self, top: Loss, bottom: Loss, split: int) -> None:
        self.top = top
        self.bottom = bottom
        self.split = split
        self._form: tuple[int, float, Array] | None = None
        self._weights: Array | None = None
        self.name = top.name
        self.alpha = min(top.alpha, bottom.alpha)
        self.quadratic = top.quadratic and bottom.quadratic
        self.cuts_slopes = top.cuts_slopes and bottom.cuts_slopes
        self.needs_nonnegative = top.needs_nonnegative
        self.brackets_compiled = top.brackets_compiled and bottom.brackets_compiled
        self.rounding_known = top.rounding_known and bottom.rounding_known
        self.reaches_slopes = top.reaches_slopes
        self.inverts_derivative = top.inverts_derivative and bottom.inverts_derivative
        self.roundoff_derivative = max(top.roundoff_derivative, bottom.roundoff_derivative)
        self.roundoff_value = max(top.roundoff_value, bottom.roundoff_value)

    def _both(self, ask: Callable[..., Array], *arrays: Array | float) -> Array:
        """The two answers, one under the other; `ask` takes a loss and its share of the arrays."""
        m = self.split

        def share(rows: slice) -> list[Array | float]:
            return [a[rows] if isinstance(a, np.ndarray) else a for a in arrays]

        above = ask(self.top, *share(slice(None, m)))
        return np.concatenate([above, ask(self.bottom, *share(slice(m, None)))])

    def values(self, prediction: Array, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, p, y: f.values(p, y), prediction, target)

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, p, y: f.derivatives(p, y), prediction, target)

    def conjugates(self, v: Array, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, v, y: f.conjugates(v, y), v, target)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, v, y: f.inverse_derivatives(v, y), v, target)

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, p, y: f.curvatures(p, y), prediction, target)

    def secants(self, prediction: Array, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, p, y: f.secants(p, y), prediction, target)

    def minimisers(self, target: Array) -> Array | None:
        """Those of both, if the data term has any."""
        above = self.top.minimisers(target[: self.split])
        return None if above is None else np.append(above, target[self.split :])

    def floors(self, count: int) -> Array:
        """Those of both."""
        below = self.bottom.floors(count - self.split)
        return np.concatenate([self.top.floors(self.split), below])

    def smoothness(self, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, y: f.smoothness(y), target)

    def curvature_bounds(self, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, y: f.curvature_bounds(y), target)

    def local_smoothness(
        self, prediction: Array, theta: Array, gap: Array | float, target: Array
    ) -> Array:
        """Those of both."""
        return self._both(
            lambda f, p, t, g, y: f.local_smoothness(p, t, g, y), prediction, theta, gap, target
        )

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """Those of both."""
        low = self._both(lambda f, y: f.dual_domain(y)[0], target)
        return low, self._both(lambda f, y: f.dual_domain(y)[1], target)

    def prox_conjugate(self, v: Array, sigma: Array | float, target: Array) -> Array:
        """Those of both."""
        return self._both(lambda f, v, s, y: f.prox_conjugate(v, s, y), v, sigma, target)

    def scalar_derivative(self) -> Callable[[float, float], float] | None:
        """That of the data: the kernels know where rows of squares begin."""
        return self.top.scalar_derivative()

    def in_kernels(self, count: int) -> tuple[int, float, Array] | None:
        """That of the data: the kernels know where rows of squares begin."""
        if self._form is None or len(self._form[2]) != count:
            self._form = self._stacked_form(count)
        return self._form

    def _stacked_form(self, count: int) -> tuple[int, float, Array] | None:
        form = self.top.in_kernels(self.split)
        if form is None:
            return None
        kind, parameter, background = form
        return kind, parameter, np.append(background, np.zeros(count - self.split))

    def row_weights(self, count: int) -> tuple[Array, int]:
        """Those of both."""
        if self._weights is None or len(self._weights) != count:
            self._weights = self._stacked_weights(count)
        return self._weights, self.split

    def _stacked_weights(self, count: int) -> Array:
        above, _ = self.top.row_weights(self.split)
        below, _ = self.bottom.row_weights(count - self.split)
        return np.concatenate([above, below])

    def derivative_errors(self, prediction: Array, derivatives: Array, target: Array) -> Array:
        """Those of both."""
        return self._both(
            lambda f, p, d, y: f.derivative_errors(p, d, y), prediction, derivatives, target
        )

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """Those of both."""
        if self.brackets_compiled:
            return compiled_brackets(self, prediction, theta, target)
        return self._both(
            lambda f, p, t, y: f.fenchel_young_terms(p, t, y), prediction, theta, target
        )
