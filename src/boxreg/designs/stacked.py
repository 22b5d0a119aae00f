"""A design with one more row."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Index
from .base import Design


class StackedDesign(Design):
    """The matrix [A; r] made of a design A and a row r under it, without copying A."""

    def __init__(self, top: Design, row: Array) -> None:
        self.top = top
        self.row = row
        self.shape = (top.shape[0] + 1, top.shape[1])
        self.terms = top.terms + 1
        self.product_cost = top.product_cost
        self.nonnegative = top.nonnegative and bool(np.all(row >= 0))
        self.rounding_known = top.rounding_known
        self.has_columns = top.has_columns

    def matvec(self, x: Array) -> Array:
        """[A x; r·x]."""
        return np.append(self.top.matvec(x), self.row @ x)

    def rmatvec(self, v: Array) -> Array:
        """Aᵀ v[:-1] + r v[-1]."""
        return self.top.rmatvec(v[:-1]) + self.row * float(v[-1])

    def column_norms(self) -> Array:
        """Euclidean norms of the columns."""
        return np.asarray(np.hypot(self.top.column_norms(), self.row))

    def columns(self, index: Index) -> Array:
        """The chosen columns, dense."""
        return np.asfortranarray(np.vstack([self.top.columns(index), self.row[index]]))

    def keep(self, index: Index) -> StackedDesign:
        """The chosen columns."""
        return StackedDesign(self.top.keep(index), self.row[index])
