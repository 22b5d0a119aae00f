"""Lower bounds on P(x) - P*: what shows that a claimed gap is too small.

P is convex, so that for every feasible x', with w' = -∇P(x'),

    P(x) - P* >= P(x) - P(x') >= <w', x' - x>,

and for a quadratic P, P(x) - P(x') = ½ <w + w', x' - x>. A few steps along the scaled gradient, each
cut off at the box, give such points x'; their bounds add up. Every slope is taken at the worse end of
its error interval: what is left is proved, however small the steps are.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .point import Point
from .rounding import SLACK, dot, gamma

_STEPS = 10
"""Steps at most: each costs a few products with A."""

_HALVINGS = 10
"""Times that a step is halved until it proves something."""


def least_excess(point: Point, claim: float) -> float:
    """A proved lower bound on P(x) - P*, at least 0; the search ends once it exceeds the claim."""
    total = 0.0
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            if total > claim or not point.regular:
                break
            found = _step(point)
            if found is None:
                break
            point, gained = found
            total = (total + gained) / SLACK
    return total


def _step(point: Point) -> tuple[Point, float] | None:
    """A better feasible point, and what P is proved to fall by on the way; None if none is found."""
    problem = point.problem
    slopes = np.where(point.inward > point.gradient_noise, point.correlation, 0.0)
    squares = np.square(problem.norms)
    direction = np.divide(slopes, squares, out=np.zeros_like(slopes), where=squares > 0.0)
    if not direction.any() or not np.all(np.isfinite(direction)):
        return None
    image = problem.design.matvec(direction)
    curvature = problem.loss.secants(point.prediction, problem.target)
    moving = image != 0.0  # curvatures may be infinite
    bend = dot(curvature[moving] * image[moving], image[moving])  # 0 in the flat tail of a loss
    length = dot(slopes, direction) / bend if bend > 0.0 else 1.0
    length = length if np.isfinite(length) and length > 0.0 else 1.0
    if not problem.loss.quadratic:  # at the minimum along the line the slope is 0
        length = 0.5 * length
    for halvings in range(_HALVINGS):
        x = np.clip(point.x + 0.5**halvings * length * direction, problem.lower, problem.upper)
        if not np.all(np.isfinite(x)):
            continue
        moved = Point(problem, x)
        gained = _fall(point, moved) if moved.regular else 0.0
        if gained > 0.0:
            return moved, gained
    return None


def _fall(point: Point, moved: Point) -> float:
    """Lower bound on P(x) - P(x'), rounding included."""
    step = moved.x - point.x  # off by half an ulp: one more factor 1 + u in each term
    size = np.abs(step)
    if not point.problem.loss.quadratic:
        return _least(moved.correlation, moved.gradient_noise, step, size)
    slopes = 0.5 * (point.correlation + moved.correlation)
    noise = 0.5 * (point.gradient_noise + moved.gradient_noise)
    return _least(slopes, noise, step, size)


def _least(slopes: Array, noise: Array, step: Array, size: Array) -> float:
    """Lower bound on <w, step> for every w within `noise` of the slopes."""
    error = dot(noise, size) + gamma(len(step) + 8) * dot(np.abs(slopes), size)
    found = dot(slopes, step) - error * SLACK
    return found / SLACK if 0.0 < found < np.inf else 0.0
