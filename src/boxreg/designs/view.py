"""Some columns of another design, without a copy."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Index
from .base import Design
from .epochs import Sweep, Swept


def chosen(design: Design, index: Index) -> Design:
    """The chosen columns, read where they are if each can be; otherwise a copy."""
    return ColumnView(design, index) if design.columns_apart else design.keep(index)


class ColumnView(Design):
    """The chosen columns of a design that reads columns one by one, left where they are.

    `columns_apart` is False: a choice within the choice does not pay.
    """

    def __init__(self, whole: Design, chosen: Index) -> None:
        self._whole, self._chosen = whole, chosen
        self.shape = (whole.shape[0], len(chosen))
        self.terms = whole.terms
        self.product_cost = float(len(chosen))
        self.gram_cost = whole.gram_cost
        self.has_sweeps = whole.has_sweeps
        self.nonnegative = whole.nonnegative
        self.density = whole.density
        self.entries_known = whole.entries_known
        self.rounding_known = whole.rounding_known

    def matvec(self, x: Array) -> Array:
        """A_S x."""
        used = np.flatnonzero(x)
        return self.combine(used, x[used])

    def rmatvec(self, v: Array) -> Array:
        """A_Sᵀ v."""
        return self._whole.correlate_some(self._chosen, v)

    def column_norms(self) -> Array:
        """Euclidean norms of the columns."""
        return self._whole.keep(self._chosen).column_norms()

    def weighted_squares(self, weights: Array) -> Array:
        """sum_i ω_i a_ij²."""
        return self._whole.weighted_squares_some(self._chosen, weights)

    def columns(self, index: Index) -> Array:
        """The chosen columns, dense."""
        return self._whole.columns(self._chosen[index])

    def gram(self, rows: Index, columns: Index, weights: Array | None = None) -> Array:
        """Products of columns."""
        left = self._chosen[rows]
        right = left if rows is columns else self._chosen[columns]
        return self._whole.gram(left, right, weights)

    def correlate_some(self, index: Index, v: Array) -> Array:
        """a_jᵀv for some of them."""
        return self._whole.correlate_some(self._chosen[index], v)

    def combine(self, index: Index, weights: Array) -> Array:
        """A sum of columns."""
        return self._whole.combine(self._chosen[index], weights)

    def keep(self, index: Index) -> Design:
        """Some of them, copied."""
        return self._whole.keep(self._chosen[index])

    def sweep_order(self, index: Index) -> Index:
        """As for all columns."""
        return self._whole.sweep_order(index)

    def sweep(self, asked: Sweep) -> Swept:
        """Over columns of the choice, read where they are."""
        return self._whole.sweep(asked._replace(chosen=self._chosen[asked.chosen]))
