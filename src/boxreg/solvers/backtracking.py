"""How far to go towards the minimum of a model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..point import Point
from ..rounding import dot

_ARMIJO = 1e-4
_HALVINGS, _DOUBLINGS = 40, 40
_STRAIGHT = 0.8
"""The share of its promise that a step gains where P falls in a straight line, nearly: a step to the
minimum of a parabola gains half of it."""
_NOISE = 1e-13
"""Of the objective: what a step may seem to raise it by rounding."""

_ALONG = 0.1
"""The share of P that a step along the ray through x must gain."""


class Advance(NamedTuple):
    """A point on the way to the minimum of a model, and how far along; None where rounding hides it."""

    point: Point
    share: float | None


def advance(point: Point, model: Point) -> Advance | None:
    """The first of x + s d, s = 1, ½, ¼ …, d the way to the model, that lowers P enough; or None.

    Enough is a share of what the slope along d promises. A whole step that gains nearly all of it has
    met no curvature, as in the tails of a logistic loss, where a model needs some to have a minimum:
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
        share *= 0.5
        trial = Point(problem, np.clip(point.x + share * d, problem.lower, problem.upper))
    return None


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
