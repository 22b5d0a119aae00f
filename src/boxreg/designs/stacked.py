"""Designs stacked on one another, and the simple ones that are worth stacking."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..arrays import Array, Index
from .base import Design
from .dense import DenseDesign
from .epochs import Box
from .sparse import SparseDesign
from .survey import Survey


class StackedDesign(Design):
    """The matrix [A; B] made of two designs with the same columns, without copying either."""

    def __init__(self, top: Design, bottom: Design) -> None:
        self.top = top
        self.bottom = bottom
        self._split = top.shape[0]
        self.shape = (top.shape[0] + bottom.shape[0], top.shape[1])
        self.terms = top.terms + bottom.terms
        self.product_cost = top.product_cost
        self.gram_cost = top.gram_cost
        stored = top.density * top.shape[0] + bottom.density * bottom.shape[0]
        self.density = stored / max(self.shape[0], 1)
        self.nonnegative = top.nonnegative and bottom.nonnegative
        self.rounding_known = top.rounding_known and bottom.rounding_known
        self.has_columns = top.has_columns and bottom.has_columns
        self.entries_known = top.entries_known and bottom.entries_known
        self.columns_apart = top.columns_apart and bottom.columns_apart

    def matvec(self, x: Array) -> Array:
        """[A x; B x]."""
        return np.concatenate([self.top.matvec(x), self.bottom.matvec(x)])

    def rmatvec(self, v: Array) -> Array:
        """Aᵀ v_top + Bᵀ v_bottom."""
        return self.top.rmatvec(v[: self._split]) + self.bottom.rmatvec(v[self._split :])

    def counted(self) -> StackedDesign:
        """Both, their zeros not among the terms of a product."""
        return StackedDesign(self.top.counted(), self.bottom.counted())

    def column_norms(self) -> Array:
        """Euclidean norms of the columns."""
        return np.asarray(np.hypot(self.top.column_norms(), self.bottom.column_norms()))

    def weighted_squares(self, weights: Array) -> Array:
        """The sum of both."""
        top = self.top.weighted_squares(weights[: self._split])
        return top + self.bottom.weighted_squares(weights[self._split :])

    def survey(self, target: Array, box: Box | None = None) -> Survey:
        """What is known of both, put together."""
        top = self.top.survey(target[: self._split])
        bottom = self.bottom.survey(target[self._split :])
        norms = np.asarray(np.hypot(top.norms, bottom.norms))
        nonnegative = top.nonnegative and bottom.nonnegative
        if top.sums is None or bottom.sums is None:
            return Survey(norms, nonnegative)
        assert top.correlation is not None
        assert bottom.correlation is not None
        sums, correlation = top.sums + bottom.sums, top.correlation + bottom.correlation
        return Survey(norms, nonnegative, sums, correlation)

    def columns(self, index: Index) -> Array:
        """The chosen columns, dense."""
        return np.asfortranarray(np.vstack([self.top.columns(index), self.bottom.columns(index)]))

    def gram(self, rows: Index, columns: Index, weights: Array | None = None) -> Array:
        """The sum of both."""
        above = None if weights is None else weights[: self._split]
        below = None if weights is None else weights[self._split :]
        return self.top.gram(rows, columns, above) + self.bottom.gram(rows, columns, below)

    def correlate_some(self, index: Index, v: Array) -> Array:
        """The sum of both."""
        top = self.top.correlate_some(index, v[: self._split])
        return top + self.bottom.correlate_some(index, v[self._split :])

    def combine(self, index: Index, weights: Array) -> Array:
        """Both sums of columns, one under the other."""
        return np.concatenate(
            [self.top.combine(index, weights), self.bottom.combine(index, weights)]
        )

    def column_major(self) -> Design:
        """A copy in one piece: sparse if the top is, dense otherwise."""
        whole = np.arange(self.shape[1])
        if isinstance(self.top, SparseDesign):
            below = sparse.csc_array(self.bottom.columns(whole))
            return SparseDesign(
                sparse.csc_array(sparse.vstack([self.top.matrix, below])),
                nonnegative=self.nonnegative,
            )
        return DenseDesign(self.columns(whole), nonnegative=self.nonnegative)

    def keep(self, index: Index) -> StackedDesign:
        """The chosen columns."""
        return StackedDesign(self.top.keep(index), self.bottom.keep(index))


class RowDesign(Design):
    """A single row."""

    columns_apart = True

    def __init__(self, row: Array) -> None:
        self.row = row
        self.shape = (1, len(row))
        self.terms = 1
        self.product_cost = 0.0
        self.nonnegative = bool(np.all(row >= 0))

    def matvec(self, x: Array) -> Array:
        """r·x."""
        return np.array([self.row @ x])

    def rmatvec(self, v: Array) -> Array:
        """r v."""
        return self.row * float(v[0])

    def column_norms(self) -> Array:
        """|r_j|."""
        return np.abs(self.row)

    def columns(self, index: Index) -> Array:
        """The chosen entries."""
        return self.row[None, index]

    def keep(self, index: Index) -> RowDesign:
        """The chosen entries."""
        return RowDesign(self.row[index])


class IdentityDesign(Design):
    """Some columns of an identity matrix: the rows of a ridge term."""

    nonnegative = True
    columns_apart = True
    terms = 1
    product_cost = 0.0

    def __init__(self, size: int, index: Index) -> None:
        self.index = index
        self.shape = (size, len(index))
        self.density = 1.0 / max(size, 1)

    def matvec(self, x: Array) -> Array:
        """x, scattered."""
        out = np.zeros(self.shape[0])
        out[self.index] = x
        return out

    def rmatvec(self, v: Array) -> Array:
        """v, gathered."""
        return v[self.index]

    def column_norms(self) -> Array:
        """1."""
        return np.ones(self.shape[1])

    def weighted_squares(self, weights: Array) -> Array:
        """The weights themselves."""
        return weights[self.index]

    def survey(self, target: Array, box: Box | None = None) -> Survey:
        """All is known."""
        ones = np.ones(self.shape[1])
        return Survey(ones, True, ones, target[self.index])

    def columns(self, index: Index) -> Array:
        """The chosen columns, dense."""
        out = np.zeros((self.shape[0], len(index)), order="F")
        out[self.index[index], np.arange(len(index))] = 1.0
        return out

    def gram(self, rows: Index, columns: Index, weights: Array | None = None) -> Array:
        """The weight where the columns are the same, 0 elsewhere."""
        same = self.index[rows][:, None] == self.index[columns][None, :]
        return np.asarray(same * (1.0 if weights is None else weights[self.index[columns]]))

    def correlate_some(self, index: Index, v: Array) -> Array:
        """v, gathered."""
        return v[self.index[index]]

    def combine(self, index: Index, weights: Array) -> Array:
        """The weights, scattered."""
        out = np.zeros(self.shape[0])
        out[self.index[index]] = weights
        return out

    def keep(self, index: Index) -> IdentityDesign:
        """The chosen columns."""
        return IdentityDesign(self.shape[0], self.index[index])
