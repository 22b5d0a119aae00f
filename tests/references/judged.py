"""Problems whose optimum and dual solution are known exactly, and the exact objective at any point.

Floating-point data are taken at their word: A x, P(x) and P(x) - P* are computed in rational
arithmetic; logarithms, where a loss has them, to 60 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from boxreg.losses import LOSSES
from references.exact import exact_solution

Array = NDArray[np.float64]
Signs = NDArray[np.int8]

_DIGITS = 60
_LIMB = 20
_SMALL = 200


@dataclass(frozen=True, eq=False)
class Judged:
    """minimise sum_i ω_i f([A x]_i; y_i) + cᵀx + ½ ||Γ x||² over the box, one solution being known.

    `signs` are those of w* = Aᵀθ* - c, which is the same for all solutions: -1 proves x_j = lower_j in
    every one of them, +1 proves x_j = upper_j, and 0 proves nothing, so that no safe rule may screen
    it. `more` are further right-hand sides for which the same holds, each with its own solution.
    """

    family: str
    seed: int
    loss: str
    A: Array
    y: Array
    lower: Array
    upper: Array
    x: Sequence[Any]
    signs: Signs
    parameters: Mapping[str, Any] = field(default_factory=dict)
    terms: Mapping[str, Any] = field(default_factory=dict)
    more: tuple[tuple[Array, Sequence[Any]], ...] = ()

    def __repr__(self) -> str:
        m, n = self.A.shape
        return f"{self.family} {self.seed} ({m}x{n}, {self.loss})"

    @property
    def posed(self) -> dict[str, Any]:
        """The keyword arguments of `solve` and `verify`."""
        return {
            "A": self.A,
            "y": self.y,
            "lower": self.lower,
            "upper": self.upper,
            "loss": LOSSES[self.loss](**self.parameters),
            **self.terms,
        }

    @property
    def plain(self) -> bool:
        """Whether it is least squares without further terms."""
        return self.loss == "least_squares" and not self.terms

    @cached_property
    def optimum(self) -> Fraction:
        """P*."""
        return self.objective(self.x)

    def objective(self, x: Sequence[Any], y: Array | None = None) -> Fraction:
        """P(x), without rounding."""
        values = [v if isinstance(v, Fraction) else Fraction(v) for v in _listed(x)]
        predictions = exact_product(self.A, values)
        value = _VALUES[self.loss]
        weights = self.terms.get("sample_weight")
        total = Fraction(0)
        targets = _listed(self.y if y is None else y)
        for i, (p, target) in enumerate(zip(predictions, targets, strict=True)):
            weight = Fraction(1) if weights is None else Fraction(float(weights[i]))
            total += weight * value(p, Fraction(target), self.parameters)
        linear = self.terms.get("linear")
        if linear is not None:
            costs = zip(_listed(linear), values, strict=True)
            total += sum((Fraction(c) * v for c, v in costs), Fraction(0))
        return total + _ridge_term(self.terms.get("ridge"), values)

    def slopes(self, x: Sequence[Any]) -> list[Fraction]:
        """Aᵀ(y - A x), for least squares."""
        values = [Fraction(v) for v in _listed(x)]
        rho = [
            Fraction(v) - p
            for v, p in zip(_listed(self.y), exact_product(self.A, values), strict=True)
        ]
        whole, scales = integer_columns(self.A)
        products = exact_product(np.ascontiguousarray(whole.T), rho)
        return [p * scale for p, scale in zip(products, scales, strict=True)]

    def excess(self, x: Sequence[Any]) -> Fraction:
        """P(x) - P*."""
        return self.objective(x) - self.optimum


def _ridge_term(ridge: Any, x: Sequence[Fraction]) -> Fraction:
    """½ μ ||x||², ½ sum μ_j x_j², or ½ ||Γ x||²."""
    if ridge is None:
        return Fraction(0)
    if np.ndim(ridge) == 2:
        return sum((v * v for v in exact_product(ridge, x)), Fraction(0)) / 2
    penalties = np.broadcast_to(ridge, (len(x),)).tolist()
    return sum((Fraction(mu) * v * v for mu, v in zip(penalties, x, strict=True)), Fraction(0)) / 2


def of_least_squares(
    family: str, seed: int, A: Any, y: Any, lower: Any, upper: Any, others: Sequence[Any] = ()
) -> Judged:
    """A least-squares problem with any bounds, solved exactly; `others` are more right-hand sides."""
    A, y, lower, upper = (np.array(v) for v in (A, y, lower, upper))
    solved = [exact_in_box(A, target, lower, upper) for target in (y, *others)]
    more = tuple((target, x) for target, (x, _) in zip(others, solved[1:], strict=True))
    x, w = solved[0]
    signs = np.array([(v > 0) - (v < 0) for v in w], dtype=np.int8)
    return Judged(family, seed, "least_squares", A, y, lower, upper, x, signs, more=more)


def exact_in_box(A: Array, y: Array, lower: Array, upper: Array) -> tuple[list[Fraction], Any]:
    """x* and w* with any mixture of bounds.

    A coordinate with no lower bound is replaced by its negative, one without bounds by the difference
    of two non-negative ones; the exact solver then has a finite lower bound everywhere.
    """
    mirrored = np.isneginf(lower) & np.isfinite(upper)
    free = np.flatnonzero(np.isneginf(lower) & np.isposinf(upper))
    columns = np.where(mirrored, -A, A)
    low, high = np.where(mirrored, -upper, lower), np.where(mirrored, -lower, upper)
    low = np.where(np.isneginf(low), 0.0, low)
    both = np.hstack([columns, -A[:, free]])
    inf = np.full(len(free), np.inf)
    known = exact_solution(both, y, np.append(low, np.zeros(len(free))), np.append(high, inf))
    n = A.shape[1]
    x = [-v if flip else v for v, flip in zip(known.x[:n], mirrored, strict=True)]
    for k, j in enumerate(free):
        x[j] -= known.x[n + k]
    w = [-v if flip else v for v, flip in zip(known.w[:n], mirrored, strict=True)]
    return x, w


def exact_product(A: Array, x: Sequence[Fraction]) -> list[Fraction]:
    """A x, exactly.

    A large A must have integers times a power of two in every column: x is cut into limbs of 20 bits
    whose products with A are sums that float64 holds exactly.
    """
    if A.size <= _SMALL:
        rows = [[Fraction(v) for v in row] for row in np.asarray(A, dtype=float).tolist()]
        return [sum((a * v for a, v in zip(row, x, strict=True)), Fraction(0)) for row in rows]
    whole, scales = integer_columns(A)
    z = [v * scale for v, scale in zip(x, scales, strict=True)]
    common = 1
    for v in z:
        common = max(common, v.denominator)  # all are powers of two
    numbers = [v.numerator * (common // v.denominator) for v in z]
    limbs = max(1, -(-max((abs(v).bit_length() for v in numbers), default=1) // _LIMB))
    mask = (1 << _LIMB) - 1
    parts = np.zeros((len(numbers), limbs))
    for j, v in enumerate(numbers):
        sign, rest = (1, v) if v >= 0 else (-1, -v)
        for k in range(limbs):
            parts[j, k] = sign * (rest & mask)
            rest >>= _LIMB
            if not rest:
                break
    products = whole @ parts
    assert np.abs(whole).sum(axis=1).max() * 2.0**_LIMB < 2.0**53
    return [
        Fraction(sum(int(v) << (_LIMB * k) for k, v in enumerate(row)), common)
        for row in products.tolist()
    ]


def integer_columns(A: Array) -> tuple[Array, list[Fraction]]:
    """Integers B and powers of two s with A = B diag(s)."""
    wide = np.asarray(A, dtype=float)
    mantissa, exponent = np.frexp(wide)
    digits = np.where(mantissa != 0.0, (mantissa * 2.0**53).astype(np.int64), 1)
    trailing = np.log2((digits & -digits).astype(float)).astype(int)
    lowest = np.where(mantissa != 0.0, exponent - 53 + trailing, 10**6).min(axis=0, initial=10**6)
    lowest = np.where(lowest == 10**6, 0, lowest)
    return np.ldexp(wide, -lowest[None, :]), [Fraction(2) ** int(k) for k in lowest]


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _squares(p: Fraction, y: Fraction, parameters: Mapping[str, Any]) -> Fraction:
    return (p - y) ** 2 / 2


def _huber(p: Fraction, y: Fraction, parameters: Mapping[str, Any]) -> Fraction:
    delta, r = Fraction(parameters["delta"]), abs(p - y)
    return r * r / 2 if r <= delta else delta * (r - delta / 2)


def _hinge(p: Fraction, y: Fraction, parameters: Mapping[str, Any]) -> Fraction:
    return max(Fraction(0), 1 - y * p) ** 2 / 2


def _divergence(p: Fraction, y: Fraction, parameters: Mapping[str, Any]) -> Fraction:
    q = p + Fraction(parameters.get("background", 0.0))
    if y == 0:
        return q
    if q <= 0:
        return math.inf  # type: ignore[return-value]
    with mpmath.workdps(_DIGITS):
        return q - y + y * _fraction(mpmath.log(_real(y / q)))


def _logistic(p: Fraction, y: Fraction, parameters: Mapping[str, Any]) -> Fraction:
    with mpmath.workdps(_DIGITS):
        return _fraction(mpmath.log1p(mpmath.exp(_real(-y * p))))


def _real(v: Fraction) -> mpmath.mpf:
    return mpmath.mpf(v.numerator) / v.denominator


def _fraction(v: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = v._mpf_
    return Fraction(-1 if sign else 1) * int(mantissa) * Fraction(2) ** int(exponent)


_VALUES: dict[str, Callable[[Fraction, Fraction, Mapping[str, Any]], Fraction]] = {
    "least_squares": _squares,
    "huber": _huber,
    "squared_hinge": _hinge,
    "kullback_leibler": _divergence,
    "logistic": _logistic,
}
