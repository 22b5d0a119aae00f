"""Planted least squares with weights of its own for every row, and ridge terms; w* stays what it was.

With θ* = y - A x* of the plain problem and weights ω the target y_i = [A x*]_i + θ*_i / ω_i leaves θ*
as it is; a ridge term ½ ||Γ x||² is made up for by costs, c - ΓᵀΓ x*. Both hold exactly where float64
holds the new numbers, and are left out where it does not.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from references.judged import Judged, exact_product
from references.planted import planted


def with_terms(kind: str, seed: int) -> Judged:
    """Problem number `seed` with this kind of bounds."""
    family = f"terms-{kind}"
    rng = np.random.default_rng([zlib.crc32(family.encode()), seed])
    judged = planted("least_squares", kind, int(rng.integers(2**31)))
    judged = replace(judged, family=family, seed=seed, more=())
    if "sample_weight" not in judged.terms and rng.random() < 0.7:
        judged = _weighted(judged, rng)
    if "sample_weight" not in judged.terms or rng.random() < 0.5:
        judged = _with_ridge(judged, rng)
    return judged


def _weighted(judged: Judged, rng: np.random.Generator) -> Judged:
    """Powers of 4, and now and then 0 in a row that has no say: θ*_i = 0 there."""
    m, spread = len(judged.y), int(rng.choice([1, 3, 12]))
    weights = 4.0 ** rng.integers(-spread, spread + 1, m)
    predictions = exact_product(judged.A, judged.x)
    y = []
    for i, (target, p) in enumerate(zip(judged.y.tolist(), predictions, strict=True)):
        theta = Fraction(target) - p
        if theta == 0 and m > 1 and rng.random() < 0.3:
            weights[i] = 0.0
            y.append(Fraction(int(rng.integers(-5, 6))))
        else:
            y.append(p + theta / Fraction(weights[i]))
    rounded = np.array([float(v) for v in y])
    if any(Fraction(v) != w for v, w in zip(rounded.tolist(), y, strict=True)) or not weights.any():
        return judged
    return replace(judged, y=rounded, terms={**judged.terms, "sample_weight": weights})


def _with_ridge(judged: Judged, rng: np.random.Generator) -> Judged:
    """A number that is a power of two, or a small matrix of integers."""
    n = len(judged.signs)
    ridge: Any = 2.0 ** int(rng.integers(-12, 4))
    if rng.random() < 0.4:
        ridge = rng.integers(-2, 3, (int(rng.integers(1, n + 2)), n)).astype(float)
    pulls = _gradient(ridge, judged.x)
    given = judged.terms.get("linear", np.zeros(n))
    costs = [Fraction(float(c)) - g for c, g in zip(given, pulls, strict=True)]
    rounded = np.array([float(c) for c in costs])
    if any(Fraction(v) != c for v, c in zip(rounded.tolist(), costs, strict=True)):
        return judged
    return replace(judged, terms={**judged.terms, "linear": rounded, "ridge": ridge})


def _gradient(ridge: Any, x: Any) -> list[Fraction]:
    """μ x, or ΓᵀΓ x."""
    if np.ndim(ridge) == 0:
        return [Fraction(float(ridge)) * Fraction(v) for v in x]
    inner = exact_product(ridge, [Fraction(v) for v in x])
    return exact_product(np.ascontiguousarray(ridge.T), inner)
