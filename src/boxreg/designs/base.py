"""What an A can do."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from .. import matrix_products
from ..arrays import Array, Index, Matrix
from ..settings import current
from .epochs import Box, Descended, Descent, SmoothTerms, Sweep, Swept
from .survey import Survey


class Design(ABC):
    """The matrix A of a regression, behind the few operations the library needs of it.

    Vectors in and out are float64. Products are accumulated in float64 whatever the dtype of A, so
    that the error of a column product a_jᵀv is at most gamma(terms) ||a_j|| ||v||.
    """

    shape: tuple[int, int]

    terms: int
    """The most terms that any one column product sums."""

    product_cost: float
    """Columns of the original A that one full product touches (for `work`)."""

    nonnegative: bool = False
    """True only if every entry is known to be >= 0."""

    density: float = 1.0
    """The share of entries that are stored."""

    rounding_known: bool = True
    """False where the accuracy of the products is the caller's word only (operators)."""

    has_columns: bool = True
    """Whether single columns can be read: `columns`, `keep`."""

    entries_known: bool = True
    """Whether `columns` are what products are made with: an error of a product is then at most
    gamma(terms) sum_i |a_ij| |v_i|."""

    columns_apart: bool = False
    """Whether reading some columns takes their share of the time of reading all."""

    gram_cost: float = 0.16
    """What a product of two columns costs among many such, where one with a vector costs 1: A is read
    from memory for the latter."""

    has_epochs: bool = True
    """Whether coordinates can be minimised over one by one, where there are columns."""

    has_sweeps: bool = False
    """Whether that costs no more than a product with A each way: `sweep`."""

    descends: bool = False
    """Whether `descend` minimises least squares between bounds in one compiled call."""

    sweeps_as_copy: bool = False
    """Whether it would in `column_major`, a copy no larger than A."""

    def counted(self) -> Design:
        """The same design with the least `terms` that can be told: sums of zeros have no rounding.

        What is proved then does not depend on whether the zeros of A are stored.
        """
        return self

    @property
    def stored(self) -> float:
        """Stored entries of a column, on an average."""
        return max(self.density * self.shape[0], 1.0)

    @abstractmethod
    def matvec(self, x: Array) -> Array:
        """A x."""

    @abstractmethod
    def rmatvec(self, v: Array) -> Array:
        """Aᵀ v."""

    @abstractmethod
    def column_norms(self) -> Array:
        """Euclidean norms of the columns."""

    def weighted_squares(self, weights: Array) -> Array:
        """sum_i ω_i a_ij² for every column, ω >= 0; or an upper bound where entries cannot be seen."""
        return self.column_norms() ** 2 * float(np.max(weights, initial=0.0))

    def rows(self, kept: Index) -> Design:
        """The design made of the chosen rows (a copy)."""
        raise NotImplementedError(f"{type(self).__name__} cannot leave rows out")

    @property
    def nbytes(self) -> int:
        """Memory that A takes, as far as it can be seen."""
        return 0 if self.entries is None else int(self.entries.nbytes)

    @property
    def entries(self) -> Matrix | None:
        """The numbers that are stored, in any arrangement; None where they cannot be seen."""
        return None

    @property
    def smallest(self) -> float | None:
        """The smallest entry (or 0, where there is none); None where they cannot be seen."""
        if self.entries is None:
            return None
        return float(np.min(self.entries)) if self.entries.size else 0.0

    def survey(self, target: Array, box: Box | None = None) -> Survey:
        """What is learnt of A before a run; in one pass where its entries can be seen.

        Given a box that holds 0, this may include a sweep of coordinate descent for least squares
        from there, where it comes with the same pass.
        """
        return Survey(self.column_norms())

    @abstractmethod
    def columns(self, index: Index) -> Array:
        """The chosen columns as a dense, column-major float64 array (a copy)."""

    def by_columns(self) -> Array:
        """All columns, each a row of a float64 array: A itself where it lies like that, or a copy."""
        return self.columns(np.arange(self.shape[1])).T

    def gram(self, rows: Index, columns: Index, weights: Array | None = None) -> Array:
        """The products a_iᵀa_j, i in `rows`, j in `columns`; with weights ω, a_iᵀdiag(ω)a_j."""
        right = self.columns(columns)
        if weights is not None and rows is columns:
            right *= np.sqrt(weights)[:, None]
        if rows is columns:
            return matrix_products.own(right)
        if weights is not None:
            right *= weights[:, None]
        out = np.empty((len(rows), len(columns)))
        for start in range(0, len(rows), current().gram_columns):
            some = slice(start, start + current().gram_columns)
            matrix_products.cross(self.columns(rows[some]), right, out[some])
        return out

    def gram_on_rows(self, rows: Index, columns: Index, weights: Array) -> Array | None:
        """The products of the columns over some rows alone, weighted; weights of any sign.

        None where that takes about as long as over all rows.
        """
        return None

    def weighted_squares_some(self, index: Index, weights: Array) -> Array:
        """sum_i ω_i a_ij² for the chosen columns."""
        return self.keep(index).weighted_squares(weights)

    def correlate_some(self, index: Index, v: Array) -> Array:
        """a_jᵀv for the chosen columns."""
        return matrix_products.correlate(self.columns(index), v)

    def magnitudes(self, index: Index, v: Array) -> tuple[Array, Index]:
        """sum_i |a_ij| v_i, v >= 0, for the chosen columns, and how many of its terms are not 0."""
        sums, counts = np.zeros(len(index)), np.zeros(len(index), dtype=np.intp)
        width = max(1, current().magnitude_elements // max(self.shape[0], 1))
        used = v > 0.0
        for start in range(0, len(index), width):
            some = slice(start, start + width)
            block = np.abs(self.columns(index[some]))
            sums[some] = matrix_products.correlate(block, v)
            counts[some] = np.count_nonzero(block[used], axis=0)
        return sums, counts

    def combine(self, index: Index, weights: Array) -> Array:
        """sum_k weights_k a_index(k), reading those columns only."""
        return matrix_products.combine(self.columns(index), weights)

    @abstractmethod
    def keep(self, index: Index) -> Design:
        """The design made of the chosen columns, in that order."""

    def column_major(self) -> Design:
        """This design in a storage where one column is contiguous (a copy if it is not yet)."""
        return self

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
        """Cyclic exact coordinate minimisation of ½||residual||², in place.

        x and residual = y - A x change together; returns the number of coordinate updates made.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot read single columns")

    def smooth_epochs(
        self, terms: SmoothTerms, x: Array, prediction: Array, residual: Array, epochs: int
    ) -> int:
        """Cyclic coordinate steps x_j + w_j / rate_j for a smooth loss, in place.

        x, prediction = A x and residual = -ω f'(prediction) change together. Returns the number of
        updates made.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot read single columns")

    def sweep_order(self, index: Index) -> Index:
        """These coordinates, sorted, in the order that a sweep had better take them in."""
        return index

    def sweep(self, asked: Sweep) -> Swept:
        """One sweep over coordinates, in place."""
        raise NotImplementedError(f"{type(self).__name__} cannot read single columns")

    def descend(self, asked: Descent) -> Descended:
        """Least squares between bounds from a point on, in place."""
        raise NotImplementedError(f"{type(self).__name__} has no entries to read one by one")
