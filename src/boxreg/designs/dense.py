"""A dense A in memory, float64 or float32, row- or column-major."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cache
from typing import Any

import numpy as np

from .. import matrix_products
from ..arrays import Array, Index, Matrix
from ..in_threads import added, in_parts, joined, shares, split
from ..settings import current
from .base import Design
from .epochs import Box, FirstSweep, SmoothTerms, Sweep, Swept, quarters, together
from .survey import Survey


@cache
def _by_lines() -> tuple[Any, Any]:
    """The kernels of products, loaded when first needed; looked up here in less time than by import."""
    from ..kernels.lines import combine_lines, correlate_lines

    return correlate_lines, combine_lines


def _products(lines: Matrix, v: Array) -> Array:
    """The product of every line with v."""
    correlate, _ = _by_lines()
    edges = split(*lines.shape)
    if len(edges) == 2:
        return np.asarray(correlate(lines, v))
    return joined(in_parts(lambda a, b: correlate(lines[a:b], v), edges))


def _sum(lines: Matrix, weights: Array) -> Array:
    """The sum of all lines, each times its weight."""
    _, combine = _by_lines()
    edges = split(*lines.shape)
    if len(edges) == 2:
        return np.asarray(combine(lines, weights))
    return added(in_parts(lambda a, b: combine(lines[a:b], weights[a:b]), edges))


class DenseDesign(Design):
    """Holds the caller's array as it is: no copy, no change of order, no widening of float32.

    float32 entries are exact float64 numbers; products widen them one by one, so float32 data halve
    the memory and the traffic while every sum is still accumulated in float64.
    """

    def __init__(self, array: Matrix, *, nonnegative: bool = False) -> None:
        self.array = array
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.terms = self.shape[0]
        self.product_cost = float(self.shape[1])
        self.nonnegative = nonnegative
        self._by_columns = bool(array.flags.f_contiguous)
        self.columns_apart = self.has_sweeps = self._by_columns
        self.sweeps_as_copy = not self._by_columns

    def matvec(self, x: Array) -> Array:
        """A x."""
        return _sum(self.array.T, x) if self._by_columns else _products(self.array, x)

    def rmatvec(self, v: Array) -> Array:
        """Aᵀ v."""
        return _products(self.array.T, v) if self._by_columns else _sum(self.array, v)

    def column_norms(self) -> Array:
        """Euclidean norms of the columns."""
        squares = np.zeros(self.shape[1])
        for rows, cols in self._blocks():
            block = self.array[rows, cols].astype(np.float64, copy=False)
            squares[cols] += np.einsum("ij,ij->j", block, block)
        return np.sqrt(squares)

    def weighted_squares(self, weights: Array) -> Array:
        """sum_i ω_i a_ij², block by block."""
        squares = np.zeros(self.shape[1])
        for rows, cols in self._blocks():
            block = self.array[rows, cols].astype(np.float64, copy=False)
            squares[cols] += weights[rows] @ (block * block)
        return squares

    def counted(self) -> DenseDesign:
        """The same, its zeros not among the terms of a product."""
        counts = np.zeros(self.shape[1], dtype=np.intp)
        for rows, cols in self._blocks():
            counts[cols] += np.count_nonzero(self.array[rows, cols], axis=0)
        made = copy(self)
        made.terms = int(np.max(counts, initial=0))
        return made

    def rows(self, kept: Index) -> DenseDesign:
        """The chosen rows, in the same memory order."""
        chosen = self.array.T[:, kept].T if self._by_columns else self.array[kept]
        return DenseDesign(chosen, nonnegative=self.nonnegative)

    @property
    def entries(self) -> Matrix:
        """The array itself."""
        return self.array

    def survey(self, target: Array, box: Box | None = None) -> Survey:
        """Norms, signs, Aᵀ1 and Aᵀy in one compiled pass; norms and a sweep, over long columns."""
        if box is not None and self._sweeps_on_its_way():
            return self._swept_survey(target, *box)
        from ..kernels import survey

        array, settings = self.array, current()
        edges = split(*(self.shape[::-1] if self._by_columns else self.shape))
        if self._by_columns:
            long = settings.long_columns
            parts = in_parts(lambda a, b: survey.by_columns(array.T[a:b], target, long), edges)
            return Survey.of_columns(parts)
        long = settings.long_rows
        parts = in_parts(lambda a, b: survey.by_rows(array[a:b], target[a:b], long), edges)
        return Survey.of_rows(parts)

    def _sweeps_on_its_way(self) -> bool:
        """Whether columns are long enough for it, and not too many threads share them."""
        settings = current()
        long = self._by_columns and self.shape[0] > settings.long_columns
        return long and shares(self.array.size) <= settings.first_sweep_threads

    def _swept_survey(self, target: Array, lower: Array, upper: Array) -> Survey:
        from ..kernels.first_sweep import first_sweep

        columns = self.array.T

        def part(a: int, b: int) -> tuple[Array, FirstSweep]:
            squares, *swept = first_sweep(columns[a:b], target, lower[a:b], upper[a:b])
            return squares, FirstSweep(*swept)

        squares, swept = zip(*in_parts(part, split(*columns.shape)), strict=True)
        return Survey(np.sqrt(joined(squares)), sweep=together(swept, target))

    def columns(self, index: Index) -> Array:
        """The chosen columns, column-major."""
        if not self._by_columns:
            from ..kernels.columns import gather_columns

            return np.asarray(gather_columns(self.array, index)).T
        if self.array.dtype == np.float64:
            return self.array.T[index].astype(np.float64, copy=False).T
        wide = np.empty((len(index), self.shape[0]))
        for column, j in zip(wide, index, strict=True):
            column[:] = self.array.T[j]
        return wide.T

    def by_columns(self) -> Array:
        """Aᵀ, copied if A is by rows or in single precision."""
        return np.ascontiguousarray(self.array.T, dtype=np.float64)

    def gram(self, rows: Index, columns: Index, weights: Array | None = None) -> Array:
        """The products of columns: of a few, each in one piece, without a copy of them."""
        few = len(rows) * len(columns) <= current().few_products
        if weights is not None or not self._by_columns or not few:
            return super().gram(rows, columns, weights)
        from ..kernels.small_gram import small_gram

        return np.asarray(small_gram(self.array.T, rows, columns, rows is columns))

    def gram_on_rows(self, rows: Index, columns: Index, weights: Array) -> Array | None:
        """Of a copy of those entries, if they are few."""
        if current().hessian_rows * len(rows) > self.shape[0]:
            return None
        part = self.array.T[np.ix_(columns, rows)].astype(np.float64, copy=False).T
        return matrix_products.cross(part, weights[:, None] * part)

    def weighted_squares_some(self, index: Index, weights: Array) -> Array:
        """sum_i ω_i a_ij² for the chosen columns, read where they are if each is in one piece."""
        if not self._by_columns:
            return super().weighted_squares_some(index, weights)
        from ..kernels.columns import weighted_squares_of_rows

        return np.asarray(weighted_squares_of_rows(self.array.T, index, weights))

    def correlate_some(self, index: Index, v: Array) -> Array:
        """a_jᵀv for the chosen columns, read where they are if each is in one piece."""
        if not self._by_columns:
            return super().correlate_some(index, v)
        from ..kernels.columns import correlate_rows

        columns, edges = self.array.T, split(len(index), self.shape[0])
        return joined(in_parts(lambda a, b: correlate_rows(columns, index[a:b], v), edges))

    def combine(self, index: Index, weights: Array) -> Array:
        """A sum of columns: read where they are if each is in one piece, all of A if they are many."""
        if self._by_columns:
            from ..kernels.columns import combine_rows

            columns, edges = self.array.T, split(len(index), self.shape[0])
            return added(
                in_parts(lambda a, b: combine_rows(columns, index[a:b], weights[a:b]), edges)
            )
        if current().gathered_columns * len(index) < self.shape[1]:
            return super().combine(index, weights)
        x = np.zeros(self.shape[1])
        x[index] = weights
        return self.matvec(x)

    def keep(self, index: Index) -> DenseDesign:
        """The chosen columns, gathered into an array of the same memory order."""
        if self._by_columns:
            kept: Matrix = self.array.T[index].T
        else:
            # Not array[:, index]: that comes out by columns, and would be copied once more.
            kept = np.take(self.array, index, axis=1)
        return DenseDesign(kept, nonnegative=self.nonnegative)

    def column_major(self) -> DenseDesign:
        """A column-major copy, or this design if it is column-major already."""
        if self._by_columns:
            return self
        return DenseDesign(np.asfortranarray(self.array), nonnegative=self.nonnegative)

    def least_squares_epochs(
        self,
        x: Array,
        residual: Array,
        lower: Array,
        upper: Array,
        squared_norms: Array,
        order: Index,
        epochs: int,
    ) -> int:
        """Cyclic coordinate descent in a compiled loop; wants a column-major design."""
        from ..kernels.coordinate_descent import dense_epochs

        return int(
            dense_epochs(self.array.T, x, residual, lower, upper, squared_norms, order, epochs)
        )

    def smooth_epochs(
        self, terms: SmoothTerms, x: Array, prediction: Array, residual: Array, epochs: int
    ) -> int:
        """Cyclic coordinate steps in a compiled loop; wants a column-major design."""
        from ..kernels.smooth_descent import dense_epochs

        run = dense_epochs(terms.derivative)
        kept = (x, prediction, residual)
        rows, box = terms.rows, terms.box
        return int(run(self.array.T, *kept, rows, box, terms.rates, terms.order, epochs))

    def sweep_order(self, index: Index) -> Index:
        """Four that are taken together are far apart in memory, which delivers them the faster."""
        return quarters(index) if self.shape[0] > current().long_columns else index

    def sweep(self, asked: Sweep) -> Swept:
        """Over columns read where they are, in a compiled loop."""
        from ..kernels.sweeps import dense_sweep

        return asked.by(dense_sweep, self.array.T, current().long_columns)

    def _blocks(self) -> Iterator[tuple[slice, slice]]:
        """Blocks contiguous in memory, each small enough to stay in cache."""
        m, n = self.shape
        if self._by_columns:
            width = max(1, current().block_elements // max(m, 1))
            for start in range(0, n, width):
                yield slice(None), slice(start, start + width)
        else:
            height = max(1, current().block_elements // max(n, 1))
            for start in range(0, m, height):
                yield slice(start, start + height), slice(None)
