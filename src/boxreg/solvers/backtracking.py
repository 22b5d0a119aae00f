"""How far to go towards the minimum of a model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..point import Point
from ..rounding import dot

_ARMIJO = 1e-4
_HALVINGS, _DOUBLINGS = 40, 40
_SLOPES, _LEVEL, _INSIDE = 20, 0.1, 0.1
"""Slopes that a search along d looks at, at most; it ends at one of this share of the first; and how far
from both ends of what is left of [0, 1] it looks, as a share of that."""
_STRAIGHT = 0.55
"""A whole step that gains more than this share of what its slope promises may go on: to the minimum of
a parabola it gains 1/2, along exp(-t) 1 - 1/e = 0.63, along a straight line all of it."""
_NOISE = 1e-13
"""Of the objective: what a step may seem to raise it by rounding."""

_ALONG = 0.1
"""The share of P that a step along the ray through x must gain."""


class Advance(NamedTuple):
    """A point on the way to the minimum of a model, and how far along; None where rounding hides it."""

    point: Point
    share: float | None


def advance(point: Point, model: Point) -> Advance | None:
    """x + s d, d the way to the model, for an s in (0, 1] at which P is low enough; or None.

    Enough is a share of what the slope along d promises. s = 1 comes first, then the s at which P is
    lowest along d, nearly, and its halves. A whole step that gains much of its promise has met little
    curvature, as in the tails of a logistic loss, where Newton's method divides P by e with every step:
    then s = 2, 4, 8 … follow as long as P falls; not with a linear cost, along which it may for ever.
    Where the promise is no more than the rounding error of P the whole step is taken if gradients that
    point inwards become smaller.
    """
    problem, d = point.problem, model.x - point.x
    promised = dot(point.correlation, d)
    if promised <= _NOISE * abs(point.objective):
        return Advance(model, None) if _nearer(model, point) else None
    share, trial = 1.0, model
    for _ in range(_HALVINGS):
        gained = point.objective - trial.objective
        if gained > _ARMIJO * share * promised and trial.regular:
            straight = share == 1.0 and gained > _STRAIGHT * promised and problem.cost is None
            return _farther(point, trial, d) if straight else Advance(trial, share)
        share = _lowest(point, model, promised) if share == 1.0 else 0.5 * share
        trial = Point(problem, np.clip(point.x + share * d, problem.lower, problem.upper))
    return None


def _lowest(point: Point, model: Point, promised: float) -> float:
    """The s in (0, 1) at which P(x + s d) is lowest, as far as a few slopes along d tell.

    Predictions are linear in s, so that no slope costs a product.
    """
    problem = point.problem
    ahead = model.prediction - point.prediction
    fixed = promised - dot(point.residual, ahead)  # what linear costs promise
    low, high, start, end = 0.0, 1.0, promised, -np.inf
    for _ in range(_SLOPES):
        apart = start - end
        share = low + (high - low) * (start / apart if np.isfinite(apart) else 0.5)
        share = float(np.clip(share, low + _INSIDE * (high - low), high - _INSIDE * (high - low)))
        residual = problem.loss.residual(point.prediction + share * ahead, problem.target)
        slope = dot(residual, ahead) + fixed if np.all(np.isfinite(residual)) else -np.inf
        if abs(slope) <= _LEVEL * promised:
            return share
        if slope > 0.0:
            low, start = share, slope
        else:
            high, end = share, slope
    return share


def _farther(point: Point, ahead: Point, d: Array) -> Advance:
    """The last of x + s d, s = 1, 2, 4 …, as long as P falls by more each time."""
    problem, share = point.problem, 1.0
    for _ in range(_DOUBLINGS):
        x = np.clip(point.x + 2.0 * share * d, problem.lower, problem.upper)
        trial = Point(problem, x)
        if not (trial.regular and trial.objective < ahead.objective):
            break
        share, ahead = 2.0 * share, trial
    return Advance(ahead, share)


def along_the_ray(point: Point) -> Point:
    """The last of x, 2 x, 4 x …, as long as P falls by a share of itself each time.

    Where the data can be separated a logistic loss falls for ever along such a ray, by a factor e with
    every step of Newton's method, and by any power of it with every doubling. Predictions are known by
    linearity, so that looking costs no product. Nothing is done where the slope promises little.
    """
    problem = point.problem
    if problem.offset_size or problem.cost is not None:
        return point
    if not dot(point.x, point.correlation) > _ALONG * abs(point.objective):
        return point
    for _ in range(_DOUBLINGS):
        x = 2.0 * point.x
        if np.any((x < problem.lower) | (x > problem.upper)):
            break
        trial = Point(problem, x)
        trial.prediction = 2.0 * point.prediction
        if not (trial.regular and trial.objective < (1.0 - _ALONG) * point.objective):
            break
        point = trial
    return Point(problem, point.x)


def _nearer(ahead: Point, point: Point) -> bool:
    """Whether the gradient that points inwards has become smaller."""
    if not ahead.regular:
        return False
    return bool(np.max(ahead.inward, initial=0.0) < np.max(point.inward, initial=0.0))
