"""Rows of the data that are not rows of the problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Index


@dataclass(frozen=True)
class RowMap:
    """Where the rows of the problem lie among those of the data.

    Rows with weight 0 say nothing: theta_i = 0. Rows whose loss is linear belong to the linear cost:
    theta_i is minus their slope. Rows of a ridge term stand after all rows of the data.
    """

    kept: Index
    known: Array
    """theta in the rows of the data that are not kept; 0 elsewhere."""

    def expand(self, theta: Array) -> Array:
        """theta over the rows of the data, and those of the ridge term."""
        whole = np.concatenate([self.known, theta[len(self.kept) :]])
        whole[self.kept] = theta[: len(self.kept)]
        return whole

    def restrict(self, theta: Array) -> Array | None:
        """theta over the rows of the problem; None if it contradicts what is known of the others."""
        m = len(self.known)
        others = np.ones(m, dtype=bool)
        others[self.kept] = False
        if not np.array_equal(theta[:m][others], self.known[others]):
            return None
        return np.concatenate([theta[self.kept], theta[m:]])
