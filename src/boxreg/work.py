"""The machine-independent measure of cost."""

from __future__ import annotations


class WorkMeter:
    """Counts inner products or updates of length m with columns of A, in units of all n of them.

    One full Aᵀr or Ax is 1; a p×q Gram block is pq/n; products with the translation direction,
    column norms, norm estimates, checks and the final certificate count too.
    """

    def __init__(self, n_columns: int) -> None:
        self._unit = max(n_columns, 1)
        self._columns = 0.0

    def add(self, columns: float) -> None:
        """Count `columns` products of length m."""
        self._columns += columns

    def share(self, columns: float) -> float:
        """What `columns` products would count as."""
        return columns / self._unit

    @property
    def total(self) -> float:
        """Work so far, in full products with A."""
        return self.share(self._columns)
