"""The minimum of a quadratic model over a box to a digit or two, by conjugate gradients."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Index
from ..designs.view import chosen
from ..normal_equations import NormalEquations, normal_equations
from ..point import Point
from ..rounding import dot

_ROUNDS = 50
"""Faces of the box visited at most."""

_FURTHER = 0.3
"""Conjugate gradients go beyond their goal by this, as they measure slopes in another metric."""

_BELOW = 0.05
"""Slopes are let go at this share of their noise, which is a bound: rounding does less."""

_WORTHWHILE = 0.01
"""A round that left this share of the slope has led somewhere, if not as far as it should."""


def inexact_minimum(
    point: Point,
    h: Array,
    used: Index,
    share: float,
    limit: int,
    *,
    diagonal: Array | None = None,
    noise: Array | None = None,
) -> Point | None:
    """Near the minimum over the coordinates `used` of the model at the point with f'' = h.

    Conjugate gradients on the coordinates that are free to move, then the clip to the box, as long as
    that lowers the model, until what is left of the slope that points inwards, in the metric
    diag(AᵀHA), is `share` of what it was, or below the noise of the slopes. None if `limit` products
    with AᵀHA do not even gain two digits, or 40 steps none: the problem is too ill-conditioned for
    this.
    """
    problem = point.problem
    model = normal_equations(chosen(problem.design, used), h, limit, diagonal)
    x, slope = point.x[used], point.correlation[used]
    lower, upper = problem.lower[used], problem.upper[used]
    goal = 0.0 if noise is None else _BELOW * float(np.sqrt(np.sum(noise**2 / model.diagonal)))
    first, size, done = None, np.inf, False
    for _ in range(_ROUNDS):
        free = ((x > lower) | (slope > 0.0)) & ((x < upper) | (slope < 0.0))
        size = float(np.sqrt(np.sum(free * slope**2 / model.diagonal)))
        if first is None:
            first = size
            goal = max(goal, share * first)
        if size <= goal:
            done = True
            break
        if model.slow or model.left <= 0:
            break
        room = (lower - x, upper - x)
        d, traces = model.conjugate_gradients(slope, free, _FURTHER * goal / size, room)
        moved = np.clip(x + d, lower, upper)
        if not np.array_equal(moved, x + d):
            step = _lowering(model, x, d, slope, lower, upper)
            if step is None:
                break
            moved, image = step
        else:
            image = model.image(traces)
        slope = slope - image
        x = moved
    problem.work.add(2 * model.products * len(used))
    worthwhile = not (model.slow or first is None or size > _WORTHWHILE * first)
    if not (done or worthwhile) or np.array_equal(x, point.x[used]):
        return None
    full = point.x.copy()
    full[used] = x
    return Point(problem, full)


def _lowering(
    model: NormalEquations, x: Array, d: Array, slope: Array, lower: Array, upper: Array
) -> tuple[Array, Array] | None:
    """The first of clip(x + s d), s = 1, ½, …, that lowers the model, and G times the step."""
    for halvings in range(max(model.left, 1)):
        moved = np.clip(x + 0.5**halvings * d, lower, upper)
        step = moved - x
        image = model.times(step)
        if dot(slope, step) > 0.5 * dot(step, image):
            return moved, image
    return None
