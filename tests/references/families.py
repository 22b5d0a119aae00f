"""Random problems small enough for the exact reference, in families that provoke rounding.

`generated(family, seed)` is deterministic; seed % 3 selects the kind of bounds (non-negative,
finite box, mixed) where the family leaves it open.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from references.box_problem import BoxProblem
from references.degenerate import nearly_degenerate, planted_degenerate, zero_residual

Array = NDArray[np.float64]
Rng = np.random.Generator
Kind = Literal["nnls", "bvls", "mixed"]

_KINDS: Final[tuple[Kind, ...]] = ("nnls", "bvls", "mixed")


def generated(family: str, seed: int) -> BoxProblem:
    """The problem number `seed` of a family."""
    rng = np.random.default_rng([zlib.crc32(family.encode()), seed])
    kind = _KINDS[seed % 3]
    name = f"{family}-{seed}"
    if family in _COMPLETE:
        return _COMPLETE[family](name, rng, kind)
    return _complete(name, rng, kind, _MATRICES[family](rng))


def _bounds(rng: Rng, n: int, kind: Kind) -> tuple[Array, Array]:
    """Bounds of order one; `mixed` has infinite upper bounds and a few fixed coordinates."""
    if kind == "nnls":
        return np.zeros(n), np.full(n, np.inf)
    lower = rng.choice([0.0, 1.0]) * rng.standard_normal(n)
    width = rng.uniform(0.1, 2.0, n)
    if kind == "mixed":
        width = np.where(rng.random(n) < 0.5, np.inf, np.where(rng.random(n) < 0.2, 0.0, width))
    return lower, lower + width


def _feasible(rng: Rng, lower: Array, upper: Array) -> Array:
    """A point of the box with about half of its coordinates at a bound."""
    inside = lower + rng.random(lower.size) * np.minimum(upper - lower, 2.0)
    bound = np.where((rng.random(lower.size) < 0.5) & np.isfinite(upper), upper, lower)
    return np.where(rng.random(lower.size) < 0.5, inside, bound)


def _target(rng: Rng, A: Array, x: Array) -> Array:
    """Noise, A x with noise of any size, A x as rounded, or now and then zero."""
    noise = rng.standard_normal((A.shape[0],))
    choice = rng.random()
    if choice < 0.5:
        return noise
    if choice < 0.95:
        return A @ x + noise * float(rng.choice([0.0, 1e-12, 1e-6, 1e-3, 1.0]))
    return np.zeros(A.shape[0])


def _complete(name: str, rng: Rng, kind: Kind, A: Array) -> BoxProblem:
    lower, upper = _bounds(rng, A.shape[1], kind)
    return BoxProblem(name, A, _target(rng, A, _feasible(rng, lower, upper)), lower, upper)


def _shape(rng: Rng) -> tuple[int, int]:
    m, n = rng.integers(1, 9, 2)
    return int(m), int(n)


def _gaussian(rng: Rng) -> Array:
    return rng.standard_normal(_shape(rng))


def _nonnegative(rng: Rng) -> Array:
    return np.abs(_gaussian(rng))


def _wide(rng: Rng) -> Array:
    return rng.standard_normal((rng.integers(1, 4), rng.integers(5, 9)))


def _tall(rng: Rng) -> Array:
    return rng.standard_normal((rng.integers(6, 9), rng.integers(1, 4)))


def _single_row(rng: Rng) -> Array:
    return rng.standard_normal((1, rng.integers(1, 9)))


def _single_column(rng: Rng) -> Array:
    return rng.standard_normal((rng.integers(1, 9), 1))


def _duplicate_columns(rng: Rng) -> Array:
    """Columns drawn with replacement, some multiplied by a power of two."""
    A = _gaussian(rng)
    n = A.shape[1]
    factors: Array = rng.choice([1.0, 1.0, 0.5, 4.0], n)
    return A[:, rng.integers(0, n, n)] * factors


def _opposite_columns(rng: Rng) -> Array:
    """Columns a and -a together: no t has A^T t < 0."""
    half = rng.standard_normal((rng.integers(1, 9), rng.integers(1, 5)))
    return np.hstack([half, -half])


def _collinear(rng: Rng) -> Array:
    """Multiples of one column up to a relative difference between 1e-1 and 1e-16."""
    m, n = _shape(rng)
    base = rng.standard_normal((m, 1))
    noise: Array = 10.0 ** -rng.uniform(1.0, 16.0) * rng.standard_normal((m, n))
    factors: Array = rng.choice([1.0, 1.0, 2.0, -1.0, 1 / 3], n)
    return (base + noise) * factors


def _rounded_low_rank(rng: Rng) -> Array:
    """Low rank before rounding, full rank with tiny singular values after it."""
    m, n = _shape(rng)
    rank = rng.integers(1, 4)
    return rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))


def _sparse(rng: Rng) -> Array:
    """Mostly zeros, with whole columns and rows of them."""
    A = _gaussian(rng)
    m, n = A.shape
    kept = (rng.random((m, n)) < 0.5) & (rng.random(n) < 0.8) & (rng.random((m, 1)) < 0.9)
    return np.where(kept, A, 0.0)


def _integers(name: str, rng: Rng, kind: Kind) -> BoxProblem:
    """Small integers throughout: ties and exact degeneracy are common."""
    m, n = _shape(rng)
    lower, upper = _bounds(rng, n, kind)
    A = rng.integers(-2, 3, (m, n)).astype(np.float64)
    y = rng.integers(-4, 5, m).astype(np.float64)
    return BoxProblem(name, A, y, np.floor(lower), np.ceil(upper))


def _mixed_bounds(name: str, rng: Rng, kind: Kind) -> BoxProblem:
    return _complete(name, rng, "mixed", _gaussian(rng))


def _tight_boxes(name: str, rng: Rng, kind: Kind) -> BoxProblem:
    """Box widths between 1e-2 and 1e-14; some infinite where the bounds are mixed."""
    A = _gaussian(rng)
    lower, upper = _bounds(rng, A.shape[1], kind)
    loose = np.isinf(upper) & (kind == "mixed")
    upper = np.where(loose, np.inf, lower + 10.0 ** -rng.uniform(2.0, 14.0, lower.size))
    return BoxProblem(name, A, _target(rng, A, _feasible(rng, lower, upper)), lower, upper)


def _badly_scaled_columns(name: str, rng: Rng, kind: Kind) -> BoxProblem:
    """Column norms between 1e-8 and 1e8, bounds scaled the opposite way or not at all."""
    plain = _complete(name, rng, kind, _gaussian(rng))
    norms = 10.0 ** rng.uniform(-8.0, 8.0, plain.A.shape[1])
    units = norms if rng.random() < 0.7 else np.ones_like(norms)
    return BoxProblem(name, plain.A * norms, plain.y, plain.lower / units, plain.upper / units)


def _extreme_scale(name: str, rng: Rng, kind: Kind) -> BoxProblem:
    """A and y each multiplied by 1e-20, 1 or 1e20; bounds in the resulting units of x."""
    plain = _complete(name, rng, kind, _gaussian(rng))
    a, b = rng.choice([1e-20, 1.0, 1e20], 2)
    return BoxProblem(name, plain.A * a, plain.y * b, plain.lower * (b / a), plain.upper * (b / a))


def _huge_cancellation(name: str, rng: Rng, kind: Kind) -> BoxProblem:
    """|y| about 1e8 and nearly A x: the residual loses up to 16 digits."""
    A = _gaussian(rng) if rng.random() < 0.5 else _nonnegative(rng)
    lower, upper = (1e8 * v for v in _bounds(rng, A.shape[1], kind))
    y = A @ (_feasible(rng, lower / 1e8, upper / 1e8) * 1e8)
    y += 10.0 ** -rng.uniform(0.0, 8.0) * rng.standard_normal(y.size)
    return BoxProblem(name, A, y, lower, upper)


def _float32(name: str, rng: Rng, kind: Kind) -> BoxProblem:
    """All four arrays in single precision."""
    plain = _complete(name, rng, kind, _gaussian(rng))
    A, y, lower, upper = (v.astype(np.float32) for v in plain.data)
    return BoxProblem(name, A, y, lower, upper)


_MATRICES: Final[dict[str, Callable[[Rng], Array]]] = {
    "gaussian": _gaussian,
    "nonnegative": _nonnegative,
    "wide": _wide,
    "tall": _tall,
    "single_row": _single_row,
    "single_column": _single_column,
    "duplicate_columns": _duplicate_columns,
    "opposite_columns": _opposite_columns,
    "collinear": _collinear,
    "rounded_low_rank": _rounded_low_rank,
    "sparse": _sparse,
}
_COMPLETE: Final[dict[str, Callable[[str, Rng, Kind], BoxProblem]]] = {
    "integers": _integers,
    "mixed_bounds": _mixed_bounds,
    "tight_boxes": _tight_boxes,
    "badly_scaled_columns": _badly_scaled_columns,
    "extreme_scale": _extreme_scale,
    "huge_cancellation": _huge_cancellation,
    "float32": _float32,
    "planted_degenerate": planted_degenerate,
    "nearly_degenerate": nearly_degenerate,
    "zero_residual": zero_residual,
}
FAMILIES: Final[tuple[str, ...]] = (*_MATRICES, *_COMPLETE)
