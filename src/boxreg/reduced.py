"""The problem that is left when some coordinates are proved to sit at a bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .arrays import Array, Index, Mask
from .budget import Budget
from .designs.base import Design
from .designs.view import ColumnView
from .equality_columns import EqualityColumns
from .linear_cost import LinearCost
from .losses.base import Loss
from .rounding import LEAST, SLACK, TINY, UNDERFLOW, UNIT_ROUNDOFF, dot, gamma, norm
from .settings import current
from .smoothness import Smoothness
from .work import WorkMeter

_LEAST_BUDGET = 3e8
"""Multiplications that an inner search may make in any case, however short the run was so far: a few
tenths of a second."""


@dataclass(frozen=True)
class ReducedProblem:
    """minimise F(A_S x_S + z) + c_Sᵀx_S + constant subject to lower_S <= x_S <= upper_S.

    S are the columns held. A coordinate is fixed by collapsing its bounds (lower = upper), which
    every solver and every bound respects without knowing of screening; `keep` later drops the fixed
    columns, moving their part of the prediction into the offset z.
    """

    design: Design
    target: Array
    loss: Loss
    lower: Array
    upper: Array
    norms: Array
    """Column norms of the held columns."""
    index: Index
    """Original positions of the held columns."""
    offset: Array
    """z, the prediction of the columns dropped so far."""
    offset_error: float
    """Bound on the rounding error of z, in norm."""
    work: WorkMeter
    smoothness: Smoothness
    cost: LinearCost | None = None
    constant: float = 0.0
    offset_terms: int = 0
    """How many terms were summed for an entry of z."""
    equality: EqualityColumns | None = None
    """The columns of which w_j = 0 is asked of a dual point; None where there are none."""
    first_own_row: int | None = None
    """Where the rows of a ridge term begin, if there is one with a row for each original column."""

    @cached_property
    def open(self) -> Mask:
        """Coordinates not fixed yet."""
        return self.lower < self.upper

    @cached_property
    def open_count(self) -> int:
        """How many are not."""
        return int(np.count_nonzero(self.open))

    @cached_property
    def no_upper(self) -> Mask:
        """Coordinates with no upper bound: w_j <= 0."""
        return np.asarray(self.upper == np.inf)

    @cached_property
    def no_lower(self) -> Mask:
        """Coordinates with no lower bound: w_j >= 0."""
        return np.asarray(self.lower == -np.inf)

    @cached_property
    def free(self) -> Mask:
        """Coordinates with no bound at all: w_j = 0."""
        return self.no_upper & self.no_lower

    @cached_property
    def some_unbounded(self) -> bool:
        """Whether a bound is missing."""
        return bool(self.no_upper.any() or self.no_lower.any())

    @cached_property
    def dual_domain(self) -> tuple[Array, Array] | None:
        """The ends of the domain of f*, for -theta, row by row; None where all are infinite."""
        if self.loss.quadratic:
            return None
        low, high = self.loss.dual_domain(self.target)
        return (low, high) if np.any(np.isfinite(low) | np.isfinite(high)) else None

    def at_domain_end(self, theta: Array) -> Mask | None:
        """Rows in which -theta is at an end of the domain of f*, or beyond; None where no row is."""
        if self.dual_domain is None:
            return None
        low, high = self.dual_domain
        there = (-theta <= low) | (-theta >= high)
        return there if there.any() else None

    @cached_property
    def equal(self) -> Mask:
        """Coordinates of which w_j = 0 is asked: the free ones, and implicit equalities."""
        mask = np.zeros(len(self.lower), dtype=bool)
        if self.equality is not None:
            mask[self.equality.index] = True
        return mask

    @cached_property
    def side(self) -> Array:
        """1 where w_j <= 0 is asked of a dual point, -1 where w_j >= 0 is; 0 elsewhere."""
        above, below = self.no_upper & ~self.equal, self.no_lower & ~self.equal
        return 1.0 * above - 1.0 * below

    @cached_property
    def constrained(self) -> Mask:
        """Coordinates of which a sign of w_j is asked: those with one bound, but for equalities."""
        return np.asarray((self.no_upper != self.no_lower) & ~self.equal)

    def with_equalities(self, implicit: Mask | None = None) -> ReducedProblem:
        """The problem with w_j = 0 asked of dual points for free and for the `implicit` coordinates.

        Asking more of dual points than their feasibility does is always safe: the bounds they prove
        stay bounds.
        """
        mask = self.free if implicit is None else self.free | self.equal | implicit
        index = np.flatnonzero(mask & self.open)
        if not len(index):
            return self
        costs = None if self.cost is None else self.cost.c[index]
        exact = self.cost is None or self.cost.unit == 0.0
        return replace(self, equality=EqualityColumns(self.design, index, costs, exact))

    @cached_property
    def reach(self) -> Array:
        """√(sum_i L_i a_ij²): how far a_jᵀtheta can be from a_jᵀtheta* when the gap is ½."""
        return self.reach_under(self.smoothness)

    def reach_under(self, smoothness: Smoothness) -> Array:
        """The same with other constants; +inf where a column meets a row without one."""
        if smoothness.rows is None:
            return self.norms * float(np.sqrt(smoothness.largest))
        self.work.add(self.design.product_cost)
        finite = np.isfinite(smoothness.rows)
        squares = self.design.weighted_squares(np.where(finite, smoothness.rows, 0.0))
        if not finite.all():
            meets = self.design.weighted_squares(1.0 * ~finite) > 0.0
            squares = np.where(meets, np.inf, squares)
        return np.sqrt(squares) * SLACK

    def predict(self, x: Array) -> Array:
        """A_S x + z; only the columns in the support of x are read where they are few."""
        if not x.any():
            return self.offset
        if self.design.has_columns and len(x) >= current().gathering_from:
            support = np.flatnonzero(x)
            apart = self.design.columns_apart
            share = current().apart_share if apart else current().gathered_share
            if len(support) < share * len(x):
                self.work.add(len(support))
                return self.design.combine(support, x[support]) + self.offset
        self.work.add(self.design.product_cost)
        image = self.design.matvec(x)
        return image + self.offset if self.offset_size else image

    def prediction_error(self, x: Array) -> float:
        """Bound on the rounding error of `predict(x)`, in norm: gamma sum_j |x_j| ||a_j||.

        0 only where every product is; errors of those that underflow are left to those who square it.
        """
        size, count = dot(np.abs(x), self.norms) + self.offset_size, int(np.count_nonzero(x))
        least = LEAST if np.any((x != 0.0) & (self.norms > 0.0)) else 0.0
        return max(gamma(count + 2) * size * SLACK, least) + self.offset_error

    @cached_property
    def offset_size(self) -> float:
        """||z||."""
        return norm(self.offset) if self.offset.any() else 0.0

    def correlate(self, v: Array) -> Array:
        """A_Sᵀ v."""
        self.work.add(self.design.product_cost)
        return self.design.rmatvec(v)

    def slopes(self, theta: Array) -> Array:
        """w = A_Sᵀ theta - c."""
        product = self.correlate(theta)
        return product if self.cost is None else product - self.cost.c

    def slopes_of(self, index: Index, theta: Array) -> Array:
        """w_j for the chosen coordinates."""
        self.work.add(len(index))
        product = self.design.correlate_some(index, theta)
        return product if self.cost is None else product - self.cost.c[index]

    def hessian(self, rows: Index, columns: Index, curvature: Array | None = None) -> Array:
        """A_rowsᵀ diag(h) A_columns: a block of the second derivative of P; h = L unless given."""
        self.work.add(len(rows) * len(columns))
        if curvature is not None:
            return self.design.gram(rows, columns, curvature)
        if min(len(rows), len(columns)) > current().small_system:  # BLAS is at its best
            self.work.charge((self.design.gram_cost - 1.0) * len(rows) * len(columns))
        block = self.design.gram(rows, columns, self.smoothness.rows)
        uniform = self.smoothness.rows is None and self.smoothness.largest != 1.0
        return block * self.smoothness.largest if uniform else block

    def hessian_change(self, index: Index, change: Array) -> Array | None:
        """A_indexᵀ diag(change) A_index where the change is 0 in most rows; None where it is not."""
        rows = np.flatnonzero(change)
        block = self.design.gram_on_rows(rows, index, change[rows])
        if block is not None:
            self.work.add(len(index) ** 2 * len(rows) / max(len(change), 1))
        return block

    @property
    def own_rows(self) -> Index | None:
        """The rows in which the held columns alone have an entry, a 1; None where there is no ridge."""
        return None if self.first_own_row is None else self.first_own_row + self.index

    @property
    def cost_drift(self) -> float:
        """A number k such that the cost adds at most k · size_j to the error of w_j."""
        return 0.0 if self.cost is None else self.cost.unit + 2.0 * UNIT_ROUNDOFF

    def uncertainty(self, error: float, drift: float) -> Array:
        """error ||a_j|| + drift size_j: how far w_j may be from the truth.

        With an error so small that this may underflow, the products underflow too: `TINY` covers both.
        """
        doubt = error * self.norms
        if 0.0 < error < UNDERFLOW:
            doubt = doubt + TINY * (self.norms > 0.0)
        return doubt if self.cost is None else doubt + drift * self.cost.size

    def linear(self, x: Array) -> float:
        """cᵀx + constant."""
        return self.constant if self.cost is None else dot(self.cost.c, x) + self.constant

    def correlation_error(self, size: float) -> float:
        """A number k such that entry j of `correlate(v)`, ||v|| = size, is off by k ||a_j|| at most."""
        return gamma(self.design.terms + 2) * size * SLACK

    def entry_errors(self, index: Index, theta: Array, drift: float) -> Array:
        """Bounds on the errors of `slopes_of(index, theta)`: gamma sum_i |a_ij theta_i|, and underflow.

        0 where no product of two entries is other than 0, but for what `drift` says of a cost.
        """
        self.work.add(len(index))
        sums, counts = self.design.magnitudes(index, np.abs(theta))
        terms = self.design.terms + 2
        doubt = gamma(terms) * sums * SLACK + (counts > 0) * (terms + 4) * LEAST
        return doubt if self.cost is None else doubt + drift * self.cost.size[index]

    def fix(self, at_lower: Mask, at_upper: Mask) -> ReducedProblem:
        """Collapse the bounds of coordinates proved to sit at one of them."""
        equality = self.equality
        return replace(
            self,
            lower=np.where(at_upper, self.upper, self.lower),
            upper=np.where(at_lower, self.lower, self.upper),
            equality=None if equality is None else equality.without(at_lower | at_upper),
        )

    def budget(self, share: float) -> Budget:
        """For an inner search: `share` times the run so far, or a fraction of a second's arithmetic if
        that is more."""
        return self.work.budget(share, _LEAST_BUDGET / max(len(self.target), 1))

    def keep(self, kept: Index, *, copy: bool = True) -> ReducedProblem:
        """Drop every column but `kept`; those dropped must be fixed. Without a copy the others are read
        where they are."""
        drop = np.ones(len(self.lower), dtype=bool)
        drop[kept] = False
        dropped = np.flatnonzero(drop)
        offset, error = self.offset, self.offset_error
        nonzero = dropped[self.lower[dropped] != 0.0]
        if len(nonzero):
            values = self.lower[nonzero]
            offset = offset + self.design.combine(nonzero, values)
            self.work.add(len(nonzero))
            size = dot(np.abs(values), self.norms[nonzero]) + norm(offset)
            error += gamma(len(nonzero) + 2) * size
        constant = self.constant
        cost = self.cost
        if cost is not None:
            constant += dot(cost.c[nonzero], self.lower[nonzero])
            cost = cost.kept(kept)
        return replace(
            self,
            cost=cost,
            constant=constant,
            design=self.design.keep(kept) if copy else ColumnView(self.design, kept),
            lower=self.lower[kept],
            upper=self.upper[kept],
            norms=self.norms[kept],
            index=self.index[kept],
            equality=None if self.equality is None else self.equality.renumbered(kept),
            offset=offset,
            offset_error=error,
            offset_terms=self.offset_terms + (len(nonzero) + 2 if len(nonzero) else 0),
        )
