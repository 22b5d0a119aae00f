"""AᵀHA d = w by conjugate gradients, without AᵀHA."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Index, Mask
from .designs import Design
from .designs.epochs import Sweep, SweepTerms
from .rounding import dot

_ROUGHLY = 0.03
"""The share of the slope left while coordinates still come to their bounds."""

_PATIENCE = 40
"""Steps in which conjugate gradients are expected to gain a digit."""


def normal_equations(
    design: Design, h: Array, limit: int, diagonal: Array | None = None
) -> NormalEquations:
    """G = AᵀHA for H = diag(h), with as many products as `limit` to spend; its diagonal if known."""
    # Columns >= 0 that share rows are far from orthogonal: sweeps would make the system worse.
    kind = _SweptEquations if design.has_sweeps and not design.nonnegative else NormalEquations
    return kind(design, h, limit, diagonal)


class NormalEquations:
    """G d = w, G = AᵀHA, never formed; D its diagonal.

    Conjugate gradients on the free coordinates are those for D⁻¹G in the inner product of D.
    """

    def __init__(self, design: Design, h: Array, limit: int, diagonal: Array | None) -> None:
        self._design, self._h = design, h
        self.left = limit
        """Products with G that may still be made."""
        self.slow = False
        """Conjugate gradients have been given up: G is too ill-conditioned."""
        self.products = 0
        known = design.weighted_squares(h) if diagonal is None else diagonal
        self.diagonal = np.maximum(known, np.finfo(float).tiny)
        self._traces = design.shape[1]

    def times(self, d: Array) -> Array:
        """G d."""
        self._count()
        return np.asarray(self._design.rmatvec(self._h * self._design.matvec(d)))

    def conjugate_gradients(
        self, slope: Array, free: Mask, share: float, box: tuple[Array, Array]
    ) -> tuple[Array, Array]:
        """d on the free coordinates that leaves about that share of the slope, and its traces.

        Or more, if d leaves the box or another coordinate wants to move: that is looked at
        whenever a digit or two are gained.
        """
        diagonal, used, held = self.diagonal, np.flatnonzero(free), np.flatnonzero(~free)
        d, traces = np.zeros_like(slope), np.zeros(self._traces)
        left = self._first(np.where(free, slope, 0.0), used)
        search, size = left, dot(diagonal, left**2)
        steps, since, large, look = 0, 0, size, _ROUGHLY**2 * size
        goal = share**2 * size
        while self.left > 0 and size > goal:
            if size <= look:
                if np.any((d < box[0]) | (d > box[1])):
                    break
                ahead = slope[held] - self.image(traces, held)
                if np.any(np.where(ahead > 0.0, box[1][held] > 0.0, box[0][held] < 0.0)):
                    break
                look *= _ROUGHLY**2
            if steps - since >= _PATIENCE:
                if size > 0.01 * large:
                    self.slow = True
                    break
                since, large = steps, size
            steps += 1
            step, trace, turned = self._turned(search, used)
            bend = dot(diagonal * search, turned)
            if not bend > 0.0:
                self.slow = True
                break
            length = size / bend
            d, traces = d + length * step, traces + length * trace
            left = left - length * turned
            size, before = dot(diagonal, left**2), size
            search = left + (size / before) * search
        return d, traces

    def _first(self, slope: Array, free: Index) -> Array:
        """The preconditioned slope."""
        return slope / self.diagonal

    def _turned(self, search: Array, free: Index) -> tuple[Array, Array, Array]:
        """The step that a direction stands for, what G times the step follows from, and the
        preconditioned matrix times the direction."""
        image = self.times(search)
        turned = np.zeros_like(search)
        turned[free] = image[free] / self.diagonal[free]
        return search, image, turned

    def image(self, traces: Array, some: Index | None = None) -> Array:
        """G d, or some of its entries."""
        return traces if some is None else traces[some]

    def _count(self) -> None:
        self.products += 1
        self.left -= 1


class _SweptEquations(NormalEquations):
    """With the preconditioner (L + D) D⁻¹ (D + U), where G = L + D + U on the free coordinates.

    Its matrix is (L + D)⁻¹ G (D + U)⁻¹ D, and as G = (L + D) + (D + U) - D, a product with that takes
    two sweeps over A, one backwards and one forwards, and none with G (Eisenstat, 1981):

        t = (D + U)⁻¹ D p,   (L + D)⁻¹ G t = t + (L + D)⁻¹ D (p - t).
    """

    def __init__(self, design: Design, h: Array, limit: int, diagonal: Array | None) -> None:
        super().__init__(design, h, limit, diagonal)
        self._traces = len(h)
        self._weights = None if np.all(h == 1.0) else h

    def _first(self, slope: Array, free: Index) -> Array:
        return self._triangular(slope, free)[0]

    def _turned(self, search: Array, free: Index) -> tuple[Array, Array, Array]:
        t, prediction = self._triangular(self.diagonal * search, free[::-1])
        rest, _ = self._triangular(self.diagonal * (search - t), free)
        return t, prediction, t + rest

    def image(self, traces: Array, some: Index | None = None) -> Array:
        if some is None:
            return np.asarray(self._design.rmatvec(self._h * traces))
        return self._design.correlate_some(some, self._h * traces)

    def _triangular(self, v: Array, order: Index) -> tuple[Array, Array]:
        """t such that v_j = sum of g_jk t_k over the k up to j in the order, and A t."""
        self._count()
        t, residual = np.zeros_like(v), np.zeros_like(self._h)
        infinite = np.full(len(v), np.inf)
        terms = SweepTerms(-infinite, infinite, self.diagonal, -v, self._weights)
        self._design.sweep(Sweep(np.arange(len(v)), terms, t, residual, order))
        return t, -residual
