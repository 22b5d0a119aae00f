"""What solvers have in common that work on a growing set of columns and its Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TypeVar

import numpy as np

from ..arrays import Array, Index
from ..block_pivoting import FREE, LOWER, UPPER, block_pivoting
from ..free_system import FreeSystem
from ..matrix_products import symmetric_times
from ..point import Point
from ..settings import current
from .base import PrimalSolver, SolverState, renumber


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
    near: bool = False
    """Sweeps and conjugate gradients have led to the gap that they were asked for."""
    asked: float | None = None
    """That gap; None before they are asked."""
    exact: bool = False
    """Steps need Gram matrices from now on, where a solver has another way."""


W = TypeVar("W", bound=WorkingState)


class GrowingSet(PrimalSolver[W]):
    """A solver that minimises a quadratic model over a working set W, exactly.

    W are the coordinates inside their bounds and those that most want to leave one, by
    |a_jᵀρ| / ||a_j||, beyond rounding and beyond `threshold`, at most as many new ones as are inside.
    """

    def __init__(self, threshold: float = 0.0, *, batch: int | None = None) -> None:
        self.threshold = threshold
        self.batch = batch
        """Coordinates let in at the first step, if not as many as the problem suggests."""

    def restrict(self, state: W, point: Point, kept: Index) -> W:
        """Coordinates that were screened leave the working set."""
        moved = renumber(state.working, kept)
        stays = np.flatnonzero(moved >= 0)
        stays = stays[point.problem.open[moved[stays]]]
        working, system = moved[stays], state.system.kept(stays)
        return replace(state, point=point, working=working, system=system, finished=False)

    def _optimal(self, point: Point) -> bool:
        return not point.wanting(self.threshold).any()

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

    def _take_in(self, state: W) -> None:
        """Add to W what lies inside the bounds and is not in it."""
        new = state.point.inside.copy()
        new[state.working] = False
        self._extend(state, np.flatnonzero(new))

    def _extend(self, state: W, new: Index) -> None:
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

    def _hessian(self, state: W, rows: Index, columns: Index) -> Array:
        """A block of the second derivative."""
        return state.point.problem.hessian(rows, columns)

    def _drop_settled(self, state: W) -> None:
        """Coordinates of W at a bound that they do not want to leave make room."""
        keep = np.flatnonzero(state.point.inside[state.working])
        if len(keep) < len(state.working):
            state.working, state.system = state.working[keep], state.system.kept(keep)

    def _solve(self, state: W) -> Point | None:
        """The exact solution on W by pivoting; None where that fails."""
        point, working = state.point, state.working
        problem = point.problem
        x, w = point.x[working], point.correlation[working]
        lower, upper = problem.lower[working], problem.upper[working]
        states = np.full(len(working), FREE, dtype=np.int8)
        states[(x <= lower) & (w <= 0.0)] = LOWER
        states[(x >= upper) & (w >= 0.0)] = UPPER
        noise = point.gradient_noise[working]
        system = state.system
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
