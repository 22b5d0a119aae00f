"""Primal and dual points at which rounding decides, and their gaps in rational arithmetic.

Least squares on small problems: cancelled predictions, products that are next to nothing beside their
terms, squares that underflow, many rows, and solutions on the boundary of every safe region.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from boxreg import validate
from boxreg.point import Point
from boxreg.presolve import unreduced
from boxreg.reduced import ReducedProblem
from boxreg.work import WorkMeter
from rational import exact, inner, slopes

KINDS = (
    "gaussian",
    "cancelled",
    "orthogonal",
    "faint",
    "long",
    "zero_column",
    "small_x",
    "biased_rows",
    "biased_columns",
)


@dataclass(frozen=True, eq=False)
class Pair:
    """A problem with a point of its box and any theta."""

    A: np.ndarray
    y: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    x: np.ndarray
    theta: np.ndarray

    @property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """A, y and the bounds."""
        return self.A, self.y, self.lower, self.upper

    def reduced(self, **terms: Any) -> ReducedProblem:
        """The problem with every column held."""
        posed = validate.problem(*self.data, "least_squares", **terms)
        return unreduced(posed, WorkMeter(self.A.shape[1]))

    def point(self, **terms: Any) -> Point:
        """x in it."""
        return Point(self.reduced(**terms), self.x)


def hard_pair(kind: str, seed: int) -> Pair:
    """The pair number `seed` of its kind, with finite bounds."""
    if kind.startswith("biased"):
        return _biased_pair(kind, seed)
    rng = np.random.default_rng([KINDS.index(kind), seed, 3])
    m, n = (int(v) for v in rng.integers(1, 7, 2))
    if kind == "long":
        m = 150
    A = rng.standard_normal((m, n))
    lower = -rng.random(n)
    upper = rng.random(n)
    x = np.where(rng.random(n) < 0.3, lower, lower + rng.random(n) * (upper - lower))
    x = np.clip(x, lower, upper)
    y = rng.standard_normal(m)
    theta = y - A @ x + rng.choice([0.0, 1e-9, 1e-3, 1.0]) * rng.standard_normal(m)
    if kind == "cancelled":
        scale = 10.0 ** rng.uniform(4.0, 9.0)
        x, lower, upper = x * scale, lower * scale, upper * scale
        y = A @ x + 10.0 ** -rng.uniform(0.0, 8.0) * rng.standard_normal(m)
        theta = y - A @ x + rng.choice([0.0, 1e-6]) * rng.standard_normal(m)
    elif kind == "orthogonal":
        A = rng.standard_normal((m := n + 3, n))
        y = rng.standard_normal(m)
        theta = y - A @ np.linalg.lstsq(A, y)[0]
        theta = theta - A @ np.linalg.lstsq(A, theta)[0]
        y, x = theta.copy(), np.zeros(n)
        lower, upper = np.full(n, -1e12), np.full(n, 1e12)
    elif kind == "faint":
        size = 10.0 ** -rng.uniform(155.0, 170.0)
        x, lower, upper, y, theta = (v * size for v in (x, lower, upper, y, theta))
    elif kind == "zero_column":
        A[:, 0] = 0.0
    elif kind == "small_x":  # the residual rounds, the prediction does not
        size = 10.0 ** -rng.uniform(6.0, 12.0)
        x, lower, upper = x * size, lower * size, upper * size
        theta = y - A @ x
    return Pair(A, y, lower, upper, x, theta)


def _biased_pair(kind: str, seed: int) -> Pair:
    """Sums of many equal terms, whose rounding errors have mostly one sign and add up."""
    rng = np.random.default_rng([KINDS.index(kind), seed, 3])
    m, n = (400, 1) if kind == "biased_rows" else (1, 400)
    A = np.full((m, n), rng.uniform(1.0, 2.0))
    x = np.full(n, rng.uniform(1.0, 2.0))
    theta = np.full(m, rng.uniform(1.0, 2.0))
    y = np.full(m, rng.uniform(1.0, 2.0))
    return Pair(A, y, x - 1.0, x + rng.uniform(0.0, 1e9), x, theta)


def tight_pair(seed: int) -> tuple[Pair, list[Fraction]]:
    """A pair with theta* on the boundary of its sphere, and theta*: integers throughout.

    Every x*_j is at the bound that the sign of w*_j asks for, x = x*, and theta is off by a multiple of
    a column, not far enough to change a sign: D is quadratic there, G = ½||theta - theta*||².
    """
    rng = np.random.default_rng([seed, 4])
    while True:
        m, n = (int(v) for v in rng.integers(2, 6, 2))
        A = rng.integers(-4, 5, (m, n)).astype(float)
        best = 64.0 * rng.integers(-9, 10, m)
        w = A.T @ best
        j = int(rng.integers(n))
        theta = best + rng.choice([-0.25, 0.5, 1.0]) * A[:, j]
        if np.all(w != 0.0) and np.all((A.T @ theta > 0.0) == (w > 0.0)):
            break
    lower, upper = -rng.integers(1, 4, n).astype(float), rng.integers(1, 4, n).astype(float)
    x = np.where(w > 0.0, upper, lower)
    return Pair(A, best + A @ x, lower, upper, x, theta), exact(best)


def prediction(pair: Pair) -> list[Fraction]:
    """A x."""
    return [inner(row, pair.x) for row in pair.A]


def residual(pair: Pair) -> list[Fraction]:
    """y - A x."""
    return [b - p for b, p in zip(exact(pair.y), prediction(pair), strict=True)]


def square_of(v: list[Fraction]) -> Fraction:
    """vᵀv."""
    return inner(v, v)


def apart(u: Any, v: Any) -> Fraction:
    """||u - v||²."""
    return square_of([a - b for a, b in zip(exact(u), exact(v), strict=True)])


def support(w: list[Fraction], lower: Any, upper: Any) -> Fraction | None:
    """sum_j sup { t w_j : l_j <= t <= u_j }; None where that is infinite."""
    total = Fraction(0)
    for value, low, high in zip(w, lower, upper, strict=True):
        end = float(high if value > 0 else low)
        if value == 0:
            continue
        if not np.isfinite(end):
            return None
        total += Fraction(end) * value
    return total


def gap_of(pair: Pair, theta: Any, cost: Any = None, weights: Any = None) -> Fraction | None:
    """P(x) - D(theta), with weights > 0; None where theta is not feasible."""
    c = np.zeros(pair.A.shape[1]) if cost is None else cost
    s = support(slopes(pair.A, theta, c), pair.lower, pair.upper)
    if s is None:
        return None
    t, rest, share = exact(theta), residual(pair), exact(np.ones(len(pair.y)))
    share = share if weights is None else exact(weights)
    dual = inner(t, pair.y) - inner(t, [v / w for v, w in zip(t, share, strict=True)]) / 2 - s
    fit = inner(rest, [w * v for v, w in zip(rest, share, strict=True)])
    return fit / 2 + inner(c, pair.x) - dual
