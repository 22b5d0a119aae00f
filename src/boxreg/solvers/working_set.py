"""A working set that grows, solved exactly by block principal pivoting."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from ..arrays import Array, Index
from ..block_pivoting import FREE, LOWER, UPPER, block_pivoting
from ..free_system import FreeSystem
from ..matrix_products import symmetric_times
from ..point import Point
from ..settings import current
from . import without_gram
from .base import PrimalSolver, SolverState, renumber
from .last_resort import blurred, last_resort, solve_by_active_set, suspects
from .part import whole, within
from .prediction import first_point
from .shortlist import shortlist, telling


@dataclass(kw_only=True)
class WorkingState(SolverState):
    """Adds the working set and its Gram matrix."""

    working: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    system: FreeSystem = field(default_factory=FreeSystem)
    begun: bool = False
    sound: bool = True
    """No nearly dependent columns have been met: Gram matrices can be trusted."""
    misled: int = 0
    """How often, one after the other, a shortlist left out what was wanted."""
    resorted: bool = False
    """What is done against rounding at the end has been done."""
    curvature: Array | None = None
    """The h that the Gram matrix was made with, where a solver chooses it."""
    exact: bool = False
    """Steps need Gram matrices from now on, where a solver has another way."""
    caution: float = 1.0
    """How much of the secants is in it."""
    least_caution: float | None = 0.0
    """Models with less of it were too ill-conditioned; None where those with all of it were, too."""
    origin: Point | None = None
    """Where the run began, as long as that matters."""
    change: Array | None = None
    """What the last step changed in the prediction."""
    gained: float = np.inf
    """The share of the objective that the last step gained."""
    rest: float = 1.0
    """The share that is left of each second derivative since all of them were computed, at least."""


class WorkingSet(PrimalSolver[WorkingState]):
    """One step solves the problem exactly on a working set W, all other coordinates held still.

    W are the coordinates inside their bounds and those that most want to leave one, by
    |a_jᵀρ| / ||a_j||, beyond rounding and beyond `threshold`, at most as many new ones as are inside.
    The problem on W needs its Gram matrix G and gradient only: minimise ½ xᵀGx - (w_W + G x_W)ᵀx,
    where w_W = A_Wᵀρ comes from the fresh residual, so that repeating a step refines it. Where G is
    numerically singular, or pivoting does not end, the active-set method with orthogonal factors
    solves the problem on W instead. The objective falls at every step, so no working set comes back,
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
        self.threshold = threshold
        self.thorough = thorough
        """Go on with orthogonal factors where Gram matrices fail. Who wants a start only may not."""
        self.batch = batch
        """Coordinates let in at the first step, if not as many as the problem suggests."""

    def start(self, point: Point) -> WorkingState:
        """Nothing is done yet: the point may do."""
        return WorkingState(point)

    def step(self, state: WorkingState, count: int) -> WorkingState:
        """`count` working sets."""
        for _ in range(count):
            if state.point.problem.work.over:
                return state
            if state.point.sweep is None and self._optimal(state.point):
                return self._conclude(state)
            if not state.begun:
                state = WorkingState(first_point(state.point), begun=True)
                if self._optimal(state.point):
                    continue
            before = state.point.objective
            moved = self._without_gram(state)
            if moved is not None:
                if not without_gram.leads_on(moved, state.point):
                    return self._conclude(state)
                state.point = moved
                continue
            self._take_in(state)
            if self._rehearsed(state):
                continue
            self._drop_settled(state)
            self._extend(state, self._candidates(state.point, state.working))
            moved = self._solve(state)
            if (moved is None or moved.objective > before) and not self.thorough:
                state.finished = True
                return state
            if moved is None or moved.objective > before:
                moved = solve_by_active_set(state.point, state.working)
                state.sound = False
            state.point = moved
            if not moved.objective < before:
                return self._conclude(state)
        return state

    def settled(self, state: WorkingState) -> bool:
        """Whether no gradient points inwards beyond its rounding error, and none that does is real."""
        if state.finished:
            return True
        return self._optimal(state.point) and (state.resorted or not self._doubtful(state))

    @staticmethod
    def _doubtful(state: WorkingState) -> bool:
        """Whether rounding may have decided."""
        return not state.sound or bool(suspects(state.point).any()) or blurred(state.point)

    def _optimal(self, point: Point) -> bool:
        return not point.wanting(self.threshold).any()

    def _conclude(self, state: WorkingState) -> WorkingState:
        """Finish, with orthogonal factors where Gram matrices cannot be trusted."""
        point = state.point
        if self.thorough and not state.resorted and self._doubtful(state):
            point = last_resort(point)
        return WorkingState(point, finished=True, resorted=True)

    def restrict(self, state: WorkingState, point: Point, kept: Index) -> WorkingState:
        """Coordinates that were screened leave the working set."""
        moved = renumber(state.working, kept)
        stays = np.flatnonzero(moved >= 0)
        stays = stays[point.problem.open[moved[stays]]]
        return WorkingState(
            point,
            working=moved[stays],
            system=state.system.kept(stays),
            begun=state.begun,
            sound=state.sound,
            misled=state.misled,
            resorted=state.resorted,
            curvature=state.curvature,
            exact=state.exact,
            caution=state.caution,
            least_caution=state.least_caution,
            change=state.change,
            gained=state.gained,
            rest=state.rest,
        )

    def _batch(self, point: Point) -> int:
        """How many coordinates may come in at the first step."""
        if self.batch is not None:
            return self.batch
        return max(current().first_working_set, round(sqrt(len(point.x))))

    def _candidates(self, point: Point, working: Index) -> Index:
        """The coordinates outside W that most want to leave their bound."""
        problem = point.problem
        eligible = point.wanting(self.threshold).copy()
        eligible[working] = False
        found = np.flatnonzero(eligible)
        rank = len(problem.target)  # more free columns than that have a singular Gram matrix
        room = max(self._batch(point), len(working))
        room = max(1, min(room, rank - len(working)))
        if len(found) > room:
            score = point.inward[found] / problem.norms[found]
            found = np.sort(found[np.argpartition(-score, room)[:room]])
        return found

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

    def _take_in(self, state: WorkingState) -> None:
        """Add to W what lies inside the bounds and is not in it."""
        new = state.point.inside.copy()
        new[state.working] = False
        self._extend(state, np.flatnonzero(new))

    def _extend(self, state: WorkingState, new: Index) -> None:
        """Add columns to W and their products to its Gram matrix."""
        if not len(new):
            return
        old = state.working
        working = np.concatenate([old, new])
        gram = np.empty((len(working), len(working)))
        gram[: len(old), : len(old)] = state.system.gram
        gram[len(old) :, len(old) :] = self._hessian(state, new, new)
        if len(old):
            cross = self._hessian(state, old, new)
            gram[: len(old), len(old) :] = cross
            gram[len(old) :, : len(old)] = cross.T
        state.working, state.system = working, state.system.grown(gram)

    def _hessian(self, state: WorkingState, rows: Index, columns: Index) -> Array:
        """A block of the second derivative."""
        return state.point.problem.hessian(rows, columns)

    def _drop_settled(self, state: WorkingState) -> None:
        """Coordinates of W at a bound that they do not want to leave make room."""
        keep = np.flatnonzero(state.point.inside[state.working])
        if len(keep) < len(state.working):
            state.working, state.system = state.working[keep], state.system.kept(keep)

    def _solve(self, state: WorkingState, damping: float = 0.0) -> Point | None:
        """The exact solution on W by pivoting; None where that fails. Damping adds to the diagonal."""
        point, working = state.point, state.working
        problem = point.problem
        x, w = point.x[working], point.correlation[working]
        lower, upper = problem.lower[working], problem.upper[working]
        states = np.full(len(working), FREE, dtype=np.int8)
        states[(x <= lower) & (w <= 0.0)] = LOWER
        states[(x >= upper) & (w >= 0.0)] = UPPER
        noise = point.gradient_noise[working]
        system = state.system
        if damping > 0.0:
            system = FreeSystem(system.gram + damping * np.diag(np.diag(system.gram)))
        pull = w + symmetric_times(system.gram, x)
        limit, before = current().pivoting_rounds, system.spent
        solved = block_pivoting(system, pull, lower, upper, states, x, noise, limit, problem.work)
        problem.work.charge((system.spent - before) / max(len(problem.target), 1))
        if solved is None:
            return None
        state.sound &= solved.sound
        full = point.x.copy()
        full[working] = solved.x
        return Point(problem, full)
