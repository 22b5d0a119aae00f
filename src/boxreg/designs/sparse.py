"""A sparse A, held as compressed columns."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from ..arrays import Array, Index
from ..in_threads import evenly, in_parts, joined, shares
from ..settings import current
from .base import Design
from .epochs import Box, Descended, Descent, SmoothTerms, Sweep, Swept
from .survey import Survey

_JUMPS = 2
"""A stored entry takes as long as so many of a dense A: where it belongs is looked up."""


class SparseDesign(Design):
    """A CSC matrix with no duplicate entries, in any order; its values are float64."""

    columns_apart = True
    has_sweeps = True
    descends = True

    def __init__(self, matrix: sparse.csc_array, *, nonnegative: bool = False) -> None:
        self.matrix = matrix
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        counts = np.diff(matrix.indptr)
        self.terms = int(counts.max()) if counts.size else 0
        self.product_cost = float(self.shape[1])
        self.nonnegative = nonnegative
        self.density = matrix.nnz / max(self.shape[0] * self.shape[1], 1)

    def matvec(self, x: Array) -> Array:
        """A x."""
        return self.combine(np.flatnonzero(x), x[x != 0.0])

    def rmatvec(self, v: Array) -> Array:
        """Aᵀ v."""
        from ..kernels.csc import correlate

        a = self.matrix
        return joined(
            in_parts(
                lambda i, j: correlate(a.data, a.indices, a.indptr[i : j + 1], v, self.abreast),
                self._edges(),
            )
        )

    @cached_property
    def gram_cost(self) -> float:  # type: ignore[override]
        """Of AᵀA row by row: a row with r entries has r² products."""
        rows = np.bincount(self.matrix.indices, minlength=self.shape[0]).astype(float)
        return float(rows @ rows) / max(self.shape[1] * self.matrix.nnz, 1)

    @cached_property
    def abreast(self) -> bool:
        """Whether products take four columns at a time, a quarter of A apart."""
        if not current().abreast_above < self.shape[0] <= current().abreast_up_to:
            return False
        lengths = np.diff(self.matrix.indptr[: self.shape[1] // 4 * 4 + 1])
        shortest = lengths.reshape(4, -1).min(axis=0)
        return 4 * int(shortest.sum()) >= current().abreast_share * self.matrix.nnz

    def column_norms(self) -> Array:
        """Euclidean norms of the columns."""
        owner = np.repeat(np.arange(self.shape[1]), np.diff(self.matrix.indptr))
        squares = np.bincount(owner, weights=self.matrix.data**2, minlength=self.shape[1])
        return np.sqrt(squares)

    def weighted_squares(self, weights: Array) -> Array:
        """sum_i ω_i a_ij² over the stored entries."""
        from ..kernels.csc import weighted_squares

        a = self.matrix
        return np.asarray(weighted_squares(a.data, a.indices, a.indptr, weights))

    def rows(self, kept: Index) -> SparseDesign:
        """The chosen rows."""
        return SparseDesign(
            sparse.csc_array(self.matrix.tocsr()[kept]), nonnegative=self.nonnegative
        )

    @property
    def entries(self) -> Array:
        """The stored values."""
        return np.asarray(self.matrix.data)

    def survey(self, target: Array, box: Box | None = None) -> Survey:
        """Norms, signs, Aᵀ1 and Aᵀy in one compiled pass over the stored entries."""
        from ..kernels.survey import by_entries

        a = self.matrix
        return Survey.of_columns(
            in_parts(
                lambda i, j: by_entries(
                    a.data, a.indices, a.indptr[i : j + 1], target, self.abreast
                ),
                self._edges(),
            )
        )

    def _edges(self) -> list[int]:
        """Parts of A with as many entries each, one for each thread."""
        starts = self.matrix.indptr
        parts = shares(_JUMPS * int(starts[-1]))
        if parts == 1:
            return [0, self.shape[1]]
        inner = np.searchsorted(starts, evenly(int(starts[-1]), parts)[1:-1])
        return [0, *inner.tolist(), self.shape[1]]

    def columns(self, index: Index) -> Array:
        """The chosen columns, made dense and column-major."""
        return np.asarray(self.matrix[:, index].toarray(order="F"))

    def gram(self, rows: Index, columns: Index, weights: Array | None = None) -> Array:
        """The products of columns, over their stored entries."""
        from ..kernels.csc import gram, own_gram, weighted_gram

        a = self.matrix
        if weights is None and rows is columns:
            return np.asarray(own_gram(a.data, a.indices, a.indptr, self.shape[0], columns))
        if weights is not None:
            return np.asarray(weighted_gram(a.data, a.indices, a.indptr, rows, columns, weights))
        return np.asarray(gram(a.data, a.indices, a.indptr, self.shape[0], rows, columns))

    def correlate_some(self, index: Index, v: Array) -> Array:
        """a_jᵀv for the chosen columns, over their stored entries."""
        from ..kernels.csc import correlate_some

        a = self.matrix
        return np.asarray(correlate_some(a.data, a.indices, a.indptr, index, v, self.abreast))

    def magnitudes(self, index: Index, v: Array) -> tuple[Array, Index]:
        """sum_i |a_ij| v_i, v >= 0, for the chosen columns, and how many of its terms are not 0."""
        some = self.matrix[:, index]
        sizes, stored = some.copy(), some.copy()
        sizes.data = np.abs(some.data)
        stored.data = (some.data != 0.0).astype(float)
        counts = (stored.T @ (v > 0.0).astype(float)).astype(np.intp)
        return np.asarray(sizes.T @ v), np.asarray(counts)

    def combine(self, index: Index, weights: Array) -> Array:
        """A sum of columns, over their stored entries."""
        from ..kernels.csc import combine

        a = self.matrix
        return np.asarray(combine(a.data, a.indices, a.indptr, self.shape[0], index, weights))

    def keep(self, index: Index) -> SparseDesign:
        """The chosen columns as a new CSC matrix."""
        return SparseDesign(self.matrix[:, index], nonnegative=self.nonnegative)

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
        """Cyclic coordinate descent over the stored entries, in a compiled loop."""
        from ..kernels.coordinate_descent import csc_epochs

        a = self.matrix
        return int(
            csc_epochs(
                (a.data, a.indices, a.indptr),
                x,
                residual,
                lower,
                upper,
                squared_norms,
                order,
                epochs,
            )
        )

    def smooth_epochs(
        self, terms: SmoothTerms, x: Array, prediction: Array, residual: Array, epochs: int
    ) -> int:
        """Cyclic coordinate steps over the stored entries, in a compiled loop."""
        from ..kernels.smooth_descent import csc_epochs

        a = self.matrix
        run = csc_epochs(terms.derivative)
        csc, kept = (a.data, a.indices, a.indptr), (x, prediction, residual)
        return int(run(csc, *kept, terms.rows, terms.box, terms.rates, terms.order, epochs))

    def sweep(self, asked: Sweep) -> Swept:
        """Over the stored entries, in a compiled loop."""
        from ..kernels.sweeps import csc_sweep

        a = self.matrix
        return asked.by(csc_sweep, (a.data, a.indices, a.indptr))

    def descend(self, asked: Descent) -> Descended:
        """Over the stored entries, in a compiled loop."""
        from ..kernels.sparse_descent import descend

        a, held = self.matrix, current()
        data = a.data if asked.root is None else a.data * asked.root[a.indices]
        size = float(max(a.nnz, 1))
        limits = (
            asked.products * size,
            held.descent_sweeps,
            held.descent_fast,
            held.descent_settled,
        )
        met, read = descend(
            *((data, a.indices, a.indptr), asked.x, asked.residual, (asked.lower, asked.upper)),
            *(asked.cost, asked.gap, limits),
        )
        return Descended(bool(met), read / size)

    def beside(self, more: sparse.csc_array) -> SparseDesign:
        """With the columns of another matrix to the right of its own."""
        return SparseDesign(sparse.csc_array(sparse.hstack([self.matrix, more], format="csc")))

    def above(self, below: sparse.csc_array) -> SparseDesign:
        """With the rows of another matrix under its own."""
        return SparseDesign(sparse.csc_array(sparse.vstack([self.matrix, below], format="csc")))
