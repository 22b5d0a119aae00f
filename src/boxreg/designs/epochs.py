"""What coordinate descent needs of a problem besides A."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..arrays import Array, Index
from ..rounding import norm

Box: TypeAlias = tuple[Array, Array]
"""Lower and upper bounds."""

LONG = 1800
"""Dense columns longer than this are swept over four at a time."""


class SmoothTerms(NamedTuple):
    """The rows and the box of a problem with a smooth loss, for epochs of coordinate descent."""

    derivative: Callable[[float, float], float]
    """f'(p, y) of two numbers."""
    target: Array
    weights: Array
    split: int
    """Rows from here on, those of a ridge term, are squares."""
    lower: Array
    upper: Array
    cost: Array
    rates: Array
    """r_j²: a step is w_j / r_j²."""
    order: Index

    @property
    def rows(self) -> tuple[Array, Array, int]:
        """As the kernels take them."""
        return self.target, self.weights, self.split

    @property
    def box(self) -> tuple[Array, Array, Array]:
        """As the kernels take it."""
        return self.lower, self.upper, self.cost


class SweepTerms(NamedTuple):
    """A quadratic in x besides A and y, for sweeps of exact minimisation coordinate by coordinate."""

    lower: Array
    upper: Array
    squares: Array
    """sum_i ω_i a_ij², > 0 for every coordinate that is swept over."""
    cost: Array
    weights: Array | None
    """ω; all 1 if None."""
    fresh: bool = False
    """The squares are not known yet: they are computed as the columns are read, and written."""


def quarters(index: Index) -> Index:
    """The first of each quarter, the second of each, and so on: four at a time that are far apart."""
    whole = len(index) - len(index) % 4
    return np.concatenate([index[:whole].reshape(4, -1).T.ravel(), index[whole:]])


class Swept(NamedTuple):
    """What a sweep did."""

    order: Index
    """The coordinates worth coming back to."""
    changed: int
    """How many have come to a bound or left one."""
    largest: float
    """The largest change of A x by one coordinate."""
    total: float
    """The root of the sum of the squares of all those."""


class FirstSweep(NamedTuple):
    """Where a sweep over all columns leads from x = 0, with neither weights nor costs."""

    x: Array
    residual: Array
    """y - A x."""
    back: Array
    """What was left of each slope after the step: 0 inside the box."""

    def as_swept(self, order: Index, terms: SweepTerms, margin: float) -> Swept:
        """What a `Sweep` with these terms, over these coordinates, would have said of it."""
        reach = np.sqrt(terms.squares)
        within, inside = ((terms.lower < x) & (x < terms.upper) for x in (0.0 * self.x, self.x))
        worth = inside | (np.abs(self.back) <= margin * reach)
        changed = (self.x != 0.0) & ((within != inside) | ~(within | inside))
        sizes = np.abs(self.x) * reach
        return Swept(
            order[worth[order]],
            int(np.count_nonzero(changed)),
            float(np.max(sizes, initial=0.0)),
            norm(sizes),
        )


class Sweep(NamedTuple):
    """One exact minimisation over each coordinate of `order` in turn, as a design is asked for it.

    Coordinate j of x, of `order` and of the terms is column `chosen[j]`; x and residual = y - A x
    change together, in place. Coordinates that a bound holds back by more than `margin` times the norm
    of their column are not worth coming back to.
    """

    chosen: Index
    terms: SweepTerms
    x: Array
    residual: Array
    order: Index
    margin: float = float("inf")

    def by(self, kernel: Callable[..., Any], columns: Any) -> Swept:
        """Made by a kernel, with columns as it takes them."""
        order, terms = self.order.copy(), self.terms
        box = (terms.lower, terms.upper)
        rest = (terms.squares, terms.cost, terms.weights, order, self.margin, terms.fresh)
        kept, *sizes = kernel(columns, self.chosen, self.x, self.residual, box, *rest)
        return Swept(order[:kept], *sizes)
