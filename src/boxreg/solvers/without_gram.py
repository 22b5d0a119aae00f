"""Working sets so large that their Gram matrix and its factor are not worth making."""

from __future__ import annotations

import numpy as np

from ..arrays import Index
from ..point import Point
from ..reduced import ReducedProblem
from ..settings import current
from .inexact import inexact_minimum

_FACTOR = 0.05
"""What a step of a Cholesky factor costs, if an entry of A in a product costs 1."""

_STEPS = 40
"""Steps of conjugate gradients that a well-conditioned problem takes, over all rounds;"""

_ROUNDS = 4
"""rounds that it takes more than exact solutions would, each with two products with A."""

_ROUGHLY, _CLOSELY = 1e-2, 1e-11
"""The share of the slope left by a round while coordinates come in, and when none does any more."""

_NEAR = 2.0
"""Slopes up to this many times the largest one inside may change their sign."""


def pays(problem: ReducedProblem, size: int) -> bool:
    """Whether conjugate gradients on so many columns should cost less than an exact solution."""
    if size < current().gradients_from:
        return False
    if size > len(problem.target):
        return True  # the Gram matrix is singular
    iterative = 2.0 * size * _STEPS + _ROUNDS * 2.0 * problem.design.product_cost
    return exact_cost(problem, size) > current().gradients_advantage * iterative


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
        *(point, weights, used, share, current().gradients_at_most),
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


def exact_cost(problem: ReducedProblem, size: int) -> float:
    """A Gram matrix and its Cholesky factor, in products with one column."""
    gram = 0.5 * problem.design.gram_cost * size**2
    return gram + _FACTOR / problem.design.stored * size**3 / 3.0
