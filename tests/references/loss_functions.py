"""Value, derivative and curvature of each loss, straight from its formula, in any precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Parameters: TypeAlias = Mapping[str, Array]


class Jet(NamedTuple):
    """f, f' and f'' at the same points; f'' from one side where f' has a kink.

    `size` is the sum of the absolute values of what was added up to get f.
    """

    value: Array
    slope: Array
    curvature: Array
    size: Array


def least_squares(p: Array, y: Array, given: Parameters) -> Jet:
    """½ (p - y)²."""
    r = p - y
    return Jet(r * r / 2, r, np.ones_like(r), r * r / 2)


def huber(p: Array, y: Array, given: Parameters) -> Jet:
    """½ r² where |r| = |p - y| <= δ, δ (|r| - ½ δ) beyond."""
    r, delta = p - y, given["delta"]
    inside = np.abs(r) <= delta
    value = np.where(inside, r * r / 2, delta * (np.abs(r) - delta / 2))
    return Jet(value, np.clip(r, -delta, delta), inside.astype(r.dtype), delta * np.abs(r))


def logistic(p: Array, y: Array, given: Parameters) -> Jet:
    """log(1 + exp(-y p)), labels ±1."""
    t = -y * p
    small = np.exp(-np.abs(t))
    rise = np.where(t > 0, 1, small) / (1 + small)  # 1 / (1 + exp(-t))
    value = np.maximum(t, 0) + np.log1p(small)
    return Jet(value, -y * rise, small / (1 + small) ** 2, value)


def squared_hinge(p: Array, y: Array, given: Parameters) -> Jet:
    """½ max(0, 1 - y p)², labels ±1."""
    short = np.maximum(1 - y * p, 0)
    return Jet(short * short / 2, -y * short, (short > 0).astype(short.dtype), short)


def log_cosh(p: Array, y: Array, given: Parameters) -> Jet:
    """δ² log cosh((p - y) / δ), δ the scale."""
    delta = given["scale"]
    r = (p - y) / delta
    small = np.exp(-2 * np.abs(r))
    far = np.abs(r) + np.log1p(small) - np.log(r.dtype.type(2))
    value = np.where(np.abs(r) < 0.3, np.log1p(2 * np.sinh(r / 2) ** 2), far)
    curvature = 4 * small / (1 + small) ** 2
    return Jet(delta**2 * value, delta * np.tanh(r), curvature, delta**2 * np.abs(r))


def kullback_leibler(p: Array, y: Array, given: Parameters) -> Jet:
    """y log(y / q) - y + q with q = p + background >= 0; q where y = 0."""
    q = p + given["background"]
    counted = y > 0
    safe = np.where(counted, q, 1)
    far = np.where(counted, y * np.log(np.where(counted, y, 1) / safe), 0)
    slope = 1 - np.where(counted, y / safe, 0)
    curvature = np.where(counted, y / safe**2, 0)
    return Jet(far - y + q, slope, curvature, np.abs(far) + y + q)


def beta_divergence(p: Array, y: Array, given: Parameters) -> Jet:
    """(y^β + (β - 1) q^β - β y q^(β-1)) / (β (β - 1)), q = p + background >= 0 and 1 < β < 2."""
    beta, q = given["beta"], p + given["background"]
    counted = y > 0
    above = q ** (beta - 1)
    below = np.where(counted, q ** (beta - 2), 0)
    terms = y**beta, (beta - 1) * q**beta, beta * y * above
    value = (terms[0] + terms[1] - terms[2]) / (beta * (beta - 1))
    slope = np.where(counted, (q - y) * below, above)
    curvature = np.where(counted, (beta - 1) * below + (2 - beta) * y * below / q, 0)
    curvature = np.where(counted, curvature, (beta - 1) * q ** (beta - 2))
    return Jet(value, slope, curvature, sum(terms) / (beta * (beta - 1)))


JETS: Final[dict[str, Callable[[Array, Array, Parameters], Jet]]] = {
    "least_squares": least_squares,
    "huber": huber,
    "logistic": logistic,
    "squared_hinge": squared_hinge,
    "log_cosh": log_cosh,
    "kullback_leibler": kullback_leibler,
    "beta_divergence": beta_divergence,
}


def jet(loss: str, p: Array, y: Array, given: Parameters) -> Jet:
    """The jet of a loss; not finite where p is outside its domain."""
    with np.errstate(all="ignore"):
        return JETS[loss](p, y, given)
