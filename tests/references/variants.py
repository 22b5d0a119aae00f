"""Least squares with weights, costs and any bounds, solved exactly through a plain problem.

With ω_i powers of 4, √ω is exact, and sum_i ½ ω_i (a_iᵀx - y_i)² is the plain problem of the rows
√ω_i (a_i, y_i). A cost c = (√ω A)ᵀv, exact for entries on a coarse grid, moves its target by -v.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from references.box_problem import BoxProblem
from references.exact import exact_solution

FAR: Final = 2.0**30
KINDS: Final = ("plain", "mirrored", "free", "weights", "costs", "everything")
"""What is changed in a problem; the last has all of it."""

ON_A_GRID: Final = ("gaussian", "nonnegative", "wide", "tall", "sparse", "integers", "mixed_bounds")
"""Families whose entries may be rounded to multiples of 2⁻¹² without losing what they are for."""


@dataclass(frozen=True, eq=False)
class Variant:
    """The data, the terms, and the exact x*, theta* and w* = Aᵀtheta* - c."""

    data: tuple[Any, Any, Any, Any]
    terms: dict[str, Any]
    x: list[Fraction]
    theta: list[Fraction]
    w: list[Fraction]


def variant(problem: BoxProblem, kind: str, seed: int) -> Variant | None:
    """The problem changed as `kind` says; None if it has no solution within FAR."""
    rng = np.random.default_rng([seed, 17])
    A, y, lower, upper = (np.asarray(v, dtype=float) for v in problem.data)
    m, n = A.shape
    everything = kind == "everything"
    if everything or kind in ("weights", "costs"):
        A, y = np.round(A * 4096) / 4096, np.round(y * 4096) / 4096
    if everything or kind == "mirrored":
        which = rng.random(n) < 0.5
        A = np.where(which, -A, A)
        lower, upper = np.where(which, -upper, lower), np.where(which, -lower, upper)
    if everything or kind == "free":
        loose = rng.random(n) < 2.0 / n
        lower, upper = np.where(loose, -np.inf, lower), np.where(loose, np.inf, upper)
    terms: dict[str, Any] = {}
    root = np.ones(m)
    if everything or kind == "weights":
        root = rng.choice([0.5, 1.0, 2.0, 4.0], m)
        terms["sample_weight"] = root**2
    v = np.zeros(m)
    if everything or kind == "costs":
        v = rng.integers(-2, 3, m).astype(float)
        terms["linear"] = (root[:, None] * A).T @ v
    near = np.maximum(lower, -FAR), np.minimum(upper, FAR)
    known = exact_solution(root[:, None] * A, root * y - v, *near)
    at_end = (
        (low == -FAR and x == low) or (high == FAR and x == high)
        for x, low, high in zip(known.x, *near, strict=True)
    )
    if any(at_end):
        return None
    theta = [Fraction(r) * (t + Fraction(s)) for r, t, s in zip(root, known.theta, v, strict=True)]
    return Variant((A, y, lower, upper), terms, known.x, theta, known.w)
