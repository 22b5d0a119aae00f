"""Columns on which every feasible dual point is fixed: a_jᵀtheta = c_j."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr, solve_triangular

from .arrays import Array, Index, Mask
from .designs.base import Design
from .exact_dependence import in_span
from .rounding import SLACK, gamma, norm
from .settings import current

_CUTOFFS = (1e-12, 1e-10, 1e-8)
"""A column of which no more than this share lies outside the span of those before it counts as
dependent on them: the first of these with which the proof succeeds."""

_MOST_TESTS = 2e8
"""Operations that exact tests of dependence may take for one set of columns, over all sets of rows: some
two seconds. Beyond that columns stay in doubt."""

_SOUND = 1e-4
"""The Cholesky factor of a Gram matrix serves as long as every column has this share of its own."""


@dataclass(frozen=True)
class EqualityMetric:
    """The exact way from a theta to one with A_Bᵀtheta' = c_B, in the metric H = diag(h).

    B are equality columns independent of each other; all of them if that can be told. Let M be √H A_B
    with its columns scaled to unit norm by D⁻¹, and V any matrix that makes U = M V nearly orthonormal,
    ||UᵀU - I|| <= ε < 1: the inverse of a triangular factor of M. With δ = A_Bᵀtheta - c_B,

        theta' = theta - √H U (UᵀU)⁻¹ VᵀD⁻¹δ

    is exact, and |theta'_i - theta_i| <= √h_i ||row i of U|| ||VᵀD⁻¹δ|| / (1 - ε). With h = f''(p) a
    row moves little where f* has little room: theta' stays in the domain of f*.
    """

    chosen: Index
    """B, by position among the equality columns."""
    moves: Array
    """√H U, as computed."""
    inverse: Array
    """D⁻¹V."""
    rows: Array
    """√h_i ||row i of U|| / (1 - ε), the rounding error of U included."""

    @classmethod
    def of(cls, columns: Array, h: Array) -> EqualityMetric | None:
        """The metric with as many columns as are proved independent; None if that is none."""
        root = np.sqrt(h)
        weighted = root[:, None] * columns
        scale = np.sqrt(np.einsum("ij,ij->j", weighted, weighted))
        used = np.flatnonzero(scale > 0.0)
        if not len(used):
            return None
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
    ) -> EqualityMetric | None:
        """The metric with U = M V; None where U is not proved to be nearly orthonormal."""
        m, k = unit.shape
        u = unit @ v
        lengths = np.sqrt(np.einsum("ij,ij->i", unit, unit))
        # An entry of M is off by a few units in the last place, one of U by those of a product.
        drift = gamma(k + 6) * norm(v.ravel())
        size = norm(u.ravel())
        error = drift * norm(lengths) * SLACK
        off = norm((u.T @ u - np.eye(k)).ravel()) + gamma(m + 2) * size * size
        off = (off + 2.0 * size * error + error * error) * SLACK
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
        """√H U VᵀD⁻¹δ, to be taken off theta, for δ = off over all equality columns."""
        return self.moves @ (self.inverse.T @ off[self.chosen])

    def distance(self, off: Array) -> Array:
        """Bounds on |theta'_i - theta_i| for some theta' exact on B, given |δ| <= off."""
        off, size = off[self.chosen], np.inf
        if np.all(np.isfinite(off)):
            size = norm(np.abs(self.inverse).T @ off) * SLACK
        if not np.isfinite(size):  # a row of zeros does not move, however far others may have to
            return np.where(self.rows > 0.0, np.inf, 0.0)
        return self.rows * size


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


class EqualityColumns:
    """A_E for the coordinates E whose slopes w_j = a_jᵀtheta - c_j must be 0 at a feasible theta.

    Free coordinates (no bound at all) are of this kind, and so are those with one bound whose columns
    are implicit equalities of the dual feasible set (see `InteriorSearch`). Nothing is read from the
    design before it is needed.
    """

    def __init__(
        self, design: Design, index: Index, costs: Array | None = None, exact_costs: bool = True
    ) -> None:
        self.index = index
        """Positions among the columns held."""
        self._design, self._source = design, index
        """Where the columns are read, which stays the same when others leave the problem."""
        self._costs = costs
        self._exact_costs = exact_costs
        """Whether the costs are what the caller gave, with no rounding error of their own."""
        self._plain_metrics: dict[bytes, EqualityMetric | None] = {}
        self._ranks: dict[tuple[bytes, bool], int | None] = {}
        self._tested = 0.0
        """Operations of the exact tests so far."""

    @cached_property
    def columns(self) -> Array:
        """A_E as a dense array."""
        return self._design.columns(self._source)

    def metric(self, h: Array | None, still: Mask | None = None) -> EqualityMetric | None:
        """The way to feasibility in the metric diag(h), or with h = 1, that leaves the rows `still`.

        With h = 1 too where an h with zeros hides columns that are independent. None where orthogonal
        factors of the columns would take too long.
        """
        if not self._affordable:
            return None
        if h is None or not np.all(np.isfinite(h)):  # infinite where a prediction ends its domain
            return self._plain(still)
        made = EqualityMetric.of(self.columns, h if still is None else np.where(still, 0.0, h))
        if made is not None and len(made.chosen) == len(self.index):
            return made
        plain = self._plain(still)
        return plain if len(_chosen(plain)) > len(_chosen(made)) else made

    @property
    def hold_at_zero(self) -> bool:
        """Whether theta = 0 has w_j = 0 on all of them: they have no costs."""
        return self._exact_costs and (self._costs is None or not self._costs.any())

    @property
    def _affordable(self) -> bool:
        """Whether orthogonal factors of the columns can be had in reasonable time."""
        rows, count = self._design.shape[0], len(self.index)
        return rows * count**2 <= current().equality_operations

    def _plain(self, still: Mask | None) -> EqualityMetric | None:
        """The metric with h = 1 in the rows that may move; computed once for each set of them."""
        key = b"" if still is None else still.tobytes()
        if key not in self._plain_metrics:
            h = np.ones(len(self.columns))
            h[still if still is not None else slice(0, 0)] = 0.0
            self._plain_metrics[key] = EqualityMetric.of(self.columns, h)
        return self._plain_metrics[key]

    def covered(self, metric: EqualityMetric | None) -> Index:
        """Positions, among the columns held, of those that the metric makes theta orthogonal to."""
        return self.index[:0] if metric is None else self.index[metric.chosen]

    def doubtful(self, metric: EqualityMetric | None, still: Mask | None, nil: bool) -> Index:
        """Positions, among the columns held, of those for which w_j = 0 is not proved.

        The metric proves it for columns that are independent in the rows that may move, and so for
        every column that is a linear combination of those, costs included. Whether the others are is
        decided in rational arithmetic; a column that depends on the rest only up to rounding, or whose
        test would take too long, stays in doubt. `nil`: theta is 0 in the rows that do not move, which
        then have no part in w_j.
        """
        chosen = _chosen(metric)
        if len(chosen) == len(self.index):
            return self.index[:0]
        key = (b"" if still is None else still.tobytes(), nil)
        if key not in self._ranks:
            self._ranks[key] = self._exact_rank(still, nil)
        if self._ranks[key] == len(chosen):
            return self.index[:0]
        left = np.ones(len(self.index), dtype=bool)
        left[chosen] = False
        return self.index[left]

    def _exact_rank(self, still: Mask | None, nil: bool) -> int | None:
        """The rank of A_E where the other columns are proved to lie in the span of as many; or None.

        Every independent subset of that size spans the same space, whichever metric has chosen it.
        """
        if not (self._exact_costs and self._affordable) or self._tested > _MOST_TESTS:
            return None
        chosen = _chosen(self._plain(still))
        rest = np.setdiff1d(np.arange(len(self.index)), chosen)
        rows = self.columns[~still] if still is not None and nil else self.columns
        if self._costs is not None:  # w_j follows only if the costs combine as the columns do
            rows = np.vstack([rows, self._costs])
        self._tested += rows.size * len(chosen)
        spans_all = len(chosen) == len(rows)  # as many independent columns as there are rows
        return len(chosen) if spans_all or in_span(rows[:, chosen], rows[:, rest]) else None

    def without(self, fixed: Mask) -> EqualityColumns | None:
        """Those that are not among the columns `fixed`; None where none is left."""
        stay = ~fixed[self.index]
        if stay.all():
            return self
        if not stay.any():
            return None
        costs = None if self._costs is None else self._costs[stay]
        fewer = EqualityColumns(self._design, self._source[stay], costs, self._exact_costs)
        fewer.index = self.index[stay]
        return fewer

    def renumbered(self, kept: Index) -> EqualityColumns:
        """The same columns at their positions among `kept`, which must hold all of them."""
        moved = copy(self)
        moved.index = np.searchsorted(kept, self.index)
        return moved


def _chosen(metric: EqualityMetric | None) -> Index:
    """The independent columns of a metric, by position; none where there is no metric."""
    return np.zeros(0, dtype=np.intp) if metric is None else metric.chosen
