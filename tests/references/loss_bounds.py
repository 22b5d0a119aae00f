"""Kinds of bounds, and feasible points with many coordinates at a bound."""

from __future__ import annotations

from typing import Final

import numpy as np

from references.loss_problem import Array

Rng = np.random.Generator

KINDS: Final = ("nonneg", "box", "mixed", "intercept", "upper_only", "shifted")
POSITIVE_KINDS: Final = ("nonneg", "box", "mixed", "shifted")
"""Those that can have lower >= 0."""


def bounds(rng: Rng, n: int, kind: str, positive: bool) -> tuple[Array, Array]:
    """(lower, upper) of n coordinates; `positive` asks for lower >= 0."""
    if kind == "nonneg":
        return np.zeros(n), np.full(n, np.inf)
    if kind == "intercept":
        return np.concatenate([[-np.inf], np.zeros(n - 1)]), np.full(n, np.inf)
    if kind == "upper_only":
        return np.full(n, -np.inf), rng.choice([0.0, 1.0]) * rng.standard_normal(n)
    if kind == "shifted":
        lower = np.full(n, 0.5) if rng.random() < 0.5 else rng.uniform(-1.0, 1.0, n)
        return (np.abs(lower) if positive else lower), np.full(n, np.inf)
    lower = rng.choice([0.0, 1.0]) * rng.standard_normal(n)
    lower = np.abs(lower) if positive else lower
    upper = lower + rng.uniform(0.1, 2.0, n) * float(rng.choice([0.1, 1.0]))
    return (lower, upper) if kind == "box" else _mixed(rng, lower, upper, positive)


def _mixed(rng: Rng, lower: Array, upper: Array, positive: bool) -> tuple[Array, Array]:
    """Each coordinate two-sided, one-sided either way, free or fixed; at least one is not fixed."""
    sorts = ("both", "lower", "fixed") if positive else ("both", "lower", "upper", "free", "fixed")
    chances = [0.4, 0.4, 0.2] if positive else [0.25, 0.3, 0.25, 0.1, 0.1]
    sort = rng.choice(sorts, lower.size, p=chances)
    sort[0] = "both"
    fixed = sort == "fixed"
    level = np.where(rng.random(lower.size) < 0.3, 0.0, lower)
    return (
        np.where(fixed, level, np.where(np.isin(sort, ("upper", "free")), -np.inf, lower)),
        np.where(fixed, level, np.where(np.isin(sort, ("lower", "free")), np.inf, upper)),
    )


def feasible(rng: Rng, lower: Array, upper: Array) -> Array:
    """A point of the box with about half of its coordinates at a bound, if they have one."""
    base = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
    other = np.where(np.isfinite(upper), upper, base)
    room = np.where(np.isfinite(lower), np.minimum(upper - lower, 2.0), -2.0)
    inside = base + rng.random(lower.size) * room
    at_bound = np.where(rng.random(lower.size) < 0.5, other, base)
    return np.where(rng.random(lower.size) < 0.5, inside, at_bound)
