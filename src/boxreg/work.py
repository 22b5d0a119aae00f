"""The machine-independent measure of cost."""

from __future__ import annotations

from .budget import NEVER, Budget, Deadline


class WorkMeter:
    """Counts inner products or updates of length m with columns of A, in units of all n of them.

    One full Aᵀr or Ax is 1; a p×q Gram block is pq/n; products with the translation direction,
    column norms, norm estimates, checks and the final certificate count too.

    It also knows when a run has to end: at a deadline, or after `most` units of work. Every loop that
    may be long asks `over`, or a `Budget` of its own.
    """

    def __init__(
        self, n_columns: int, *, deadline: Deadline = NEVER, most: float = float("inf")
    ) -> None:
        self._unit = max(n_columns, 1)
        self._columns = 0.0
        self._aside = 0.0
        self.deadline = deadline
        self.most = most

    def add(self, columns: float) -> None:
        """Count `columns` products of length m."""
        self._columns += columns

    def charge(self, columns: float) -> None:
        """Count arithmetic that takes as long as `columns` products but is none, as that of factors and
        linear programs, against budgets alone."""
        self._aside += columns

    def share(self, columns: float) -> float:
        """What `columns` products would count as."""
        return columns / self._unit

    @property
    def total(self) -> float:
        """Work so far, in full products with A."""
        return self.share(self._columns)

    @property
    def effort(self) -> float:
        """Work and all that was charged: what budgets are a share of."""
        return self.share(self._columns + self._aside)

    @property
    def over(self) -> bool:
        """Whether the run has to end: its deadline has passed, or its work is spent."""
        return self.effort >= self.most or self.deadline.passed

    def budget(self, share: float, least: float = 0.0) -> Budget:
        """A budget of `share` times the effort so far, or of `least` columns if that is more."""
        return Budget(self, max(share * self.effort, self.share(least)))
