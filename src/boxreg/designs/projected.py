"""A design with a subspace taken out of its columns."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Index
from .base import Design


class ProjectedDesign(Design):
    """(I - QQᵀ) A for a matrix Q with orthonormal columns, without forming it."""

    def __init__(self, whole: Design, basis: Array, norms: Array) -> None:
        self.whole = whole
        self.basis = basis
        self.shape = whole.shape
        self.terms = whole.terms + 2 * basis.shape[1]
        self.product_cost = whole.product_cost
        self.rounding_known = whole.rounding_known
        self.has_columns = whole.has_columns
        self.entries_known = False
        self._norms = norms

    def matvec(self, x: Array) -> Array:
        """(I - QQᵀ) A x."""
        return self._off(self.whole.matvec(x))

    def rmatvec(self, v: Array) -> Array:
        """Aᵀ (I - QQᵀ) v."""
        return self.whole.rmatvec(self._off(v))

    def column_norms(self) -> Array:
        """Norms given at construction: those of A, which bound the true ones."""
        return self._norms

    def columns(self, index: Index) -> Array:
        """The chosen columns, dense."""
        return np.asfortranarray(self._off(self.whole.columns(index)))

    def keep(self, index: Index) -> ProjectedDesign:
        """The chosen columns."""
        return ProjectedDesign(self.whole.keep(index), self.basis, self._norms[index])

    def _off(self, v: Array) -> Array:
        v = v - self.basis @ (self.basis.T @ v)
        return v - self.basis @ (self.basis.T @ v)
