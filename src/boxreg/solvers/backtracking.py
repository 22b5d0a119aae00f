"""How far to go towards the minimum of a model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..point import Point
from ..rounding import dot

_ARMIJO = 1e-4
_HALVINGS = 40
_NOISE = 1e-13
"""Of the objective: what a step may seem to raise it by rounding."""


class Advance(NamedTuple):
    """A point on the way to the minimum of a model, and how far along; None where rounding hides it."""

    point: Point
    share: float | None


def advance(point: Point, model: Point) -> Advance | None:
    """The first of x + s d, s = 1, ½, ¼ …, d the way to the model, that lowers P enough; or None.

    Enough is a share of what the slope along d promises. Where that is no more than the rounding error
    of P the whole step is taken if gradients that point inwards become smaller.
    """
    problem, d = point.problem, model.x - point.x
    promised = dot(point.correlation, d)
    if promised <= _NOISE * abs(point.objective):
        return Advance(model, None) if _nearer(model, point) else None
    share, trial = 1.0, model
    for _ in range(_HALVINGS):
        gained = point.objective - trial.objective
        if gained > _ARMIJO * share * promised and trial.regular:
            return Advance(trial, share)
        share *= 0.5
        trial = Point(problem, np.clip(point.x + share * d, problem.lower, problem.upper))
    return None


def _nearer(ahead: Point, point: Point) -> bool:
    """Whether the gradient that points inwards has become smaller."""
    if not ahead.regular:
        return False
    return bool(np.max(ahead.inward, initial=0.0) < np.max(point.inward, initial=0.0))
