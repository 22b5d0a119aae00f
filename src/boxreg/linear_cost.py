"""The linear part of the objective."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array, Index


@dataclass(frozen=True)
class LinearCost:
    """c, with |error of c_j| <= unit · size_j and |c_j| <= size_j.

    `unit` is 0 for costs given by the caller. Those of linear rows are sums of entries of A, and carry
    the error of the summation.
    """

    c: Array
    size: Array
    unit: float = 0.0

    def kept(self, kept: Index) -> LinearCost:
        """The costs of the columns `kept`."""
        return LinearCost(self.c[kept], self.size[kept], self.unit)
