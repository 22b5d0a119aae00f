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
