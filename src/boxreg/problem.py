"""The problem as the user posed it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arrays import Array
from .designs.base import Design
from .designs.survey import Survey
from .linear_cost import LinearCost
from .losses.base import Loss
from .row_map import RowMap
from .smoothness import Smoothness


@dataclass(frozen=True)
class Problem:
    """minimise sum_i f([A x]_i; y_i) + cᵀx + constant subject to lower <= x <= upper.

    Built by validation only: shapes agree, everything is finite but bounds, and lower <= upper. Rows
    that say nothing, or something linear, are not part of A here (see `RowMap`), and the rows of a
    ridge term are. Holds the caller's arrays without changing them.
    """

    design: Design
    target: Array
    loss: Loss
    lower: Array
    upper: Array
    survey: Survey
    """What the first pass over A told."""
    cost: LinearCost | None = None
    constant: float = 0.0
    row_map: RowMap | None = None
    """How these rows lie among those of the data; None where they are the same."""
    first_own_row: int | None = None
    """The row that holds x_1 alone, followed by those of x_2, x_3 …: where a ridge term begins."""

    @property
    def data_shape(self) -> tuple[int, int]:
        """Rows and columns of the caller's A."""
        m, n = self.design.shape
        return (m if self.row_map is None else len(self.row_map.known), n)

    @cached_property
    def smoothness(self) -> Smoothness:
        """How fast f' may change."""
        return Smoothness.of(self.loss, self.target)

    def nearest_to_zero(self) -> Array:
        """The projection of 0 on the box: where the scale P₀ of `tol` is measured."""
        return np.minimum(np.maximum(0.0, self.lower), self.upper)

    def reference(self) -> Array:
        """The projection of 0 on the box, or where f is infinite there, `interior`."""
        x = self.nearest_to_zero()
        if not self.loss.needs_nonnegative:
            return x
        finite = np.isfinite(self.loss.objective(self._predicted(x), self.target))
        return x if finite else self.interior

    def regular(self) -> Array:
        """The projection of 0 on the box, or where f or f' is infinite there, `interior`."""
        x = self.nearest_to_zero()
        if not self.loss.needs_nonnegative:
            return x
        slopes = self.loss.derivatives(self._predicted(x), self.target)
        return x if np.all(np.isfinite(slopes)) else self.interior.copy()

    @cached_property
    def interior(self) -> Array:
        """The projection on the box of the multiple of 1 whose predictions have the mean of y."""
        counted = self.loss.floors(len(self.target)) == 0.0
        total = float(np.sum(self.design.matvec(np.ones(len(self.lower)))[counted]))
        level = float(np.sum(self.target[counted])) / total if total > 0.0 else 1.0
        return np.asarray(np.clip(level, self.lower, self.upper))

    def _predicted(self, x: Array) -> Array:
        """A x, without a product where x is 0."""
        return self.design.matvec(x) if x.any() else np.zeros(len(self.target))
