"""Least squares on a sparse A by compiled sweeps and conjugate gradients, then by working sets."""

from __future__ import annotations

from ..settings import current
from .growing_set import WorkingState
from .sparse_model import minimised, usable
from .working_set import WorkingSet


class SparseDescent(WorkingSet):
    """The first step goes all the way: see `kernels.sparse_descent`.

    It leads to a gap of `precision` times the objective where it begins. Where that proves too little,
    the second goes on to the precision of the data; after that, and where a step is given up, as on
    ill-conditioned columns, working sets go on from where it ended.
    """

    name = "sparse_descent"

    def __init__(self, threshold: float = 0.0, *, precision: float | None = None) -> None:
        super().__init__(threshold)
        self.precision = precision
        """`settings.descent_precision` if None; with 0 the first step goes as far as rounding allows."""

    def step(self, state: WorkingState, count: int) -> WorkingState:
        """One call, or working sets."""
        if self._descended(state):
            return state
        return super().step(state, count)

    def settled(self, state: WorkingState) -> bool:
        """A run may end once the gap is small enough, unless working sets have had to take over."""
        return state.near or super().settled(state)

    def _descended(self, state: WorkingState) -> bool:
        """Go on by sweeps and conjugate gradients; whether that led on."""
        point, first = state.point, state.asked is None
        if not usable(point.problem) or not (first or state.near) or state.asked == 0.0:
            return False
        precision = current().descent_precision if self.precision is None else self.precision
        size = point.problem.loss.objective(point.prediction, point.problem.target)
        state.asked = precision * size if first else 0.0
        moved, state.near = minimised(point, state.asked)
        if not moved.objective <= point.objective:
            state.near = False
            return False
        state.point, state.begun = moved, True
        return state.near
