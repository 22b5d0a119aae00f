"""What a loss must say about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..arrays import Array, Index, Mask, plain
from ..rounding import TINY, UNIT_ROUNDOFF, gamma
from .prox import prox_of_conjugate


class Loss(ABC):
    """A separable data-fitting term F(p) = sum_i f(p_i; y_i), f convex and differentiable.

    Three elementwise functions and a constant define one: `values`, `derivatives`, `conjugates` and
    `alpha`. Hypothesis: f' is (1/alpha)-Lipschitz in its first argument, so that the dual objective
    is alpha-strongly concave. Where no such constant exists, alpha = 0 and `local_smoothness` gives
    one for each row on an interval known to hold the solution. Everything else is derived, and may
    be overridden where a closed form is faster or loses fewer digits.

    Instances hold parameters (a threshold, a background), never anything of a run.
    """

    name: str

    alpha: float
    """Strong-concavity constant of the dual; 0 where there is only a local one."""

    half_square: bool = False
    """Whether F(p) = ½ ||rho||²: whoever has rho need not compute F(p)."""

    quadratic: bool = False
    """f' is affine: residuals and correlations of combined points combine in the same way."""

    needs_nonnegative: bool = False
    """f is defined for predictions >= 0 only: asks for A >= 0 and lower >= 0."""

    cuts_slopes: bool = False
    """f is a square whose slope is cut off at the ends of the domain of f*: f*(v) = ½ v² + v y there."""

    inverts_derivative: bool = False
    """`inverse_derivatives` is there, which `interior_point` needs."""

    brackets_compiled: bool = False
    """`kernels.brackets` knows its Fenchel–Young gaps."""

    rounding_known: bool = True
    """The two numbers that follow are proved, not taken on trust."""

    reaches_slopes: bool = True
    """f' takes every finite value at an end of the domain of f*, and does not only tend to it."""

    roundoff_derivative: float = 8.0
    """Relative error of one computed derivative, in units of the unit roundoff."""

    roundoff_value: float = 16.0
    """Relative error of one computed value or conjugate, in units of the unit roundoff."""

    def __init_subclass__(cls) -> None:
        """A loss with gaps of its own is not known to kernels unless it says so."""
        super().__init_subclass__()
        if "fenchel_young_terms" in vars(cls) and "brackets_compiled" not in vars(cls):
            cls.brackets_compiled = False

    @abstractmethod
    def values(self, prediction: Array, target: Array) -> Array:
        """f(p_i; y_i), elementwise."""

    @abstractmethod
    def derivatives(self, prediction: Array, target: Array) -> Array:
        """f'(p_i; y_i), elementwise."""

    @abstractmethod
    def conjugates(self, v: Array, target: Array) -> Array:
        """f*(v_i; y_i) = sup_p p v_i - f(p; y_i), elementwise; +inf outside the domain."""

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """f*'(v_i; y_i), elementwise: the prediction at which f' is v_i, v_i inside the domain of f*.

        Only where `inverts_derivative` says so.
        """
        raise NotImplementedError(f"the loss {self.name!r} has no inverse_derivatives")

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """f''(p_i; y_i) >= 0, elementwise, for Newton steps; a majorant will do. 0 where f is flat."""
        return self.smoothness(target)

    def secants(self, prediction: Array, target: Array) -> Array:
        """Curvatures of parabolas that touch f at p_i and have their minimum where f has.

        f'(p) / (p - argmin f): longer steps than f'' takes, or shorter ones, but in the right direction
        from far away. The Lipschitz constant, or f'' where there is none, will do instead.
        """
        known = self.smoothness(target)
        return np.where(np.isfinite(known), known, self.curvatures(prediction, target))

    def minimisers(self, target: Array) -> Array | None:
        """argmin f(·; y_i), elementwise; None where f has none."""
        return None

    def accept(self, target: Array) -> Array:
        """y in the form that the functions above take (labels as ±1, say); ValueError naming y if it
        is outside the hypotheses."""
        return target

    def floors(self, count: int) -> Array:
        """The least prediction of each row for which f is defined: 0, or -inf."""
        return np.full(count, 0.0 if self.needs_nonnegative else -np.inf)

    def check_rows(self, count: int) -> None:
        """ValueError naming the parameter of the loss that does not fit `count` rows."""
        return

    def rows(self, kept: Index) -> Loss:
        """The loss of the rows `kept` (another object only where rows have parameters)."""
        return self

    def linear_rows(self, target: Array) -> Mask | None:
        """Rows whose f is linear wherever predictions can be, if there are any; their slope is f'(0).

        They leave the data term for the linear cost: they have no curvature, and their dual variable
        is known.
        """
        return None

    def smoothness(self, target: Array) -> Array:
        """Lipschitz constant of each f'(·; y_i), so that each f*(·; y_i) is strongly convex with its
        inverse on the whole of its domain; +inf where there is only a local one."""
        return np.full(len(target), 1.0 / self.alpha if self.alpha > 0.0 else np.inf)

    def curvature_bounds(self, target: Array) -> Array:
        """Bound on each f''(·; y_i) over the predictions that can be, for step lengths.

        Not for screening: theta may be where no such prediction leads.
        """
        return self.smoothness(target)

    def local_smoothness(
        self, prediction: Array, theta: Array, gap: Array | float, target: Array
    ) -> Array:
        """Bounds L_i on 1 / f*''(·; y_i) over an interval that holds -theta_i, f'(p_i) and -theta*_i.

        Known of the solution is that neither bracket f + f* + pθ of `fenchel_young_terms` exceeds the
        gap: not that of (p_i, theta*_i), nor that of (p*_i, theta_i).
        """
        return self.smoothness(target)

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """Lower and upper ends of the domain of f*(·; y_i), elementwise."""
        return np.full_like(target, -np.inf), np.full_like(target, np.inf)

    def prox_conjugate(self, v: Array, sigma: Array | float, target: Array) -> Array:
        """argmin_s f*(s; y_i) + (s - v_i)² / (2 sigma), elementwise (for primal-dual solvers)."""
        return prox_of_conjugate(self, v, sigma, target)

    def scalar_derivative(self) -> Callable[[float, float], float] | None:
        """f'(p, y) of two numbers, in a form that numba compiles; None if f' is local only.

        `partial(g, k)`, with g(k, p, y), is compiled once for all k.
        """
        return None

    def in_kernels(self, count: int) -> tuple[int, float, Array] | None:
        """Its number in `kinds`, its parameter, and the background of `count` rows.

        None where kernels do not know it.
        """
        return None

    def row_weights(self, count: int) -> tuple[Array, int]:
        """ω_i of all rows, and the first row from which on f is ω_i ½ (p - y)² whatever it is before."""
        return np.ones(count), count

    def objective(self, prediction: Array, target: Array) -> float:
        """F(p)."""
        return float(np.sum(self.values(prediction, target)))

    def residual(self, prediction: Array, target: Array) -> Array:
        """rho = -∇F(p)."""
        return -self.derivatives(prediction, target)

    def derivative_errors(self, prediction: Array, derivatives: Array, target: Array) -> Array:
        """Bounds on the rounding error of each computed derivative."""
        return self.roundoff_derivative * UNIT_ROUNDOFF * np.abs(derivatives)

    def conjugate(self, v: Array, target: Array) -> float:
        """F*(v)."""
        return float(np.sum(self.conjugates(v, target)))

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """Upper bounds, rounding included, on f(p_i) + f*(-theta_i) + p_i theta_i >= 0.

        Zero exactly where theta_i = -f'(p_i). The general form cancels; a loss that knows better
        overrides it. Convex in either argument.
        """
        parts = (
            self.values(prediction, target),
            self.conjugates(-theta, target),
            prediction * theta,
        )
        with np.errstate(invalid="ignore"):  # inf - inf where theta has left the domain
            size = np.abs(parts[0]) + np.abs(parts[1]) + np.abs(parts[2])
            bracket = parts[0] + parts[1] + parts[2]
        error = (self.roundoff_value + 3.0) * UNIT_ROUNDOFF
        bound = np.maximum(np.maximum(bracket, 0.0) + error * size, TINY)
        return np.where(np.isfinite(size), bound, np.inf)

    def fenchel_young(self, prediction: Array, theta: Array, target: Array) -> float:
        """Upper bound, rounding included, on F(p) + F*(-theta) + <p, theta> >= 0."""
        terms = self.fenchel_young_terms(prediction, theta, target)
        return float(np.sum(terms)) * (1.0 + gamma(len(terms) + 1))


def compiled_brackets(loss: Loss, prediction: Array, theta: Array, target: Array) -> Array:
    """The bounds of `fenchel_young_terms` for a loss that `kernels.brackets` knows."""
    count = len(target)
    form = loss.in_kernels(count)
    if form is None:
        raise TypeError(f"kernels do not know the loss {loss.name!r}")
    kind, parameter, background = form
    weights, split = loss.row_weights(count)
    out = np.empty(count)
    _brackets()(
        *(kind, parameter, plain(background), plain(weights), split),
        *(plain(prediction), plain(theta), plain(target), out),
    )
    return out


@cache
def _brackets() -> Any:
    from ..kernels.brackets import brackets

    return brackets
