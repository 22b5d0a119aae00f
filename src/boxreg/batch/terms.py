"""Weights, costs and ridge terms of many right-hand sides, as the compiled path takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array
from ..designs import Design
from ..rounding import SLACK
from ..settings import current

_NOTHING = np.zeros(0)
_ROUNDINGS = 3
"""Roundings of √ω_i a_ij: the root's, the product's, and one to spare."""


@dataclass(frozen=True)
class Terms:
    """Terms of the objective beside the squares, the same for all right-hand sides but for `levels`.

    Rows of a ridge term's matrix Γ stand under those of A, with targets of 0.
    """

    weights: Array | None = None
    cost: Array | None = None
    ridge: Array | None = None
    """μ_j of ½ sum μ_j x_j²."""
    below: Array | None = None
    """Γ, dense."""
    levels: Array | None = None
    """The least and the greatest number that `ridge` is multiplied by."""

    @classmethod
    def of(
        cls, terms: dict[str, Any], shape: tuple[int, int], levels: Array | None = None
    ) -> Terms | None:
        """The terms of a question, checked; None where the entries of Γ cannot be held."""
        m, n = shape
        given = terms.get("sample_weight")
        weights = None if given is None else validate.weights(given, m)
        given = terms.get("linear")
        cost = None if given is None else validate.cost(given, n)
        ridge, below = validate.ridge_term(terms.get("ridge", 0.0), n), None
        if isinstance(ridge, Design):
            if not ridge.has_columns or (m + ridge.shape[0]) * n > current().batch_entries:
                return None
            below = np.asarray(ridge.columns(np.arange(n)), dtype=np.float64)
            ridge = 0.0
        mu = np.broadcast_to(np.asarray(ridge, dtype=np.float64), (n,)).copy()
        ends = None if levels is None or not len(levels) else np.array([levels.min(), levels.max()])
        return cls(weights, cost, mu if mu.any() else None, below, ends)

    @property
    def roots(self) -> Array | None:
        """√ω_i, of the rows of A alone."""
        return None if self.weights is None else np.sqrt(self.weights)

    @property
    def scaled(self) -> int:
        """How many roundings the entries of A and Y are off by when they have been scaled."""
        return 0 if self.weights is None else _ROUNDINGS

    @property
    def rows_below(self) -> int:
        """How many rows Γ has."""
        return 0 if self.below is None else len(self.below)

    def stacked(self, A: Array, scaled: bool = True) -> Array:
        """√ω ∘ A, or A, with Γ under it; by rows."""
        roots = self.roots
        top = A if roots is None or not scaled else roots[:, None] * A
        whole = top if self.below is None else np.vstack([top, self.below])
        return np.ascontiguousarray(whole)

    def unscaled(self, t: Array) -> Array:
        """The dual point, or direction, that stands for t beside √ω ∘ A."""
        if self.weights is None:
            return t
        return np.asarray(t * np.append(np.sqrt(self.weights), np.ones(self.rows_below)))

    def scale(self, rows: Array, out: Array) -> None:
        """Right-hand sides, one a row, times √ω, followed by zeros for Γ."""
        m = rows.shape[1]
        out[:, m:] = 0.0
        roots = self.roots
        np.multiply(rows, 1.0 if roots is None else roots, out=out[:, :m])

    def soft(self, norms: Array, share: float) -> Array:
        """1 / (2 μ_j) where μ_j, however multiplied, is at least this share of ||a_j||²; 0 elsewhere.

        There w_j needs no sign: the ridge term pays for what rounding leaves of a wrong one.
        """
        if self.ridge is None:
            return _NOTHING
        least = self.ridge * (1.0 if self.levels is None else self.levels[0])
        used = (least > 0.0) & (least >= share * norms * norms)
        return np.asarray(np.divide(0.5 * SLACK, self.ridge, out=np.zeros_like(norms), where=used))
