"""A working set that grows, solved exactly by block principal pivoting."""

from __future__ import annotations

import numpy as np

from .. import compaction
from ..free_system import FreeSystem
from ..point import Point
from ..reduced import ReducedProblem
from ..settings import current
from . import without_gram
from .base import renumber
from .growing_set import GrowingSet, WorkingState
from .last_resort import blurred, by_orthogonal_factors, last_resort, suspects
from .part import whole, within
from .prediction import first_point, worth_predicting
from .shortlist import shortlist, telling


class WorkingSet(GrowingSet[WorkingState]):
    """One step solves the problem exactly on a working set W, all other coordinates held still.

    W are the coordinates inside their bounds and those that most want to leave one, by
    |a_jᵀρ| / ||a_j||, beyond rounding and beyond `threshold`, at most as many new ones as are inside.
    The problem on W needs its Gram matrix G and gradient only: minimise ½ xᵀGx - (w_W + G x_W)ᵀx,
    where w_W = A_Wᵀρ comes from the fresh residual, so that repeating a step refines it. Where G is
    numerically singular, or pivoting does not end, the active-set method with orthogonal factors
    goes on to the end. The objective falls at every step, so no working set comes back,
    and one full product Aᵀρ a step is all that is needed of A besides the columns of W.

    Where single columns can be read at their share of the price, a step goes through several working
    sets, chosen from a shortlist by products with its columns only (see `shortlist`). Where G and its
    factor would cost more than conjugate gradients, a step is a round of these (see `without_gram`).
    """

    name = "working_set"
    needs_columns = True
    needs_quadratic = True
    fits_exactly = steps_first = True
    check_period = 1
    check_growth = 0.0
    max_iter = 10_000

    def __init__(
        self, threshold: float = 0.0, *, thorough: bool = True, batch: int | None = None
    ) -> None:
        super().__init__(threshold, batch=batch)
        self.thorough = thorough
        """Go on with orthogonal factors where Gram matrices fail. Who wants a start only may not."""

    def start(self, point: Point) -> WorkingState:
        """Nothing is done yet: the point may do."""
        return WorkingState(point)

    def wants_column_major(self, problem: ReducedProblem) -> bool:
        """Where sweeps come first, which read column after column."""
        zero = (problem.lower < 0.0) & (problem.upper > 0.0)
        able = problem.design.sweeps_as_copy and compaction.spares(problem)
        return able and worth_predicting(int(np.count_nonzero(zero)), len(zero))

    def step(self, state: WorkingState, count: int) -> WorkingState:
        """`count` working sets."""
        for _ in range(count):
            if state.point.problem.work.over:
                return state
            state = self._round(state)
            if state.finished:
                return state
        return state

    def _round(self, state: WorkingState) -> WorkingState:
        """One working set further, or finished."""
        if state.point.sweep is None and self._optimal(state.point):
            return self._conclude(state)
        if not state.begun:
            state = WorkingState(first_point(state.point), begun=True)
            if self._optimal(state.point):
                return state
        moved = self._without_gram(state)
        if moved is not None:
            if not without_gram.leads_on(moved, state.point):
                return self._conclude(state)
            state.point = moved
            return state
        return state if state.point.problem.work.over else self._by_gram(state)

    def _by_gram(self, state: WorkingState) -> WorkingState:
        """The exact solution on the next working set, by its Gram matrix."""
        before = state.point
        self._take_in(state)
        if self._rehearsed(state):
            return state
        self._drop_settled(state)
        self._extend(state, self._candidates(before, state.working))
        moved = self._solve(state)
        if moved is None and before.problem.work.over:
            return state
        if moved is None or moved.objective > before.objective:
            state.finished = True
            if self.thorough:
                state.resorted = True
                state.point = by_orthogonal_factors(before) or before
            return state
        state.point = moved
        return state if moved.objective < before.objective else self._conclude(state)

    def settled(self, state: WorkingState) -> bool:
        """Whether no gradient points inwards beyond its rounding error, and none that does is real."""
        if state.finished:
            return True
        return self._optimal(state.point) and (state.resorted or not self._doubtful(state))

    @staticmethod
    def _doubtful(state: WorkingState) -> bool:
        """Whether rounding may have decided."""
        return not state.sound or bool(suspects(state.point).any()) or blurred(state.point)

    def _conclude(self, state: WorkingState) -> WorkingState:
        """Finish, with orthogonal factors where Gram matrices cannot be trusted."""
        point = state.point
        if self.thorough and not state.resorted and self._doubtful(state):
            point = last_resort(point)
        return WorkingState(point, finished=True, resorted=True)

    def _without_gram(self, state: WorkingState) -> Point | None:
        """A round of conjugate gradients on W, if its Gram matrix would cost more and they are fast."""
        point = state.point
        inside = np.flatnonzero(point.inside)
        # At most as many new ones as are inside: they need not be looked for where that is too few.
        if state.exact or not without_gram.pays(point.problem, 2 * len(inside)):
            return None
        new = self._candidates(point, inside)
        if not without_gram.pays(point.problem, len(inside) + len(new)):
            return None
        moved = without_gram.round_on(point, inside, new)
        state.exact = moved is None
        if moved is not None:
            state.working, state.system = inside[:0], FreeSystem()
        return moved

    def _rehearsed(self, state: WorkingState) -> bool:
        """Solve the problem on a shortlist first, if there is one; whether that led anywhere."""
        point = state.point
        misled = state.misled >= current().shortlist_failures
        listed = None if misled else shortlist(point, state.working)
        if listed is None:
            return False
        solver = WorkingSet(self.threshold, thorough=False, batch=self._batch(point))
        part = WorkingState(
            within(point, listed, copy=False),
            working=renumber(state.working, listed),
            system=state.system,
            begun=True,
            exact=state.exact,
        )
        for _ in range(current().shortlist_rounds):
            part = solver.step(part, 1)
            wanted = int(np.count_nonzero(part.point.wanting(self.threshold)))
            told = telling(part.point, wanted)
            if part.finished or not wanted or not told:
                break
        if not part.point.objective < point.objective:
            return False
        state.misled = 0 if told else state.misled + 1
        state.point = whole(point, listed, part.point)
        state.working, state.system = listed[part.working], part.system
        state.sound &= part.sound
        return True
