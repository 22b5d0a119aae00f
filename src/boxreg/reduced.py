"""The problem that is left when some coordinates are proved to sit at a bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .arrays import Array, Index, Mask
from .designs.base import Design
from .losses.base import Loss
from .rounding import SLACK, dot, gamma, norm
from .work import WorkMeter

_WORTH_GATHERING = 256
"""With fewer columns than this a plain product is as fast as picking some out."""


@dataclass(frozen=True)
class ReducedProblem:
    """minimise F(A_S x_S + z) subject to lower_S <= x_S <= upper_S.

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

    @cached_property
    def open(self) -> Mask:
        """Coordinates not fixed yet."""
        return self.lower < self.upper

    @cached_property
    def unbounded(self) -> Mask:
        """Coordinates with no upper bound: those that constrain the dual point."""
        return np.isposinf(self.upper)

    def predict(self, x: Array) -> Array:
        """A_S x + z; only the columns in the support of x are read where they are few."""
        if not x.any():
            return self.offset
        if self.design.has_columns and len(x) >= _WORTH_GATHERING:
            support = np.flatnonzero(x)
            if 8 * len(support) < len(x):
                self.work.add(len(support))
                return self.design.combine(support, x[support]) + self.offset
        self.work.add(self.design.product_cost)
        return self.design.matvec(x) + self.offset

    def prediction_error(self, x: Array) -> float:
        """Bound on the rounding error of `predict(x)`, in norm: gamma sum_j |x_j| ||a_j||."""
        size = dot(np.abs(x), self.norms) + norm(self.offset)
        return gamma(int(np.count_nonzero(x)) + 2) * size * SLACK + self.offset_error

    def correlate(self, v: Array) -> Array:
        """A_Sᵀ v."""
        self.work.add(self.design.product_cost)
        return self.design.rmatvec(v)

    def correlation_error(self, size: float) -> float:
        """A number k such that entry j of `correlate(v)`, ||v|| = size, is off by k ||a_j|| at most."""
        return gamma(self.design.terms + 2) * size * SLACK

    def fix(self, at_lower: Mask, at_upper: Mask) -> ReducedProblem:
        """Collapse the bounds of coordinates proved to sit at one of them."""
        return replace(
            self,
            lower=np.where(at_upper, self.upper, self.lower),
            upper=np.where(at_lower, self.lower, self.upper),
        )

    def keep(self, kept: Index) -> ReducedProblem:
        """Drop every column but `kept`; those dropped must be fixed."""
        dropped = np.setdiff1d(np.arange(len(self.lower)), kept, assume_unique=True)
        offset, error = self.offset, self.offset_error
        nonzero = dropped[self.lower[dropped] != 0.0]
        if len(nonzero):
            values = self.lower[nonzero]
            offset = offset + self.design.combine(nonzero, values)
            self.work.add(len(nonzero))
            size = float(np.abs(values) @ self.norms[nonzero]) + norm(offset)
            error += gamma(len(nonzero) + 2) * size
        return replace(
            self,
            design=self.design.keep(kept),
            lower=self.lower[kept],
            upper=self.upper[kept],
            norms=self.norms[kept],
            index=self.index[kept],
            offset=offset,
            offset_error=error,
        )
