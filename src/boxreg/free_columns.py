"""Coordinates without bounds, whose columns every dual point must be orthogonal to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from .arrays import Array, Index
from .rounding import SLACK, gamma

_DISTINCT = 1e-10
"""Free columns whose Gram matrix, scaled to unit diagonal, has an eigenvalue that is not proved to be
above this count as dependent."""


@dataclass(frozen=True)
class FreeMetric:
    """The exact way from a theta to one with A_Fᵀtheta' = c_F, in the metric H = diag(h).

    theta' = theta - H A_F z with A_FᵀH A_F z = δ, δ = A_Fᵀtheta - c_F. Let D scale the columns of √H A_F
    to unit norm and λ > 0 bound the eigenvalues of their Gram matrix G from below. Then ||D z|| is at
    most ||D⁻¹δ|| / λ, and |theta'_i - theta_i| <= h_i ||row i of A_F D⁻¹|| ||D z||. With h = f''(p) a
    row moves little where f* has little room: theta' stays in the domain of f*.
    """

    columns: Array
    """H A_F D⁻¹."""
    scale: Array
    factor: Array
    """Cholesky factor of G."""
    least: float
    """λ; 0 where none is proved."""
    rows: Array
    """h_i ||row i of A_F D⁻¹||."""

    @classmethod
    def of(cls, columns: Array, h: Array) -> FreeMetric | None:
        """The metric; None where the free columns are dependent as far as can be told."""
        m, k = columns.shape
        root = np.sqrt(h)[:, None] * columns
        scale = np.sqrt(np.einsum("ij,ij->j", root, root))
        if not np.all(scale > 0.0):
            return None
        root = root / scale
        gram = root.T @ root
        try:
            factor = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:
            return None
        inverse = solve_triangular(factor, np.eye(k), lower=True)
        # The factor is exact for a matrix within k γ of G, and G within k γ of the true one.
        least = 1.0 / float(np.sum(inverse**2)) / SLACK - 2.0 * k * gamma(m + k + 8)
        if least <= _DISTINCT:
            return None
        moved = h[:, None] * (columns / scale)
        rows = np.sqrt(np.einsum("ij,ij->i", moved, moved)) * SLACK
        return cls(moved, scale, factor, least, rows)

    def correction(self, off: Array) -> Array:
        """H A_F z, to be taken off theta, for δ = off."""
        half = solve_triangular(self.factor, off / self.scale, lower=True)
        return self.columns @ solve_triangular(self.factor, half, lower=True, trans=1)

    def distance(self, off: Array) -> Array:
        """Bounds on |theta'_i - theta_i| for some exactly feasible theta', given |δ| <= off."""
        scaled = off / self.scale
        return self.rows * (float(np.sqrt(scaled @ scaled)) / self.least * SLACK)


class FreeColumns:
    """A_F and its positions among the columns held."""

    def __init__(self, columns: Array, index: Index) -> None:
        self.columns = columns
        self.index = index
        self._plain: tuple[FreeMetric | None] | None = None

    def metric(self, h: Array | None) -> FreeMetric | None:
        """The way to feasibility in the metric diag(h), or with h = 1, which is computed once."""
        if h is not None:
            return FreeMetric.of(self.columns, h)
        if self._plain is None:
            self._plain = (FreeMetric.of(self.columns, np.ones(len(self.columns))),)
        return self._plain[0]
