"""Newton's method on the level c = ||x||∞.

φ(c) = min { ½||y - A x||² : |x| <= c } is convex and piecewise quadratic, φ'(c) = -||Aᵀρ||₁ with ρ the
residual of the box-constrained solution. The level sought has ||Aᵀρ||₁ = λ. With the free set Q and
the signs of all others fixed, x_Q moves linearly with c and φ'' = ||(I - P_Q) s||², s the sum of the
signed columns at ± c: a Newton step lands on the answer as soon as Q and the signs are those of the
answer. A bracket keeps steps from leading astray: every settled level tells on which side c* is.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Index
from ..compaction import pays
from ..point import Point
from ..problem import Problem
from ..rounding import dot
from ..settings import current
from ..solvers.growing_set import WorkingState
from ..solvers.working_set import WorkingSet
from ..work import WorkMeter
from .ledger import Ledger
from .merged import Merged
from .proof import Proof, prove, squeezable


class LevelSearch:
    """The level, the bracket around the one sought, and the box-constrained solver's state."""

    def __init__(self, problem: Problem, penalty: float, work: WorkMeter) -> None:
        self.merged = Merged.of(problem, penalty, work)
        self.level, self.levels = 0.0, 0
        target = problem.target
        self._below, self._above = 0.0, 0.5 * dot(target, target) / penalty * (1.0 + 1e-8)
        self._solver = WorkingSet()
        origin = Point(self.merged.at(0.0), np.zeros(len(problem.lower)))
        origin.prediction = np.zeros(len(target))
        if problem.survey.correlation is not None:
            origin.correlation = problem.survey.correlation
        self.state = self._at(origin, None)

    def _at(self, point: Point, old: WorkingState | None) -> WorkingState:
        """The solver at a point, with the working set it had; one level is no place for last resorts.

        With factors in any case: the way to the next level needs them.
        """
        state = WorkingState(point, begun=True, resorted=True, exact=True)
        if old is not None:
            state.working, state.system, state.sound = old.working, old.system, old.sound
        return state

    @property
    def settled(self) -> bool:
        """Whether the box-constrained problem at this level is solved."""
        return self._solver.settled(self.state)

    @property
    def objective(self) -> float:
        """½||y - A x||² + λ c, as computed."""
        return self.state.point.objective + self.merged.penalty * self.level

    def prove(self) -> Proof:
        """What the present point proves."""
        return prove(self.merged, self.state.point, self.level)

    def step(self) -> None:
        """One step of the box-constrained solver; at the end of its means it keeps its factors."""
        before = self.state
        self.state = self._solver.step(before, 1)
        if self.state.finished:
            self.state = self._at(self.state.point, before)
            self.state.finished = True

    def squeeze(self, proof: Proof, ledger: Ledger) -> bool:
        """Set what is proved to ± the level; merge columns when that pays. Whether x changed."""
        point = self.state.point
        negative, positive = squeezable(self.merged, point, proof)
        if not (negative.any() or positive.any()):
            return False
        ledger.note(self.merged, negative, positive)
        self.merged = self.merged.squeeze(negative, positive)
        fixed = point.projected(self.merged.at(self.level))
        self._restrict(fixed, np.arange(len(point.x)))
        unit = self.merged.at(1.0)
        kept = np.flatnonzero(unit.open)
        if len(kept) <= current().merging_share * len(unit.open) and pays(unit):
            self.merged = self.merged.keep(kept)
            self._restrict(fixed.kept(self.merged.at(self.level), kept), kept)
        return not np.array_equal(fixed.x, point.x)

    def _restrict(self, point: Point, kept: Index) -> None:
        settled = self.state.finished and point.evaluated
        self.state = self._solver.restrict(self.state, point, kept)
        self.state.finished = settled

    def change_level(self, proof: Proof) -> bool:
        """Newton's step in c, cut by the bracket; False where no level is left to try."""
        if proof.excess > 0.0:
            self._below = self.level
        else:
            self._above = self.level
        slope, curvature = self._path()
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            level = self.level + float(np.divide(proof.excess, curvature))
        if not self._below < level < self._above:
            level = self._between()
        if not self._below < level < self._above:
            return False
        point = self.state.point
        problem = self.merged.at(level)
        moved = point.x + (level - self.level) * slope
        still = ~point.inside
        moved[still] = level * slope[still]
        self.state = self._at(
            Point(problem, np.clip(moved, problem.lower, problem.upper)), self.state
        )
        self.level = level
        self.levels += 1
        return True

    def _between(self) -> float:
        low, high = self._below, self._above
        middle = np.sqrt(low) * np.sqrt(high) if low > 0.0 else 0.5 * high
        return float(middle if low < middle < high else 0.5 * (low + high))

    def _path(self) -> tuple[Array, float]:
        """dx/dc with Q and signs held, and φ''(c)."""
        point, merged = self.state.point, self.merged
        design, work = merged.whole.design, merged.whole.work
        leaning = np.where(point.x == 0.0, point.correlation, point.x)
        slope = np.where(leaning < 0.0, -1.0, 1.0)
        slope[merged.signs != 0] = merged.signs[merged.signs != 0]
        slope[point.inside | merged.inert] = 0.0
        direction = merged.column + design.matvec(slope)
        work.add(design.product_cost)
        inside = point.inside[self.state.working]
        if inside.any():
            free = self.state.working[inside]
            columns = design.columns(free)
            pull = np.zeros(len(inside))
            pull[inside] = columns.T @ direction
            answer = self.state.system.solve(inside, pull)[0][inside]
            slope[free] = -answer
            direction = direction - columns @ answer
            work.add(2 * len(free))
        return slope, dot(direction, direction)
