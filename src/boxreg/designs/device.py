"""A dense A that lives elsewhere, on a GPU above all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays import Array, Index
from ..devices import host, module_of
from ..settings import current
from .base import Design
from .epochs import Box
from .survey import Survey


class ArrayDesign(Design):
    """A matrix behind the array API standard: products where it lives, vectors on the host.

    A product reads all of A and moves m + n numbers, so where A is large its vectors may as well stay
    where everything else is. Sums are in float64: float32 entries are widened block by block.
    """

    has_epochs = False

    def __init__(self, array: Any, *, nonnegative: bool = False) -> None:
        standard = getattr(array, "__array_namespace__", None)
        self.xp = module_of(array) if standard is None else standard()
        self.array = array
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.terms = self.shape[0]
        self.product_cost = float(self.shape[1])
        self.nonnegative = nonnegative
        self._wide = array.dtype == self.xp.float64

    def matvec(self, x: Array) -> Array:
        """A x."""
        return self._fetch(self._product(self.xp.asarray(x)))

    def rmatvec(self, v: Array) -> Array:
        """Aᵀ v."""
        return self._fetch(self._correlation(self.xp.asarray(v)))

    def column_norms(self) -> Array:
        """Euclidean norms of the columns."""
        return np.sqrt(self.weighted_squares(np.ones(self.shape[0])))

    def weighted_squares(self, weights: Array) -> Array:
        """sum_i ω_i a_ij², block by block."""
        total, held = self.xp.zeros(self.shape[1], dtype=self.xp.float64), self.xp.asarray(weights)
        for some in self._blocks():
            block = self._widened(self.array[some, :])
            total = total + held[some] @ (block * block)
        return self._fetch(total)

    @property
    def smallest(self) -> float:
        """The smallest entry."""
        return float(self.xp.min(self.array)) if 0 not in self.shape else 0.0

    @property
    def nbytes(self) -> int:
        """Memory that A takes on its device."""
        return self.shape[0] * self.shape[1] * (8 if self._wide else 4)

    def survey(self, target: Array, box: Box | None = None) -> Survey:
        """Norms, signs, Aᵀ1 and Aᵀy."""
        sums, products = self.rmatvec(np.ones(self.shape[0])), self.rmatvec(target)
        return Survey(self.column_norms(), self.smallest >= 0.0, sums, products)

    def columns(self, index: Index) -> Array:
        """The chosen columns on the host, column-major."""
        chosen = self._fetch(self._chosen(index))
        return np.asfortranarray(chosen, dtype=np.float64)

    def gram(self, rows: Index, columns: Index, weights: Array | None = None) -> Array:
        """The products a_iᵀa_j, computed where A is; with weights ω, a_iᵀdiag(ω)a_j."""
        right = self._widened(self._chosen(columns))
        left = right if rows is columns else self._widened(self._chosen(rows))
        if weights is not None:
            right = right * self.xp.asarray(weights)[:, None]
        return self._fetch(left.T @ right)

    def combine(self, index: Index, weights: Array) -> Array:
        """sum_k weights_k a_index(k), reading those columns only."""
        return self.keep(index).matvec(weights)

    def keep(self, index: Index) -> ArrayDesign:
        """The chosen columns, gathered where A is."""
        return ArrayDesign(self._chosen(index), nonnegative=self.nonnegative)

    def rows(self, kept: Index) -> ArrayDesign:
        """The chosen rows."""
        some = self.xp.take(self.array, self.xp.asarray(kept), axis=0)
        return ArrayDesign(some, nonnegative=self.nonnegative)

    def _chosen(self, index: Index) -> Any:
        return self.xp.take(self.array, self.xp.asarray(index), axis=1)

    def _product(self, x: Any) -> Any:
        if self._wide:
            return self.array @ x
        parts = [self._widened(self.array[some, :]) @ x for some in self._blocks()]
        return self.xp.concat(parts) if parts else self.xp.zeros(0, dtype=self.xp.float64)

    def _correlation(self, v: Any) -> Any:
        if self._wide:
            return self.array.T @ v
        total = self.xp.zeros(self.shape[1], dtype=self.xp.float64)
        for some in self._blocks():
            total = total + self._widened(self.array[some, :]).T @ v[some]
        return total

    def _widened(self, block: Any) -> Any:
        return block if self._wide else self.xp.asarray(block, dtype=self.xp.float64)

    def _fetch(self, array: Any) -> Array:
        return np.asarray(host(array), dtype=np.float64)

    def _blocks(self) -> Iterator[slice]:
        height = max(1, current().device_elements // max(self.shape[1], 1))
        for start in range(0, self.shape[0], height):
            yield slice(start, min(start + height, self.shape[0]))
