"""Linear systems with a principal block of G, for blocks that change a little at a time."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf, dtrtrs

from .arrays import Array, Index, Mask

_DISTINCT = 1e-7
"""A column of which no more than this lies outside the span of the others counts as dependent: the
limit of what a Gram matrix can tell, √eps and a margin."""

_SOUND = 1e-3
"""Systems are bordered only where every column has this share of its own: a subset of an
ill-conditioned base may be well-conditioned, and deserves a factor of its own."""

_FEW = 8
_SHARE = 0.125
"""Changes up to this many, or up to this share of the block, are bordered instead of factored anew."""


class FreeSystem:
    """Solves G_FF x = p for a sequence of sets F.

    Keeps the Cholesky factor G_BB = L Lᵀ of a base set B. For F = (B ∖ R) ∪ N with few changes, the
    system is that of B bordered by the columns N that entered and, for those R that left, by the
    equations x_R = 0:

        [G_BB  K] [x]   [p_B]        K = [G_BN, E_R],
        [Kᵀ    C] [t] = [p_N; 0],    C = [[G_NN, 0], [0, 0]],

    solved through the Schur complement C - VᵀV, V = L⁻¹K: |N| + |R| triangular solves, where a new
    factor takes |F| / 3 of them.
    """

    def __init__(self, gram: Array) -> None:
        self.gram = gram
        self._scale = np.sqrt(np.diagonal(gram))
        self._base: Index = np.zeros(0, dtype=np.intp)
        self._factor: Array = np.zeros((0, 0))
        self._sound = False

    @property
    def sound(self) -> bool:
        """Whether the last factor shows no sign of nearly dependent columns."""
        return self._sound or not len(self._base)

    def solve(self, free: Mask, pull: Array) -> tuple[Array, Index]:
        """x over all coordinates, 0 outside F, and the members of F left out as dependent."""
        x = np.zeros(len(pull))
        inside = np.zeros(len(pull), dtype=bool)
        inside[self._base] = True
        entered, left = np.flatnonzero(free & ~inside), np.flatnonzero(inside & ~free)
        few = len(entered) + len(left) <= max(_FEW, _SHARE * len(self._base))
        if self._sound and few and self._bordered(x, entered, left, pull):
            return x, np.zeros(0, dtype=np.intp)
        dependent = self._rebuild(np.flatnonzero(free))
        base = self._base
        if len(base):
            x[base] = dpotrs(self._factor, pull[base], lower=1)[0]
        return x, dependent

    def _rebuild(self, free: Index) -> Index:
        """Factor anew; returns what had to be left out."""
        self._sound = False
        if not len(free):
            self._base = free
            return free
        block = self._block(free).T  # symmetric: its transpose is column-major
        factor, info = dpotrf(block, lower=1, clean=0, overwrite_a=1)
        if info == 0 and np.all(np.diagonal(factor) > _DISTINCT * self._scale[free]):
            self._base, self._factor = free, factor
            self._sound = bool(np.all(np.diagonal(factor) > _SOUND * self._scale[free]))
            return np.zeros(0, dtype=np.intp)
        scale = np.where(self._scale[free] > 0.0, self._scale[free], 1.0)
        block = self._block(free) / np.outer(scale, scale)
        _, order, rank, _ = dpstrf(block, tol=_DISTINCT**2, lower=1)
        order = order - 1
        kept = np.sort(free[order[:rank]])
        self._factor, info = dpotrf(self._block(kept).T, lower=1, clean=0, overwrite_a=1)
        self._base = kept
        return np.sort(free[order[rank:]])

    def _block(self, index: Index) -> Array:
        """G over the coordinates given, as a copy."""
        if len(index) == len(self.gram):
            return self.gram.copy()
        return self.gram[np.ix_(index, index)]

    def _bordered(self, x: Array, entered: Index, left: Index, pull: Array) -> bool:
        """Solve through the factor at hand; False where that would not be accurate."""
        base, factor = self._base, self._factor
        z = dtrtrs(factor, pull[base], lower=1)[0]
        if len(entered) or len(left):
            count = len(entered)
            border = np.zeros((len(base), count + len(left)), order="F")
            border[:, :count] = self.gram[np.ix_(base, entered)]
            border[np.searchsorted(base, left), count + np.arange(len(left))] = 1.0
            v = dtrtrs(factor, border, lower=1, overwrite_b=1)[0]
            schur = -(v.T @ v)
            schur[:count, :count] += self.gram[np.ix_(entered, entered)]
            if not _independent(schur[:count, :count], self._scale[entered]):
                return False
            side = np.concatenate([pull[entered], np.zeros(len(left))]) - v.T @ z
            t = np.linalg.solve(schur, side)
            z = z - v @ t
            x[entered] = t[:count]
        x[base] = dtrtrs(factor, z, lower=1, trans=1)[0]
        x[left] = 0.0
        return True


def _independent(schur: Array, scale: Array) -> bool:
    """Whether enough of every entering column lies outside the span of those before it."""
    if not len(scale):
        return True
    factor, info = dpotrf(schur, lower=1)
    return info == 0 and bool(np.all(np.diagonal(factor) > _DISTINCT * scale))
