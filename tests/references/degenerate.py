"""Problems built backwards from an integer solution (x*, theta*), exact in float64.

y = A x* + theta* is representable exactly, so theta* is the dual solution as soon as every
column has the sign of a_j^T theta* that its x*_j asks for.  A column orthogonal to theta* whose
x*_j sits at a bound then has w*_j = 0 exactly: screening it would be wrong however small the
rounding error that suggested it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from references.box_problem import BoxProblem

Array = NDArray[np.float64]
Rng = np.random.Generator


def planted_degenerate(name: str, rng: Rng, kind: str) -> BoxProblem:
    """At least one column with a_j^T theta* = 0 and x*_j at a bound; the others at random."""
    m, n = int(rng.integers(2, 9)), int(rng.integers(1, 9))
    theta = _nonzero_integers(rng, m, int(rng.choice([2, 1000])))
    lower, upper = _integer_bounds(rng, n, kind)
    free, at_upper = rng.random(n) < 0.3, (rng.random(n) < 0.5) & np.isfinite(upper)
    degenerate = rng.random(n) < 0.4
    first = rng.integers(n)
    free[first], degenerate[first] = False, True

    A = np.empty((m, n))
    for j in range(n):
        if free[j] or degenerate[j]:
            A[:, j] = _orthogonal(rng, theta)
        else:
            A[:, j] = _with_sign(rng, theta, 1 if at_upper[j] else -1)
    x = np.where(free, lower + 0.5, np.where(at_upper, upper, lower))
    planted = tuple(np.flatnonzero(degenerate & ~free).tolist())
    return _rescaled(rng, BoxProblem(name, A, A @ x + theta, lower, upper, planted))


def nearly_degenerate(name: str, rng: Rng, kind: str) -> BoxProblem:
    """Columns at a bound with |a_j^T theta| / (|a_j| |theta|) between 1e-17 and 1e-12.

    About half of them have the sign that keeps x_j at its bound.  The others leave it, typically
    by no more than their relative size, and then w*_j = 0; where several nearly cancel, x_j can
    become huge instead.  The bound they start from is 0, so y stays exact.
    """
    m, n = int(rng.integers(3, 9)), int(rng.integers(1, 9))
    theta = _nonzero_integers(rng, m, int(rng.choice([2, 1000])))
    lower, upper = _integer_bounds(rng, n, kind)
    at_upper = (rng.random(n) < 0.5) & np.isfinite(upper)
    near = rng.random(n) < 0.5
    near[rng.integers(n)] = True
    shift = np.where(near, np.where(at_upper, upper, lower), 0.0)
    lower, upper = lower - shift, upper - shift

    A = np.empty((m, n))
    for j in range(n):
        if near[j]:
            A[:, j] = _nearly_orthogonal(rng, theta)
        else:
            A[:, j] = _with_sign(rng, theta, 1 if at_upper[j] else -1)
    x = np.where(at_upper, upper, lower)
    return _rescaled(rng, BoxProblem(name, A, A @ x + theta, lower, upper))


def zero_residual(name: str, rng: Rng, kind: str) -> BoxProblem:
    """y = A x* exactly with x* in the box, often on its boundary: w* = 0, nothing screens."""
    m, n = rng.integers(1, 9, 2)
    A = rng.integers(-1000, 1001, (m, n)).astype(np.float64)
    lower, upper = _integer_bounds(rng, n, kind)
    at_upper = (rng.random(n) < 0.5) & np.isfinite(upper)
    x = np.where(rng.random(n) < 0.3, lower + 0.5, np.where(at_upper, upper, lower))
    return _rescaled(rng, BoxProblem(name, A, A @ x, lower, upper, tuple(range(n))))


def _nonzero_integers(rng: Rng, size: int, bound: int) -> Array:
    return rng.choice([-1.0, 1.0], size) * rng.integers(1, bound + 1, size)


def _integer_bounds(rng: Rng, n: int, kind: str) -> tuple[Array, Array]:
    if kind == "nnls":
        return np.zeros(n), np.full(n, np.inf)
    lower = rng.integers(-3, 4, n).astype(np.float64)
    width = rng.integers(1, 5, n).astype(np.float64)
    if kind == "mixed":
        width[rng.random(n) < 0.5] = np.inf
    return lower, lower + width


def _orthogonal(rng: Rng, theta: Array) -> Array:
    """A non-zero integer vector v with v^T theta = 0."""
    v = np.zeros_like(theta)
    p = rng.integers(theta.size)
    for q in np.delete(np.arange(theta.size), p)[: rng.integers(1, theta.size)]:
        factor = float(rng.choice([-2.0, -1.0, 1.0, 3.0]))
        v[p] += factor * theta[q]
        v[q] -= factor * theta[p]
    return v


def _nearly_orthogonal(rng: Rng, theta: Array) -> Array:
    """An orthogonal pair of entries, and a third one that tilts it by the wanted amount."""
    p, q, r = rng.permutation(theta.size)[:3]
    v = np.zeros_like(theta)
    v[p], v[q] = theta[q], -theta[p]
    tilt = 10.0 ** -rng.uniform(12.0, 17.0) * rng.choice([-1.0, 1.0])
    v[r] = tilt * np.linalg.norm(v) * np.linalg.norm(theta) / theta[r]
    return v


def _with_sign(rng: Rng, theta: Array, sign: int) -> Array:
    """A random integer vector v with sign(v^T theta) as asked."""
    v = rng.integers(-3, 4, theta.size).astype(np.float64)
    product = v @ theta
    return sign * (v * np.sign(product) if product else v + theta)


def _rescaled(rng: Rng, problem: BoxProblem) -> BoxProblem:
    """Half of the time, multiply columns by powers of two; x and its bounds follow exactly."""
    if rng.random() < 0.5:
        return problem
    power = 2.0 ** rng.integers(-12, 13, problem.A.shape[1])
    return BoxProblem(
        problem.name,
        problem.A * power,
        problem.y,
        problem.lower / power,
        problem.upper / power,
        problem.planted,
    )
