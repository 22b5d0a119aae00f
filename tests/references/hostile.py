"""Small least-squares problems of integers and scaled integers that provoke unsafe proofs.

Every mixture of bounds, none included; parallel and antiparallel columns; dual cones without interior.
The exact reference solves each of them (see `judged.of_least_squares`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from references.families import FAMILIES, generated
from references.judged import Array, Judged, of_least_squares

Rng = np.random.Generator
Data = tuple[Any, Any, Any, Any]


def hostile(family: str, seed: int) -> Judged:
    """Problem number `seed` of a family, with two more right-hand sides."""
    rng = np.random.default_rng([zlib.crc32(family.encode()), seed, 5])
    if family in FAMILIES:
        problem = generated(family, seed)
        return of_least_squares(family, seed, *problem.data)
    A, y, lower, upper = (np.asarray(v, dtype=float) for v in HOSTILE[family](rng))
    others = [rng.integers(-5, 6, len(y)).astype(float) for _ in range(2)]
    if family == "ridged":
        return _ridged(rng, seed, A, y, lower, upper, others)
    judged = of_least_squares(family, seed, A, y, lower, upper, others)
    return _weighed(rng, judged) if family == "tiny_weights" else judged


def mixed_bounds(rng: Rng, n: int, box: float = 4.0) -> tuple[Array, Array]:
    """Both bounds, one of either side, none, or equal ones, in any mixture."""
    lower = rng.integers(-3, 3, n).astype(float)
    upper = lower + rng.integers(0, 4, n)
    lower[rng.random(n) < rng.choice([0.0, 0.3, 0.7])] = -np.inf
    upper[rng.random(n) < rng.choice([0.0, 0.4, 0.8])] = np.inf
    return lower, upper


def _shape(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(2, 6)), int(rng.integers(3, 8))


def _sparse_integers(rng: Rng) -> Data:
    m, n = _shape(rng)
    A = rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < rng.choice([0.3, 0.6, 1.0]))
    return A, rng.integers(-9, 10, m), *mixed_bounds(rng, n)


def _parallel(rng: Rng) -> Data:
    """Multiples of one or two columns, of either sign, and a few others."""
    m, n = _shape(rng)
    base = rng.integers(-2, 3, (m, int(rng.integers(1, 3))))
    A = base[:, rng.integers(0, base.shape[1], n)] * rng.choice([1, 2, 5, -1, -3], n)
    A = np.where(rng.random(n) < 0.25, rng.integers(-8, 9, (m, n)), A)
    y = rng.integers(-9, 10, m) * int(rng.choice([1, 40]))
    return A, y, *mixed_bounds(rng, n)


def _no_interior(rng: Rng) -> Data:
    """Columns with one bound, some of which add up to 0 with positive weights."""
    m, n = _shape(rng)
    A = rng.integers(-2, 3, (m, n)) * (rng.random((m, n)) < 0.7)
    lower, upper = mixed_bounds(rng, n)
    members = rng.permutation(n)[: int(rng.integers(2, 4))]
    weights = rng.integers(1, 3, len(members) - 1)
    side = rng.choice([-1, 1], len(members))
    for j, s in zip(members, side, strict=True):
        bound = float(rng.integers(-2, 3))
        lower[j], upper[j] = (bound, np.inf) if s > 0 else (-np.inf, bound)
    A[:, members[-1]] = -side[-1] * (A[:, members[:-1]] @ (side[:-1] * weights))
    return A, rng.integers(-6, 7, m) * int(rng.choice([1, 30])), lower, upper


def _dynamic_range(rng: Rng) -> Data:
    """Columns times powers of two, bounds the other way; rows of different size."""
    A, y, lower, upper = (_sparse_integers, _parallel, _no_interior)[rng.integers(3)](rng)
    k = rng.integers(-25, 26, A.shape[1])
    r = rng.integers(-8, 9, len(y)) if rng.random() < 0.5 else np.zeros(len(y), dtype=int)
    return (
        np.ldexp(np.ldexp(A.astype(float), k), r[:, None]),
        np.ldexp(np.asarray(y, dtype=float), r),
        np.ldexp(np.asarray(lower, dtype=float), -k),
        np.ldexp(np.asarray(upper, dtype=float), -k),
    )


def _nearly_parallel(rng: Rng) -> Data:
    """Columns that differ from multiples of others by 2⁻⁸ … 2⁻⁵⁰ of their size."""
    A, y, lower, upper = _parallel(rng)
    noise = rng.integers(-2, 3, A.shape) * 2.0 ** -float(rng.integers(8, 51))
    return A + noise, y, lower, upper


def _perfect_fit(rng: Rng) -> Data:
    """y = A x for an x of the box: w* = 0, and nothing may be screened."""
    A, _, lower, upper = (_sparse_integers, _parallel, _no_interior)[rng.integers(3)](rng)
    near = np.clip(rng.integers(-3, 4, A.shape[1]), lower, upper)
    return A, A @ near, lower, upper


def _nonnegative(rng: Rng) -> Data:
    """x >= 0 without upper bounds: what `nnls` and its kernels take."""
    A, y, lower, _ = (_sparse_integers, _parallel, _no_interior)[rng.integers(3)](rng)
    return A, y, np.zeros(len(lower)), np.full(len(lower), np.inf)


def _around_zero(rng: Rng) -> Data:
    """Finite boxes with 0 inside: runs begin with sweeps from there."""
    m, n = _shape(rng)
    A = rng.integers(-3, 4, (m, n))
    half = 2.0 ** rng.integers(-2, 3, n)
    return A, rng.integers(-9, 10, m), -half * rng.integers(1, 3, n), half


HOSTILE: Final[dict[str, Callable[[Rng], Data]]] = {
    "sparse_integers": _sparse_integers,
    "parallel": _parallel,
    "no_interior": _no_interior,
    "dynamic_range": _dynamic_range,
    "nearly_parallel": _nearly_parallel,
    "perfect_fit": _perfect_fit,
    "nonnegative_integers": _nonnegative,
    "around_zero": _around_zero,
    "tiny_weights": _sparse_integers,
    "ridged": _sparse_integers,
}
SMALL_FAMILIES: Final = (*HOSTILE, *FAMILIES)


def _ridged(
    rng: Rng, seed: int, A: Array, y: Array, lower: Array, upper: Array, others: list[Array]
) -> Judged:
    """With a ridge term whose μ_j are powers of four, or 0: rows of powers of two under A and zeros
    under y make the same problem. Weights, powers of four as well, come with some."""
    n = A.shape[1]
    root = 2.0 ** rng.integers(-3, 3, n)
    root[rng.random(n) < rng.choice([0.0, 0.4])] = 0.0
    if rng.random() < 0.4:
        root[:] = 2.0 ** rng.choice([-30, -20, -2, 1])
    weigh = 2.0 ** rng.integers(-1, 2, len(y)) if rng.random() < 0.3 else np.ones(len(y))
    under = np.zeros(n)
    stacked = np.vstack([weigh[:, None] * A, np.diag(root)])
    targets = [np.append(weigh * target, under) for target in (y, *others)]
    judged = of_least_squares("ridged", seed, stacked, targets[0], lower, upper, targets[1:])
    terms: dict[str, Any] = {"ridge": root**2 if rng.random() < 0.7 or root.std() else root[0] ** 2}
    if np.any(weigh != 1.0):
        terms["sample_weight"] = weigh**2
    more = tuple((o, x) for o, (_, x) in zip(others, judged.more, strict=True))
    return replace(judged, A=A, y=y, terms=terms, more=more)


def _weighed(rng: Rng, judged: Judged) -> Judged:
    """The same with weights of 4⁻²⁶⁶, 2.8e-161 each, which change neither x* nor the signs of w*."""
    scale = 4.0 ** float(rng.choice([-266, -260, -100, 100]))
    weights = np.full(len(judged.y), scale)
    assert Fraction(scale) > 0
    return replace(judged, terms={"sample_weight": weights}, more=())
