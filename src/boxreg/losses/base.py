"""What a loss must say about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..arrays import Array
from ..rounding import UNIT_ROUNDOFF, gamma


class Loss(ABC):
    """A separable data-fitting term F(p) = sum_i f(p_i; y_i), f convex and differentiable.

    Three elementwise functions and a constant define one: `values`, `derivatives`, `conjugates` and
    `alpha`. Hypothesis: f' is (1/alpha)-Lipschitz in its first argument, so that the dual objective
    is alpha-strongly concave. Everything else is derived, and may be overridden where a closed form
    is faster or loses fewer digits.
    """

    name: str

    alpha: float
    """Strong-concavity constant of the dual."""

    prediction_domain: tuple[float, float] = (-np.inf, np.inf)
    """Where f(·; y) is finite: the predictions must stay inside."""

    quadratic: bool = False
    """f' is affine: residuals and correlations of combined points combine in the same way."""

    roundoff_derivative: float = 8.0
    """Relative error of one computed derivative, in units of the unit roundoff."""

    roundoff_value: float = 16.0
    """Relative error of one computed value or conjugate, in units of the unit roundoff."""

    @abstractmethod
    def values(self, prediction: Array, target: Array) -> Array:
        """f(p_i; y_i), elementwise."""

    @abstractmethod
    def derivatives(self, prediction: Array, target: Array) -> Array:
        """f'(p_i; y_i), elementwise."""

    @abstractmethod
    def conjugates(self, v: Array, target: Array) -> Array:
        """f*(v_i; y_i) = sup_p p v_i - f(p; y_i), elementwise; +inf outside the domain."""

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """Lower and upper ends of the domain of f*(·; y_i), elementwise."""
        return np.full_like(target, -np.inf), np.full_like(target, np.inf)

    def prox_conjugate(self, v: Array, sigma: float, target: Array) -> Array:
        """argmin_s f*(s; y_i) + (s - v_i)² / (2 sigma), elementwise (for primal-dual solvers)."""
        raise NotImplementedError(f"the loss {self.name!r} has no prox of its conjugate")

    def objective(self, prediction: Array, target: Array) -> float:
        """F(p)."""
        return float(np.sum(self.values(prediction, target)))

    def residual(self, prediction: Array, target: Array) -> Array:
        """rho = -∇F(p)."""
        return -self.derivatives(prediction, target)

    def conjugate(self, v: Array, target: Array) -> float:
        """F*(v)."""
        return float(np.sum(self.conjugates(v, target)))

    def fenchel_young(self, prediction: Array, theta: Array, target: Array) -> float:
        """Upper bound, rounding included, on F(p) + F*(-theta) + <p, theta> >= 0.

        Zero exactly when theta = -∇F(p). The general form cancels; a loss that knows better
        overrides it.
        """
        terms = (
            self.values(prediction, target),
            self.conjugates(-theta, target),
            prediction * theta,
        )
        size = float(sum(np.sum(np.abs(term)) for term in terms))
        if not np.isfinite(size):
            return np.inf
        error = gamma(3 * len(target)) + self.roundoff_value * UNIT_ROUNDOFF
        return max(float(np.sum(terms[0] + terms[1] + terms[2])), 0.0) + error * size
