"""Families of ℓ∞-penalised problems, and every claim about them judged in rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from boxreg import AntisparseResult, antisparse
from references.antisparse import ExactAntisparse, exact_antisparse, exact_objective

Data = tuple[Any, Any, float]
_SHARES = [1.5, 1.0, 1.0 - 1e-15, 0.999999999, 0.9, 0.5, 0.1, 0.01, 1e-6, 1e-12]


def judge(
    A: Any, y: Any, penalty: float, held: Any = None
) -> tuple[AntisparseResult, ExactAntisparse]:
    """Solve, with A held as given, and check every claim against the exact solution."""
    found = antisparse(A if held is None else held, y, penalty)
    exact = exact_antisparse(A, y, penalty, found.x)
    excess = exact_objective(A, y, penalty, found.x) - exact.objective
    assert excess >= 0
    assert np.isfinite(found.gap)
    assert excess <= Fraction(found.gap)
    for sign, w in zip(found.squeezed.tolist(), exact.w, strict=True):
        assert sign == 0 or sign * w > 0
    columns = np.asarray(A, dtype=float).T.tolist()
    theta = [Fraction(v) for v in found.theta.tolist()]
    load = sum(abs(sum(Fraction(a) * t for a, t in zip(c, theta, strict=True))) for c in columns)
    assert load <= Fraction(penalty)
    return found, exact


def penalty_of(A: Any, y: Any, share: float) -> float:
    return share * float(np.abs(A.T @ y).sum()) or 1.0


def gaussian(rng: np.random.Generator, m: int, n: int) -> Data:
    A, y = rng.standard_normal((m, n)), rng.standard_normal(m)
    return A, y, penalty_of(A, y, rng.choice(_SHARES))


def integers(rng: np.random.Generator, m: int, n: int) -> Data:
    """Many exact ties: w*_j = 0, |x_j| = c with w*_j = 0, several solutions."""
    A, y = rng.integers(-2, 3, (m, n)), rng.integers(-3, 4, m)
    return A.astype(float), y.astype(float), float(rng.integers(1, 8))


def repeated(rng: np.random.Generator, m: int, n: int) -> Data:
    A, y, penalty = gaussian(rng, m, n)
    A[:, -1] = A[:, 0] * rng.choice([1.0, -1.0])
    return A, y, penalty


def nearly_repeated(rng: np.random.Generator, m: int, n: int) -> Data:
    A, y, penalty = gaussian(rng, m, n)
    A[:, -1] = A[:, 0] + 10.0 ** rng.uniform(-14, -6) * rng.standard_normal(m)
    return A, y, penalty


def uneven(rng: np.random.Generator, m: int, n: int) -> Data:
    A, y, _ = gaussian(rng, m, n)
    A = A * 10.0 ** rng.uniform(-8, 8, n)
    return A, y, penalty_of(A, y, rng.choice(_SHARES))


def nearly_tied(rng: np.random.Generator, m: int, n: int) -> Data:
    """A coordinate that would by itself stop within rounding of the level: w*_j is all but 0."""
    q, _ = np.linalg.qr(rng.standard_normal((max(m, n), n)))
    v = rng.choice([-1.0, 1.0], n) * rng.uniform(1.5, 3.0, n)
    v[-1] = 1.0 + rng.choice([0.0, 1.0, -1.0]) * 10.0 ** rng.uniform(-17, -8)
    return q, q @ v, float(np.abs(v[:-1]).sum() - (n - 1)) or 0.5


FAMILIES: list[Callable[[np.random.Generator, int, int], Data]] = [
    gaussian,
    integers,
    repeated,
    nearly_repeated,
    uneven,
    nearly_tied,
]


def draw(family: int, seed: int, least: int = 1) -> Data:
    """Problem number `seed` of a family, with at least `least` columns."""
    rng = np.random.default_rng([seed, family])
    return FAMILIES[family](rng, int(rng.integers(1, 6)), int(rng.integers(least, 5)))
