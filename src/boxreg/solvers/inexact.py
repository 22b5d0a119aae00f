"""The minimum of a quadratic model over a box to a digit or two, by conjugate gradients."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Index, Mask
from ..designs import Design
from ..designs.view import chosen
from ..point import Point

_ROUNDS = 50
"""Faces of the box visited at most."""

_PATIENCE = 40
"""Steps in which conjugate gradients are expected to gain a digit."""


class _Model:
    """½ dᵀG d - wᵀd over l <= x + d <= u, G = AᵀHA, never formed; scaled so that G has diagonal 1."""

    def __init__(self, design: Design, h: Array, limit: int) -> None:
        self._design, self._h = design, h
        self.left = limit
        """Products with G that may still be made."""
        self.products = 0
        self.diagonal = np.maximum(design.weighted_squares(h), np.finfo(float).tiny)

    def times(self, d: Array) -> Array:
        """G d."""
        self.products += 1
        self.left -= 1
        return np.asarray(self._design.rmatvec(self._h * self._design.matvec(d)))

    def conjugate_gradients(self, slope: Array, free: Mask, goal: float) -> tuple[Array, Array]:
        """d on the free coordinates that leaves no more than `goal` of the slope, and G d."""
        inverse = free / self.diagonal
        d, image, r = np.zeros_like(slope), np.zeros_like(slope), np.where(free, slope, 0.0)
        z = inverse * r
        search, size = z, float(r @ z)
        since, large = self.products, size
        while self.left > 0 and size > goal**2:
            if self.products - since >= _PATIENCE:
                if size > 0.01 * large:
                    self.left = 0
                    break
                since, large = self.products, size
            turned = self.times(search)
            bend = float(search @ turned)
            if not bend > 0.0:
                break
            length = size / bend
            d, image = d + length * search, image + length * turned
            r = r - length * (free * turned)
            z = inverse * r
            size, before = float(r @ z), size
            search = z + (size / before) * search
        return d, image


def inexact_minimum(point: Point, h: Array, used: Index, share: float, limit: int) -> Point | None:
    """Near the minimum over the coordinates `used` of the model at the point with f'' = h.

    Conjugate gradients on the coordinates that are free to move, then the clip to the box, as long as
    that lowers the model, until what is left of the slope that points inwards, in the metric
    diag(AᵀHA), is `share` of what it was. None if `limit` products with AᵀHA do not lead there, or 40
    of them gain no digit: the problem is too ill-conditioned for this.
    """
    problem = point.problem
    model = _Model(chosen(problem.design, used), h, limit)
    x, slope = point.x[used], point.correlation[used]
    lower, upper = problem.lower[used], problem.upper[used]
    first: float | None = None
    done = False
    for _ in range(_ROUNDS):
        free = ((x > lower) | (slope > 0.0)) & ((x < upper) | (slope < 0.0))
        size = float(np.sqrt(np.sum(free * slope**2 / model.diagonal)))
        first = size if first is None else first
        if size <= share * first:
            done = True
            break
        if model.left <= 0:
            break
        d, image = model.conjugate_gradients(slope, free, 0.3 * share * first)
        moved = np.clip(x + d, lower, upper)
        if not np.array_equal(moved, x + d):
            step = _lowering(model, x, d, slope, lower, upper)
            if step is None:
                break
            moved, image = step
        slope = slope - image
        x = moved
    problem.work.add(2 * model.products * len(used))
    if not done:
        return None
    full = point.x.copy()
    full[used] = x
    return Point(problem, full)


def _lowering(
    model: _Model, x: Array, d: Array, slope: Array, lower: Array, upper: Array
) -> tuple[Array, Array] | None:
    """The first of clip(x + s d), s = 1, ½, …, that lowers the model, and G times the step."""
    for halvings in range(max(model.left, 1)):
        moved = np.clip(x + 0.5**halvings * d, lower, upper)
        step = moved - x
        image = model.times(step)
        if float(slope @ step) > 0.5 * float(step @ image):
            return moved, image
    return None
