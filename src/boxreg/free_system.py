"""Linear systems with a principal block of G, for blocks that change a little at a time."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf, dtrtrs

from .arrays import Array, Index, Mask
from .matrix_products import combine, correlate, cross, own, subtract
from .settings import current

_DISTINCT = 1e-7
"""A column of which no more than this lies outside the span of the others counts as dependent: the
limit of what a Gram matrix can tell, √eps and a margin."""

_SOUND = 1e-3
"""Systems are bordered only where every column has this share of its own: a subset of an
ill-conditioned base may be well-conditioned, and deserves a factor of its own."""

_FACTORING, _PIVOTED = 0.05, 0.15
"""What a multiplication of a Cholesky factor takes, if one of a product with A takes 1; the latter with
pivoting."""

_LASTING = 0.03
"""A factor outlives its matrix only where every column has this share of its own: what comes of it is
the more accurate the larger the share, and a later matrix may deserve better."""


class FreeSystem:
    """Solves G_FF x = p for a sequence of sets F.

    Keeps the Cholesky factor G_BB = L Lᵀ of a base set B. F = (B ∖ R) ∪ N with few changes takes as
    many triangular solves, where a new factor takes |F| / 3 of them. With

        z = L⁻¹p_B,   V = L⁻¹G_BN,   Π = 1 - U (UᵀU)⁻¹Uᵀ,   U = L⁻¹E_R,   E_R columns of the identity,

    the equations x_R = 0 project by Π, and x_N comes from its Schur complement:

        (G_NN - VᵀΠV) x_N = p_N - VᵀΠz,      x_B = L⁻ᵀ Π (z - V x_N).

    Rows R of G_BN and p change V and z by columns of U only, which Π takes away: members of B may
    leave G altogether.
    """

    def __init__(self, gram: Array | None = None) -> None:
        self.gram = np.zeros((0, 0)) if gram is None else gram
        self._scale = np.sqrt(np.diagonal(self.gram))
        self._base: Index = np.zeros(0, dtype=np.intp)  # -1: no longer in G
        self._factor: Array = np.zeros((0, 0))
        self._own = 0.0  # the least share of a column of B outside the span of those before it
        self.sound = True
        """Whether the last system showed no sign of nearly dependent columns."""
        self.spent = 0.0
        """What all solutions took, in multiplications of a product with A."""

    def grown(self, gram: Array) -> FreeSystem:
        """The system of a matrix that has the present one as its leading block."""
        return self._changed(gram, len(gram) - len(self.gram))

    def kept(self, index: Index) -> FreeSystem:
        """The system of the chosen coordinates, in ascending order."""
        if len(index) == len(self.gram):
            return self
        if not len(index):
            return FreeSystem()
        system = self._changed(self.gram[np.ix_(index, index)], len(self.gram) - len(index))
        place = np.full(len(self.gram) + 1, -1, dtype=np.intp)
        place[index] = np.arange(len(index))
        system._base = place[system._base]
        return system

    def _changed(self, gram: Array, changes: int) -> FreeSystem:
        """The system of another matrix, with the same factor unless that is of no use any more.

        Most of what enters a matrix is free at first, and most of what leaves it was.
        """
        system = FreeSystem(gram)
        if self._own > _LASTING and self._few(changes):
            system._base, system._factor, system._own = self._base, self._factor, self._own
        return system

    def solve(self, free: Mask, pull: Array) -> tuple[Array, Index]:
        """x over all coordinates, 0 outside F, and the members of F left out as dependent."""
        from .kernels.exchanges import solve_small

        x = np.zeros(len(pull))
        self.spent += 2.0 * len(pull) ** 2  # two more products with G in every round of pivoting
        if np.count_nonzero(free) <= current().small_system:
            least = solve_small(self.gram, free, pull, x)
            if least > _DISTINCT:
                self.sound = least > _SOUND
                return x, np.zeros(0, dtype=np.intp)
        outside = np.append(free, False)
        left = np.flatnonzero(~outside[self._base])
        outside[self._base] = False
        entered = np.flatnonzero(outside[:-1])
        few = self._few(len(entered) + len(left))
        if self._own > _SOUND and few and self._bordered(x, entered, left, pull):
            return x, np.zeros(0, dtype=np.intp)
        dependent = self._rebuild(np.flatnonzero(free))
        base = self._base
        self.sound = self._own > _SOUND or not len(base)
        if len(base):
            x[base] = dpotrs(self._factor, pull[base], lower=1)[0]
        return x, dependent

    def _few(self, changes: int) -> bool:
        share = current().bordered_share * len(self._base)
        return changes <= max(current().bordered_changes, share)

    def _rebuild(self, free: Index) -> Index:
        """Factor anew; returns what had to be left out."""
        self._own, self._factor = 0.0, np.zeros((0, 0))  # room for the next one
        if not len(free):
            self._base = free
            return free
        self.spent += _FACTORING * len(free) ** 3 / 3.0
        block = self._block(free).T  # symmetric: its transpose is column-major
        factor, info = dpotrf(block, lower=1, clean=0, overwrite_a=1)
        if info == 0 and np.all(np.diagonal(factor) > _DISTINCT * self._scale[free]):
            self._base, self._factor = free, factor
            self._own = float(np.min(np.diagonal(factor) / self._scale[free]))
            return np.zeros(0, dtype=np.intp)
        self.spent += _PIVOTED * len(free) ** 3 / 3.0
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
        """Solve through the factor at hand; False where that would not be accurate.

        `left` counts within the base, `entered` within G.
        """
        base, factor, count = self._base, self._factor, len(entered)
        border = np.zeros((len(base), count + 1 + len(left)), order="F")
        border[:, :count] = self.gram[np.ix_(base, entered)]
        border[:, count] = pull[base]
        border[base < 0] = 0.0  # Π takes it away, the better the smaller it is
        border[left, count + 1 + np.arange(len(left))] = 1.0
        border = dtrtrs(factor, border, lower=1, overwrite_b=1)[0]
        known, gone = border[:, : count + 1], border[:, count + 1 :]
        if len(left):
            squares, failed = dpotrf(own(gone).T, lower=1, overwrite_a=1)
            if failed:
                return False
            subtract(known, gone, dpotrs(squares, cross(known, gone).T, lower=1)[0])
        v, z = known[:, :count], known[:, count]
        if count:
            schur, failed = dpotrf(self.gram[np.ix_(entered, entered)] - own(v), lower=1)
            if failed or np.any(np.diagonal(schur) <= _DISTINCT * self._scale[entered]):
                return False
            x[entered] = dpotrs(schur, pull[entered] - correlate(v, z), lower=1)[0]
            z -= combine(v, x[entered])
        values = dtrtrs(factor, z, lower=1, trans=1)[0]
        values[left] = 0.0
        x[base[base >= 0]] = values[base >= 0]
        return True
