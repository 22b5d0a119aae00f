"""Coordinates without bounds, whose columns every dual point must be orthogonal to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from .arrays import Array, Index
from .rounding import SLACK, gamma, norm

_CUTOFFS = (1e-12, 1e-10, 1e-8)
"""A column of which no more than this share lies outside the span of those before it counts as
dependent on them: the first of these with which the proof succeeds."""

_SOUND = 1e-4
"""The Cholesky factor of a Gram matrix serves as long as every column has this share of its own."""


@dataclass(frozen=True)
class FreeMetric:
    """The exact way from a theta to one with A_Bᵀtheta' = c_B, in the metric H = diag(h).

    B are free columns independent of each other; all of them if that can be told. Let M be √H A_B with
    its columns scaled to unit norm by D⁻¹, and V any matrix that makes U = M V nearly orthonormal,
    ||UᵀU - I|| <= ε < 1: the inverse of a triangular factor of M. With δ = A_Bᵀtheta - c_B,

        theta' = theta - √H U (UᵀU)⁻¹ VᵀD⁻¹δ

    is exact, and |theta'_i - theta_i| <= √h_i ||row i of U|| ||VᵀD⁻¹δ|| / (1 - ε). With h = f''(p) a
    row moves little where f* has little room: theta' stays in the domain of f*.
    """

    chosen: Index
    """B, by position among the free columns."""
    moves: Array
    """√H U, as computed."""
    inverse: Array
    """D⁻¹V."""
    rows: Array
    """√h_i ||row i of U|| / (1 - ε), the rounding error of U included."""

    @classmethod
    def of(cls, columns: Array, h: Array) -> FreeMetric | None:
        """The metric with as many columns as are proved independent; None if that is none."""
        root = np.sqrt(h)
        weighted = root[:, None] * columns
        scale = np.sqrt(np.einsum("ij,ij->j", weighted, weighted))
        used = np.flatnonzero(scale > 0.0)
        unit = weighted[:, used] / scale[used]
        found = _by_cholesky(unit)
        attempts = [found] if found is not None else _by_pivoted_qr(unit)
        for order, v in attempts:
            if len(order):
                basis = unit[:, order]
                made = cls._proved(used[order], basis, v, root, scale[used[order]])
                if made is not None:
                    return made
        return None

    @classmethod
    def _proved(
        cls, chosen: Index, unit: Array, v: Array, root: Array, scale: Array
    ) -> FreeMetric | None:
        """The metric with U = M V; None where U is not proved to be nearly orthonormal."""
        m, k = unit.shape
        u = unit @ v
        lengths = np.sqrt(np.einsum("ij,ij->i", unit, unit))
        # An entry of M is off by a few units in the last place, one of U by those of a product.
        drift = gamma(k + 6) * norm(v.ravel())
        size = norm(u.ravel())
        error = drift * float(np.sqrt(k)) * SLACK
        off = norm((u.T @ u - np.eye(k)).ravel()) + gamma(m + 2) * size**2
        off = (off + 2.0 * size * error + error**2) * SLACK
        if not off <= 0.5:
            return None
        rows = np.sqrt(np.einsum("ij,ij->i", u, u)) + drift * lengths
        return cls(
            chosen,
            root[:, None] * u,
            v / scale[:, None],
            root * rows * (SLACK / (1.0 - off)),
        )

    def correction(self, off: Array) -> Array:
        """√H U VᵀD⁻¹δ, to be taken off theta, for δ = off over all free columns."""
        return self.moves @ (self.inverse.T @ off[self.chosen])

    def distance(self, off: Array) -> Array:
        """Bounds on |theta'_i - theta_i| for some theta' exact on B, given |δ| <= off."""
        return self.rows * (norm(np.abs(self.inverse).T @ off[self.chosen]) * SLACK)


def _by_cholesky(unit: Array) -> tuple[Index, Array] | None:
    """All columns and the inverse of the factor of their Gram matrix; None where that is not sound."""
    k = unit.shape[1]
    if k > len(unit):
        return None
    try:
        factor = np.linalg.cholesky(unit.T @ unit)
    except np.linalg.LinAlgError:
        return None
    if not np.all(np.diagonal(factor) > _SOUND):
        return None
    return np.arange(k), solve_triangular(factor, np.eye(k), lower=True).T


def _by_pivoted_qr(unit: Array) -> list[tuple[Index, Array]]:
    """Independent columns and the inverse of their triangular factor, for each cutoff."""
    if not unit.size:
        return []
    triangle, pivots = qr(unit, mode="r", pivoting=True, check_finite=False)
    order = pivots.astype(np.intp)
    own = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(own > _CUTOFFS[0]))
    v = solve_triangular(triangle[:rank, :rank], np.eye(rank))
    ranks = sorted({int(np.count_nonzero(own > cutoff)) for cutoff in _CUTOFFS}, reverse=True)
    return [(order[:r], v[:r, :r]) for r in ranks]


class FreeColumns:
    """A_F and its positions among the columns held."""

    def __init__(self, columns: Array, index: Index) -> None:
        self.columns = columns
        self.index = index
        self._plain: tuple[FreeMetric | None] | None = None

    def metric(self, h: Array | None) -> FreeMetric | None:
        """The way to feasibility in the metric diag(h), or with h = 1, which is computed once.

        With h = 1 too where an h with zeros hides columns that are independent.
        """
        if h is not None:
            made = FreeMetric.of(self.columns, h)
            if made is not None and len(made.chosen) == len(self.index):
                return made
            plain = self.metric(None)
            return plain if _rank(plain) > _rank(made) else made
        if self._plain is None:
            self._plain = (FreeMetric.of(self.columns, np.ones(len(self.columns))),)
        return self._plain[0]

    def covered(self, metric: FreeMetric | None) -> Index:
        """Positions, among the columns held, of those that the metric makes theta orthogonal to."""
        return self.index[:0] if metric is None else self.index[metric.chosen]


def _rank(metric: FreeMetric | None) -> int:
    return 0 if metric is None else len(metric.chosen)
