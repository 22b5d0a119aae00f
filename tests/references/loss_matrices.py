"""Random matrices of given shape: plain, sparse, with equal, nearly equal or badly scaled columns."""

from __future__ import annotations

import numpy as np

from references.loss_problem import Array

Rng = np.random.Generator


def matrix(rng: Rng, m: int, n: int, positive: bool) -> Array:
    """m × n, with entries >= 0 if `positive`; no column is zero, nor any row of a positive matrix."""
    A = rng.standard_normal((m, n))
    if positive or rng.random() < 0.25:
        A = np.abs(A)
    shape = rng.choice(
        ["plain", "sparse", "duplicates", "collinear", "scaled", "integers"],
        p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1],
    )
    return _SHAPED[shape](rng, A) if shape != "plain" else A


def _sparse(rng: Rng, A: Array) -> Array:
    m, n = A.shape
    kept = rng.random((m, n)) < 0.5
    kept[rng.integers(0, m, n), np.arange(n)] = True
    kept[np.arange(m), rng.integers(0, n, m)] = True
    return np.where(kept, A, 0.0)


def _duplicates(rng: Rng, A: Array) -> Array:
    """Columns drawn with replacement, some multiplied by a power of two."""
    n = A.shape[1]
    factors: Array = rng.choice([1.0, 1.0, 0.5, 4.0], n)
    return A[:, rng.integers(0, n, n)] * factors


def _collinear(rng: Rng, A: Array) -> Array:
    """The second half of the columns close to the first ones, at a distance of 1e-1 to 1e-7."""
    n = A.shape[1]
    A = A.copy()
    size = 10.0 ** -rng.uniform(1.0, 7.0)
    A[:, n // 2 : 2 * (n // 2)] = A[:, : n // 2] * (
        1.0 + size * rng.standard_normal((len(A), n // 2))
    )
    return A


def _scaled(rng: Rng, A: Array) -> Array:
    """Column norms between 1e-3 and 1e3."""
    return np.asarray(A * 10.0 ** rng.uniform(-3.0, 3.0, A.shape[1]))


def _integers(rng: Rng, A: Array) -> Array:
    """Small integers: ties, and exact degeneracy."""
    whole = np.where(np.abs(A) < 0.5, 0.0, np.sign(A) * np.ceil(np.abs(A)))
    m, n = A.shape
    whole[rng.integers(0, m, n), np.arange(n)] = 1.0
    whole[np.arange(m), rng.integers(0, n, m)] = 1.0
    return whole


_SHAPED = {
    "sparse": _sparse,
    "duplicates": _duplicates,
    "collinear": _collinear,
    "scaled": _scaled,
    "integers": _integers,
}
