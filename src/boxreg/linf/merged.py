"""The problem that is left when some coordinates are proved to be at ± the level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Index, Mask
from ..presolve import unreduced
from ..problem import Problem
from ..reduced import ReducedProblem
from ..rounding import SLACK, UNIT_ROUNDOFF, gamma, norm
from ..work import WorkMeter


@dataclass(frozen=True)
class Merged:
    """minimise ½||y - A_S x_S - c s||² + λ c over x and c >= 0 subject to |x_S| <= c.

    S are the columns held; s = sum of sign_j a_j over the squeezed columns that are not held any
    more: they share one coefficient, the level c. A held coordinate that is squeezed has the one value
    sign_j c. At a fixed level this is a box-constrained problem like any other.
    """

    whole: ReducedProblem
    """The held columns, with y, norms and work; its bounds and offset are those of level 0."""
    penalty: float
    signs: npt.NDArray[np.int8]
    """Signs of the squeezed coordinates among those held; 0 elsewhere."""
    column: Array
    """The merged column s."""
    column_error: float
    """Bound on the rounding error of s, in norm."""

    @classmethod
    def of(cls, problem: Problem, penalty: float, work: WorkMeter) -> Merged:
        """Nothing squeezed yet."""
        m, n = problem.design.shape
        whole = unreduced(problem, work)
        return cls(whole, penalty, np.zeros(n, dtype=np.int8), np.zeros(m), 0.0)

    @property
    def inert(self) -> Mask:
        """Zero columns: x_j = 0 will do."""
        return np.asarray(self.whole.norms == 0.0)

    def at(self, level: float) -> ReducedProblem:
        """The box-constrained problem at a level."""
        fixed = (self.signs != 0) | self.inert
        offset = level * self.column
        return replace(
            self.whole,
            lower=level * np.where(fixed, self.signs, -1.0),
            upper=level * np.where(fixed, self.signs, 1.0),
            offset=offset,
            offset_error=(level * self.column_error + UNIT_ROUNDOFF * norm(offset)) * SLACK,
        )

    def squeeze(self, negative: Mask, positive: Mask) -> Merged:
        """Note coordinates proved to be at minus or plus the level."""
        signs = self.signs + positive.astype(np.int8) - negative.astype(np.int8)
        return replace(self, signs=signs)

    def keep(self, kept: Index) -> Merged:
        """Hold only the columns `kept`; the others, all squeezed or zero, move into s."""
        left = np.ones(len(self.signs), dtype=bool)
        left[kept] = False
        moved = np.flatnonzero(left & (self.signs != 0))
        column, error = self.column, self.column_error
        if len(moved):
            signs = np.zeros(len(left))
            signs[moved] = self.signs[moved]
            column = column + self.whole.design.matvec(signs)  # they are many: no copy of them
            self.whole.work.add(self.whole.design.product_cost)
            size = float(self.whole.norms[moved].sum()) + norm(column)
            error += gamma(len(moved) + 2) * size * SLACK
        whole = replace(
            self.whole,
            design=self.whole.design.keep(kept),
            lower=self.whole.lower[kept],
            upper=self.whole.upper[kept],
            norms=self.whole.norms[kept],
            index=self.whole.index[kept],
        )
        return Merged(whole, self.penalty, self.signs[kept], column, error)
