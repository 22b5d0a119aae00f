"""What coordinate descent needs of a problem besides A."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..arrays import Array, Index
from ..rounding import norm

Box: TypeAlias = tuple[Array, Array]
"""Lower and upper bounds."""


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
    roundings: int = 3
    """Those that an entry of the residual has been through, besides two for each column."""

    def forgotten(self) -> FirstSweep:
        """Its steps not made, and nothing known of the slopes."""
        return self._replace(x=np.zeros_like(self.x), back=np.zeros_like(self.back))

    def as_swept(self, order: Index, terms: SweepTerms, steps: float) -> Swept:
        """What a `Sweep` over these coordinates would have said of it.

        Its margin is so many times the largest step.
        """
        reach = np.sqrt(terms.squares)
        sizes = np.abs(self.x) * reach
        largest = float(np.max(sizes, initial=0.0))
        within = (terms.lower < 0.0) & (terms.upper > 0.0)
        inside = (terms.lower < self.x) & (self.x < terms.upper)
        worth = inside | (np.abs(self.back) <= steps * largest * reach)
        changed = (self.x != 0.0) & ((within != inside) | ~(within | inside))
        return Swept(order[worth[order]], int(np.count_nonzero(changed)), largest, norm(sizes))


def together(parts: Sequence[FirstSweep], target: Array) -> FirstSweep:
    """Sweeps over some columns each, all of them from x = 0, as one sweep over all.

    With k parts and residuals r_i, y - A x is Σ r_i - (k - 1) y. What is in the sum is at most
    2k ||y|| + Σ |x_j| ||a_j||, and it takes k + 1 roundings. Where the steps of different parts do not
    go together, only those of the best part are made.
    """
    if len(parts) == 1:
        return parts[0]
    k, sizes = len(parts), [norm(part.residual) for part in parts]
    residual = np.sum([part.residual for part in parts], axis=0) - (k - 1) * target
    if not norm(residual) < min(sizes):
        best = int(np.argmin(sizes))
        residual = parts[best].residual
        parts = [part if i == best else part.forgotten() for i, part in enumerate(parts)]
    x, back = (np.concatenate(held) for held in zip(*((p.x, p.back) for p in parts), strict=True))
    return FirstSweep(x, residual, back, 3 * k + 2 * k * (k + 1))


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

    def by(self, kernel: Callable[..., Any], columns: Any, *options: Any) -> Swept:
        """Made by a kernel, with columns and options as it takes them."""
        order, terms = self.order.copy(), self.terms
        box = (terms.lower, terms.upper)
        rest = (terms.squares, terms.cost, terms.weights, order, self.margin, terms.fresh)
        kept, *sizes = kernel(columns, self.chosen, self.x, self.residual, box, *rest, *options)
        return Swept(order[:kept], *sizes)


class Descent(NamedTuple):
    """minimise ½ ||r||² + cᵀx, r = z - √H A x, between bounds, as a design is asked for it.

    x and r change together, in place, until the gap that r proves is at most `gap`, rounding left
    aside, or so many products with A are spent.
    """

    x: Array
    residual: Array
    lower: Array
    upper: Array
    cost: Array
    root: Array | None
    """√h, row by row; None where it is 1."""
    gap: float
    products: float


class Descended(NamedTuple):
    """What a descent did."""

    met: bool
    """Whether the gap was reached."""
    products: float
    """Work, in products with A."""
