"""What coordinate descent needs of a problem besides A."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..arrays import Array, Index


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
