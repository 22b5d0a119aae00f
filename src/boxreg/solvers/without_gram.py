"""Working sets so large that their Gram matrix and its factor are not worth making."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..arrays import Index
from ..point import Point
from ..reduced import ReducedProblem
from .inexact import inexact_minimum

_FACTOR = 0.05
"""What a step of a Cholesky factor costs, if an entry of A in a product costs 1."""

_STEPS = 40
"""Steps of conjugate gradients that a well-conditioned problem takes, over all rounds;"""

_ROUNDS = 4
"""rounds that it takes more than exact solutions would, each with two products with A."""

_MOST = 250
"""Steps in one round at most: where they do not do, they are few beside an exact solution."""

_TO_ROOT = 11.0
"""What conjugate gradients cost for one column, over the root of the sweeps that would lead as far:
2 √sweeps steps, each two sweeps of two products with it, and a few begun again."""

_ADVANTAGE = 2.0
"""Conjugate gradients are tried where they promise to be this many times cheaper."""

_LEAST = 500
"""Smaller factors take no longer than the calls of forty steps."""

_ROUGHLY, _CLOSELY = 1e-2, 1e-11
"""The share of the slope left by a round while coordinates come in, and when none does any more."""

_NEAR = 2.0
"""Slopes up to this many times the largest one inside may change their sign."""


def pays(problem: ReducedProblem, size: int, sweeps: float | None = None) -> bool:
    """Whether conjugate gradients on so many columns should cost less than an exact solution.

    `sweeps` of coordinate descent lead to the precision of the data, where that is known.
    """
    if size < _LEAST:
        return False
    rounds = _ROUNDS * 2.0 * problem.design.product_cost
    if sweeps is not None:
        return exact_cost(problem, size) > gradients_cost(size, sweeps) + 0.5 * rounds
    return exact_cost(problem, size) > _ADVANTAGE * (2.0 * size * _STEPS + rounds)


def round_on(point: Point, inside: Index, new: Index) -> Point | None:
    """Near the solution over the coordinates inside and the new ones.

    None where that takes too many steps: the columns are too ill-conditioned.
    """
    problem = point.problem
    used, share = np.union1d(inside, new), _ROUGHLY
    if not len(new):
        used, share = np.union1d(inside, _near(point)), _CLOSELY
    weights = problem.smoothness.times(np.ones(len(problem.target)))
    return inexact_minimum(
        *(point, weights, used, share, _MOST),
        diagonal=problem.reach[used] ** 2,
        noise=point.gradient_noise[used],
    )


def _near(point: Point) -> Index:
    """Coordinates held at a bound by little: others that are inside want to move more."""
    problem = point.problem
    reach = np.maximum(problem.reach, np.finfo(float).tiny)
    slopes = np.abs(point.correlation) / reach
    margin = _NEAR * float(np.max(slopes[point.inside], initial=0.0))
    return np.flatnonzero(problem.open & (slopes <= margin))


def leads_on(moved: Point, point: Point) -> bool:
    """Whether the objective is lower, or where it cannot tell any more the slope half of what it was."""
    if moved.objective < point.objective:
        return True
    steepest = float(np.max(point.inward, initial=0.0))
    return float(np.max(moved.inward, initial=0.0)) <= 0.5 * steepest


def gradients_cost(size: int, sweeps: float) -> float:
    """Conjugate gradients to the precision of the data, in products with one column.

    They take about the root of the sweeps of coordinate descent that lead there.
    """
    return _TO_ROOT * sqrt(sweeps) * size


def exact_cost(problem: ReducedProblem, size: int) -> float:
    """A Gram matrix and its Cholesky factor, in products with one column."""
    gram = 0.5 * problem.design.gram_cost * size**2
    return gram + _FACTOR / max(problem.design.terms, 1) * size**3 / 3.0
