"""An A that is known only through its products."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..arrays import Array, Index
from ..settings import current
from ..warning_types import PerformanceWarning
from .base import Design


class OperatorDesign(Design):
    """A `scipy.sparse.linalg.LinearOperator`, for the solvers that need only products.

    The rounding error of its products is not known to the library. Screening assumes that they are
    as accurate as an inner product in float64 (gamma(m) ||a_j|| ||v||), and every certificate says
    that it rests on this.
    """

    rounding_known = False
    has_columns = False
    entries_known = False

    def __init__(self, operator: LinearOperator, column_norms: Array | None = None) -> None:
        self.operator = operator
        self.shape = (int(operator.shape[0]), int(operator.shape[1]))
        self.terms = self.shape[0]
        self.product_cost = float(self.shape[1])
        self._norms = column_norms

    def matvec(self, x: Array) -> Array:
        """A x."""
        return np.asarray(self.operator.matvec(x), dtype=np.float64)

    def rmatvec(self, v: Array) -> Array:
        """Aᵀ v."""
        return np.asarray(self.operator.rmatvec(v), dtype=np.float64)

    def column_norms(self) -> Array:
        """The caller's norms, or norms from products with all n unit vectors, in blocks."""
        if self._norms is None:
            n = self.shape[1]
            warnings.warn(
                f"the column norms of the operator A are computed by {n} products with unit "
                "vectors; pass boxreg.operator(A, column_norms=...) to avoid them",
                PerformanceWarning,
                stacklevel=2,
            )
            blocks = [
                np.linalg.norm(
                    self.columns(np.arange(start, min(start + current().operator_columns, n))),
                    axis=0,
                )
                for start in range(0, n, current().operator_columns)
            ]
            self._norms = np.concatenate(blocks) if blocks else np.zeros(0)
        return self._norms

    def columns(self, index: Index) -> Array:
        """The chosen columns, by products with unit vectors."""
        units = np.zeros((self.shape[1], len(index)))
        units[index, np.arange(len(index))] = 1.0
        return np.asfortranarray(self.operator.matmat(units), dtype=np.float64)

    def rows(self, kept: Index) -> OperatorDesign:
        """The chosen rows; their products still cost a product with all of A."""
        whole, (m, n) = self.operator, self.shape

        def transposed(v: Array) -> Array:
            scattered = np.zeros(m)
            scattered[kept] = np.ravel(v)
            return np.asarray(whole.rmatvec(scattered))

        return OperatorDesign(
            LinearOperator(
                (len(kept), n),
                matvec=lambda x: whole.matvec(x)[kept],
                rmatvec=transposed,
                dtype=np.float64,
            )
        )

    def keep(self, index: Index) -> ColumnSubset:
        """The chosen columns; their products still cost a product with all of A."""
        return ColumnSubset(self, index)


class ColumnSubset(Design):
    """Some columns of an operator: products scatter into, or gather from, the whole."""

    rounding_known = False
    has_columns = False
    entries_known = False

    def __init__(self, whole: OperatorDesign, index: Index) -> None:
        self.whole = whole
        self.index = index
        self.shape = (whole.shape[0], len(index))
        self.terms = whole.terms
        self.product_cost = whole.product_cost

    def matvec(self, x: Array) -> Array:
        """A x."""
        scattered = np.zeros(self.whole.shape[1])
        scattered[self.index] = x
        return self.whole.matvec(scattered)

    def rmatvec(self, v: Array) -> Array:
        """Aᵀ v."""
        return self.whole.rmatvec(v)[self.index]

    def column_norms(self) -> Array:
        """Euclidean norms of the columns."""
        return self.whole.column_norms()[self.index]

    def columns(self, index: Index) -> Array:
        """The chosen columns, by products with unit vectors."""
        return self.whole.columns(self.index[index])

    def keep(self, index: Index) -> ColumnSubset:
        """A subset of the subset."""
        return ColumnSubset(self.whole, self.index[index])
