"""Projected Newton steps on a working set, for every loss."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Index
from ..point import Point
from .working_set import WorkingSet, WorkingState

_STALE = 0.1
"""Second derivatives of a large problem are computed anew when f'' has changed by this share since they
were; until then a step leaves about that share of the error."""

_CHEAP = 1e7
"""With k columns of length m, m k² up to this is not worth saving."""

_FLAT = 1e-6
"""f'' counts as at least this share of its mean: without curvature steps would have no end."""

_ARMIJO = 1e-4
_HALVINGS = 40
_NOISE = 1e-13
"""Of the objective: what a step may seem to raise it by rounding."""


class Newton(WorkingSet):
    """One step minimises the second-order model of P over a working set W, exactly, and goes towards it.

        minimise ½ dᵀA_Wᵀ H A_W d - w_Wᵀd   over   l <= x_W + d <= u,     H = diag(f''(p))

    by block principal pivoting, as the default for least squares does; of x + s d, s = 1, ½, ¼ …, the
    first is taken that lowers P by a share of what its slope promises. H is kept while f'' changes
    little: steps then cost a product with A and a factor of the free set, and still converge fast.
    Where the model is singular, or not better at any s, one projected-gradient step is taken instead,
    in the metric of the diagonal of the second derivative.
    """

    name = "newton"
    needs_quadratic = False
    fits_exactly = True
    max_iter = 1_000

    def step(self, state: WorkingState, count: int) -> WorkingState:
        """`count` Newton steps."""
        for _ in range(count):
            point = state.point
            if self._optimal(point):
                state.finished = True
                return state
            if not state.begun:
                state = self._begin(point)
                point = state.point
            self._drop_settled(state)
            new = self._candidates(state)
            self._refresh(state)
            self._extend(state, new)
            moved = self._towards(point, self._solve(state))
            if moved is None:
                moved = self._towards(point, self._gradient_step(point))
            if moved is None:
                state.finished = True
                return state
            state.point = moved
        return state

    def settled(self, state: WorkingState) -> bool:
        """A run may end as soon as the gap is small enough."""
        return True

    def _hessian(self, state: WorkingState, rows: Index, columns: Index) -> Array:
        """In the metric at hand."""
        if state.curvature is None:
            state.curvature = _floored(state.point.curvature)
        return state.point.problem.hessian(rows, columns, state.curvature)

    def _refresh(self, state: WorkingState) -> None:
        """Forget the Hessian if f'' has moved away from what it was."""
        old, new = state.curvature, _floored(state.point.curvature)
        if old is None:
            return
        change = float(np.sum(np.abs(new - old)))
        cheap = len(new) * len(state.working) ** 2 <= _CHEAP
        if change <= (0.0 if cheap else _STALE) * float(np.sum(new)):
            return
        state.curvature = new
        working = state.working
        state.working, state.gram = working[:0], state.gram[:0, :0]
        self._extend(state, working)

    def _gradient_step(self, point: Point) -> Point | None:
        """x_j + w_j / h_j on the box, h_j a bound on what the other coordinates add to the curvature."""
        problem = point.problem
        squares = problem.design.weighted_squares(point.curvature)
        count = max(int(np.count_nonzero(point.inside)), 1)
        rate = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0.0) / count
        x = np.clip(point.x + rate * point.correlation, problem.lower, problem.upper)
        return Point(problem, x)

    @staticmethod
    def _towards(point: Point, model: Point | None) -> Point | None:
        """The first of x + s d that lowers the objective enough; None if none does."""
        if model is None:
            return None
        problem, d = point.problem, model.x - point.x
        promised = float(point.correlation @ d)
        if promised <= _NOISE * abs(point.objective):  # the objective cannot tell any more
            nearer = np.max(model.inward, initial=0.0) < np.max(point.inward, initial=0.0)
            return model if nearer else None
        share = 1.0
        trial = model
        for _ in range(_HALVINGS):
            if trial.objective < point.objective - _ARMIJO * share * promised:
                return trial
            share *= 0.5
            x = np.clip(point.x + share * d, problem.lower, problem.upper)
            trial = Point(problem, x)
        return None


def _floored(curvature: Array) -> Array:
    """f'', and a little where there is none."""
    return np.maximum(curvature, _FLAT * float(np.mean(curvature)))
