"""A user's own loss, from scalar functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arguments import number, switch
from ..arrays import Array
from ..floating_point import own_errstate
from ..rounding import UNIT_ROUNDOFF
from .base import Loss
from .checks import positive, real_vector
from .laws import check_laws, unit_of

Scalar = Callable[[float, float], float]
End = float | Callable[[float], float]


_LEAST = 1e-280
"""Constants alpha below this, or above its inverse, would overflow in products."""


class CustomLoss(Loss):
    """f(p; y) given by scalar functions, compiled. Made by `custom_loss`, which checks its laws."""

    rounding_known = False

    unit = 0.0
    """Size of f near its minimum: its constants may leave rounding errors of that size everywhere."""

    def __init__(
        self,
        value: Scalar,
        derivative: Scalar,
        conjugate: Scalar,
        alpha: float,
        *,
        name: str,
        curvature: Scalar | None,
        domain: tuple[End, End],
        nonnegative: bool,
        roundoff: float,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name: expected a word, got {type(name).__name__}")
        self.name = name
        self.alpha = positive("alpha", alpha)
        if not _LEAST <= self.alpha <= 1.0 / _LEAST:
            raise ValueError(f"alpha: expected a number from {_LEAST:g} to {1.0 / _LEAST:g}")
        self.needs_nonnegative = switch(nonnegative, "nonnegative")
        self.roundoff_derivative = self.roundoff_value = positive("roundoff", roundoff)
        self._scalar = _plain(derivative)
        self._value = _compiled("value", value)
        self._derivative = _compiled("derivative", derivative)
        self._conjugate = _compiled("conjugate", conjugate)
        self._curvature = None if curvature is None else _compiled("curvature", curvature)
        self._low, self._high = (_end(end) for end in _pair(domain))

    def values(self, prediction: Array, target: Array) -> Array:
        """value(p, y)."""
        return self._value(prediction, target)

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """derivative(p, y)."""
        return self._derivative(prediction, target)

    def conjugates(self, v: Array, target: Array) -> Array:
        """conjugate(v, y) inside the domain."""
        low, high = self.dual_domain(target)
        inside = (v >= low) & (v <= high)
        return np.where(inside, self._conjugate(np.clip(v, low, high), target), np.inf)

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """curvature(p, y), or 1 / alpha if it was not given."""
        if self._curvature is None:
            return super().curvatures(prediction, target)
        return self._curvature(prediction, target)

    def dual_domain(self, target: Array) -> tuple[Array, Array]:
        """The two ends of `domain`."""
        return self._low(target), self._high(target)

    def scalar_derivative(self) -> Scalar:
        """derivative."""
        return self._scalar

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """f + f* + p theta with the rounding declared, relative to its parts and to `unit`."""
        terms = super().fenchel_young_terms(prediction, theta, target)
        return terms + 2.0 * self.roundoff_value * UNIT_ROUNDOFF * self.unit


@own_errstate
def custom_loss(
    value: Scalar,
    derivative: Scalar,
    conjugate: Scalar,
    alpha: float,
    *,
    name: str = "custom",
    curvature: Scalar | None = None,
    domain: tuple[End, End] = (-np.inf, np.inf),
    nonnegative: bool = False,
    targets: Sequence[float] = (-3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 3.0),
    roundoff: float = 64.0,
) -> Loss:
    """A loss from scalar functions f(p, y), f'(p, y) and f*(v, y), compiled by numba and checked.

    ``alpha`` > 0: f' is (1/alpha)-Lipschitz in p. ``curvature`` is f''(p, y), for Newton steps.
    ``domain`` holds the ends of the domain of f*, numbers or functions of y. ``nonnegative`` says that
    f is defined for p >= 0 only. ``targets`` are the y at which the laws are tried (the labels, say).
    ``roundoff`` is the error of one evaluation in units of 2^-53, relative to the result and to f around
    its target, taken on trust: the gaps that are proved rest on it.

    The laws, tried on a grid: f* is finite inside its domain; f'(p) lies between the slopes of f's
    chords on either side; f(p) + f*(v) >= p v; equality at v = f'(p);
    |f'(p) - f'(q)| <= |p - q| / alpha. A ValueError says which one failed, where and by how much.

    The pseudo-Huber loss √(1 + r²) - 1, r = p - y:

    >>> from math import sqrt
    >>> import boxreg
    >>> pseudo_huber = boxreg.custom_loss(
    ...     value=lambda p, y: (p - y) ** 2 / (1 + sqrt(1 + (p - y) ** 2)),
    ...     derivative=lambda p, y: (p - y) / sqrt(1 + (p - y) ** 2),
    ...     conjugate=lambda v, y: v * y + v * v / (1 + sqrt((1 - v) * (1 + v))),
    ...     alpha=1.0,
    ...     domain=(-1.0, 1.0),
    ...     name="pseudo_huber",
    ... )
    """
    loss = CustomLoss(
        value,
        derivative,
        conjugate,
        alpha,
        name=name,
        curvature=curvature,
        domain=domain,
        nonnegative=nonnegative,
        roundoff=roundoff,
    )
    where = np.atleast_1d(real_vector(targets, "targets"))
    if not (len(where) and np.isfinite(where).all()):
        raise ValueError("targets: expected finite numbers, one at least")
    loss.unit = unit_of(loss, where)
    check_laws(loss, where, loss.unit)
    return loss


def _plain(function: Callable[..., float]) -> Callable[..., float]:
    """The Python function behind one that is compiled already."""
    plain: Callable[..., float] = getattr(function, "py_func", function)
    return plain


def _compiled(
    argument: str, function: Callable[..., float], arguments: int = 2
) -> Callable[..., Array]:
    """`function` over arrays, at compiled speed."""
    if not callable(function):
        raise TypeError(f"{argument}: expected a function, got {type(function).__name__}")
    import numba

    build: Any = numba

    signature = f"float64({', '.join(['float64'] * arguments)})"
    try:
        scalar = build.njit(_plain(function), error_model="numpy")  # 1 / 0 is inf, as in arrays
        elementwise = build.vectorize([signature], nopython=True)(_forwarding(scalar, arguments))
    except Exception as error:  # numba has no one class for all it may raise
        lines = [line.strip() for line in str(error).splitlines()]
        reasons = [line for line in lines if line and not line.startswith("Failed in")]
        raise ValueError(
            f"{argument}: numba cannot compile it as a function of {arguments} float64 numbers that "
            f"returns one ({reasons[0] if reasons else type(error).__name__}); use arithmetic, "
            "comparisons and the functions of math or numpy"
        ) from error

    def over_arrays(*arrays: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(elementwise(*arrays))

    return over_arrays


def _forwarding(scalar: Any, arguments: int) -> Callable[..., float]:
    """A Python function, which is what numba makes array functions of, around a compiled one."""

    def of_one(y: float) -> float:
        return float(scalar(y))

    def of_two(p: float, y: float) -> float:
        return float(scalar(p, y))

    return of_one if arguments == 1 else of_two


def _pair(domain: tuple[End, End]) -> tuple[End, End]:
    """The two ends of the domain, numbers in order or functions."""
    try:
        low, high = domain
    except (TypeError, ValueError) as error:
        raise ValueError("domain: expected a pair (low, high) of numbers or functions") from error
    low, high = (end if callable(end) else number(end, "domain") for end in (low, high))
    if not (callable(low) or callable(high) or low < high):
        raise ValueError(f"domain: expected low < high, got {low!r} and {high!r}")
    return low, high


def _end(end: End) -> Callable[[Array], Array]:
    """One end of the domain for every row."""
    if callable(end):
        return _compiled("domain", end, arguments=1)
    return lambda target: np.full_like(target, end)
