"""Exact optimality certificate for box-constrained least squares.

The problem is min 1/2 |A x - y|^2 subject to l <= x <= u.  With theta = y - A x and
w = A^T theta, a point x is a solution if and only if, for every coordinate j,

    l_j <= x_j <= u_j,    x_j > l_j  implies  w_j >= 0,    x_j < u_j  implies  w_j <= 0.

theta and w are the same for every solution.  All checks are made in rational arithmetic on the
exact values of the floating-point data; no tolerance is involved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray


class KKTError(ArithmeticError):
    """The point violates the exact optimality conditions."""


@dataclass(frozen=True)
class ExactSolution:
    """A certified solution: x, theta = y - A x, w = A^T theta, objective = 1/2 |theta|^2."""

    x: list[Fraction]
    theta: list[Fraction]
    w: list[Fraction]
    objective: Fraction

    def signs(self) -> NDArray[np.int8]:
        """sign(w_j): -1 proves x_j = l_j in every solution, +1 proves x_j = u_j, 0 neither."""
        return np.array([(v > 0) - (v < 0) for v in self.w], dtype=np.int8)

    @property
    def objective_float(self) -> float:
        """The objective, correctly rounded."""
        return float(self.objective)


def certify(
    A: ArrayLike, y: ArrayLike, lower: ArrayLike, upper: ArrayLike, x: Sequence[Fraction]
) -> ExactSolution:
    """Return the solution x with its dual quantities; raise KKTError unless x is optimal."""
    rows: list[list[float]] = np.asarray(A).tolist()
    lo: list[float] = np.asarray(lower).tolist()
    hi: list[float] = np.asarray(upper).tolist()
    m, n = np.shape(A)
    for j, (p, v, q) in enumerate(zip(lo, x, hi, strict=True)):
        if not p <= v <= q:  # Fraction against float compares exactly
            raise KKTError(f"x[{j}] = {float(v)!r} is outside [{p!r}, {q!r}]")

    # Integers over one common denominator per array: far fewer gcds than entrywise fractions.
    entries, a_den = common_denominator([Fraction(v) for row in rows for v in row])
    a = [entries[i * n : (i + 1) * n] for i in range(m)]
    b, b_den = common_denominator([Fraction(v) for v in np.asarray(y).tolist()])
    z, z_den = common_denominator(x)

    theta = [b[i] * a_den * z_den - b_den * _dot(a[i], z) for i in range(m)]
    theta_den = a_den * z_den * b_den
    w = [_dot((a[i][j] for i in range(m)), theta) for j in range(n)]

    for j in range(n):
        if (w[j] < 0 and x[j] > lo[j]) or (w[j] > 0 and x[j] < hi[j]):
            value = float(Fraction(w[j], a_den * theta_den))
            raise KKTError(f"w[{j}] = {value!r} has the wrong sign at x[{j}] = {float(x[j])!r}")
    return ExactSolution(
        x=list(x),
        theta=[Fraction(t, theta_den) for t in theta],
        w=[Fraction(v, a_den * theta_den) for v in w],
        objective=Fraction(_dot(theta, theta), 2 * theta_den**2),
    )


def common_denominator(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Integers p_i and q >= 1 with values_i = p_i / q."""
    q = math.lcm(*(v.denominator for v in values))
    return [v.numerator * (q // v.denominator) for v in values], q


def _dot(p: Iterable[int], q: Iterable[int]) -> int:
    return sum(map(int.__mul__, p, q))
