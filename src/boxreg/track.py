"""The moving parts of a run, kept in step with each other as columns leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from . import compaction
from .arrays import Array, Mask
from .certificate import Certificate, certificate_of, certify
from .directions import build_cone
from .dual_cone import DualCone, balanced, completed
from .dual_updates.base import DualUpdate
from .dual_updates.local_push import local_push
from .duality import DualPoint, duality_gap, rounding_share
from .history import Ledger
from .point import Point
from .presolve import unreduced
from .problem import Problem
from .reduced import ReducedProblem
from .rounding import dot
from .safe_regions.base import SafeRegion
from .screening import screen
from .shrinking import shrunk
from .solvers.base import PrimalSolver, SolverState

_FAR = 1e-9
"""A difference of objectives that is a smaller share of them may be rounding."""
_SURELY = 1.0 - 1e-6
"""What is left of a larger one, whatever its rounding."""

_LONG, _LITTLE = 30, 0.01
"""Checks after which a run ends whose gap does not shrink while the objective falls by no more than this
share of the gap asked for, whatever the cause; by less where the gap is far from that."""

_AGAIN, _LAST = 1.5, 3
"""A search that ran out of its budget is made again when the run is so many times as long; at the end of
a run it is, until it has been made so often."""

_LONGER = 2.0
"""A residual is made feasible row by row again when the run is so many times as long."""

Proof: TypeAlias = tuple[Certificate, Array]
"""A certificate and its theta."""


def dual_objective_at_zero(whole: ReducedProblem) -> float:
    """D(0) = min F - s(-c); -inf where the cost c makes theta = 0 infeasible."""
    least = -whole.loss.conjugate(np.zeros(len(whole.target)), whole.target) + whole.constant
    if whole.cost is None:
        return float(least)
    w = -whole.cost.c
    if np.any(whole.no_upper & (w > 0.0)) or np.any(whole.no_lower & (w < 0.0)):
        return -np.inf
    bound = np.where(w > 0.0, whole.upper, whole.lower)
    return float(least - dot(np.where(w == 0.0, 0.0, w), np.where(w == 0.0, 0.0, bound)))


@dataclass
class Track:
    """Solver state, best dual point and dual cone over the same held columns."""

    problem: Problem
    whole: ReducedProblem
    """The problem at the start of the run, every column held."""
    solver: PrimalSolver[Any]
    state: SolverState
    best: DualPoint
    cone: DualCone
    ledger: Ledger

    def __post_init__(self) -> None:
        self.whole_cone = self.cone
        self._searched, self._searches = 0.0, 0
        """The effort after the last search for a direction, and how many there were."""
        self._shrinks_after = 0.0
        """The effort after which a residual is made feasible row by row again."""
        self._worth = -np.inf
        """P - gap when the best dual point was last looked at: at most its dual objective."""
        self._at_zero = dual_objective_at_zero(self.whole)
        """D(0), which proves nearly perfect fits whatever the cone; -inf where 0 is not feasible."""

    @property
    def point(self) -> Point:
        """The current primal point."""
        return self.state.point

    def succeed(self, solver: PrimalSolver[Any]) -> None:
        """Let another solver begin anew: from 0, projected on the box of what is still open."""
        problem = self.point.problem
        zero = Point(problem, np.clip(0.0, problem.lower, problem.upper))
        self.solver, self.state = solver, solver.start(zero if zero.regular else self.point)

    def advance(self, steps: int) -> int:
        """Let the solver make so many steps, or fewer until a check is due: how many."""
        self.state = self.solver.step(self.state, steps)
        return max(steps - self.state.left, 1)

    def expanded(self, x: Array) -> Point:
        """The current point with every column held, x its coordinates."""
        point = Point(self.whole, x)
        self.point.hand_over(point)
        return point

    def improve(self, update: DualUpdate, goal: float) -> float:
        """Keep the dual point with the least gap at the current primal point; return that gap.

        Where it is a long way into the dual cone and theta = 0 proves the goal, it will do.
        """
        if self.cone.pending and self.point.objective - self._at_zero <= goal:
            nothing = DualPoint.zero(self.point.problem)
            if self._gap_of(nothing) <= goal:
                self.best, self._worth = nothing, self.point.objective - self._gap_of(nothing)
                return self._gap_of(nothing)
        hint = self.solver.dual_candidate(self.state)
        for candidate in update.propose(self.point, self.best, self.cone, hint):
            candidate_gap = self._gap_of(candidate)
            if candidate_gap < self._least_gap() or candidate_gap < self._gap_of(self.best):
                self.best = candidate
                self._worth = self.point.objective - candidate_gap
        self._move_to(update.primal_candidate())
        self._complete()
        gap = self._gap_of(self.best)
        if self.point.objective - self._at_zero < gap:
            zero = DualPoint.zero(self.point.problem)
            if self._gap_of(zero) < gap:
                self.best, gap = zero, self._gap_of(zero)
        self._worth = self.point.objective - gap
        return gap

    def _complete(self) -> None:
        """Keep the residual or the best dual point with the best entries for a ridge term, if better."""
        point = self.point
        if point.problem.first_own_row is None or not point.regular:
            return
        for dual in (DualPoint.residual(point), self.best):
            candidate = balanced(completed(dual, point), point)
            if self._gap_of(candidate) < self._gap_of(self.best):
                self.best = candidate

    def _gap_of(self, dual: DualPoint) -> float:
        return duality_gap(self.point, dual)

    def _least_gap(self) -> float:
        """What the gap of the best dual point was worth when last looked at, P - D, at this point.

        A candidate with a smaller gap has a larger D than was ever proved: the other need not be looked
        at again. 0 where rounding has a part in the difference.
        """
        left = self.point.objective - self._worth
        return _SURELY * left if _FAR * self.point.objective < left < np.inf else 0.0

    def _move_to(self, x: Array | None) -> None:
        """Let the solver go on from x if its objective is lower than that of the current point."""
        if x is None or not self.solver.can_move:
            return
        point = Point(self.point.problem, x)
        if point.objective < self.point.objective:
            self.state = self.solver.move(self.state, point, self.best)

    def screen(self, region: SafeRegion, gap: float, iteration: int) -> None:
        """Fix what the region proves."""
        problem = self.point.problem
        at_lower, at_upper = self._proved(region, gap)
        if at_lower.any() or at_upper.any():
            self.ledger.fix(problem, at_lower, at_upper, iteration)
            self.adopt(problem.fix(at_lower, at_upper))

    def note(self, region: SafeRegion, gap: float, iteration: int) -> None:
        """Record what the region proves of the final point, and where it agrees; nothing moves."""
        self.ledger.settle(self.point, *self._proved(region, gap), iteration)

    def _proved(self, region: SafeRegion, gap: float) -> tuple[Mask, Mask]:
        """Open coordinates proved to be at their lower, and at their upper bound."""
        equalities = self.point.equalities(self.best.theta)
        if equalities is not None and not equalities.proved:  # the gap rests on an assumption
            nothing = np.zeros(len(self.point.x), dtype=bool)
            return nothing, nothing.copy()
        return screen(self.point, self.best, gap, region)

    def adopt(self, problem: ReducedProblem) -> None:
        """Go on with a problem that has more coordinates fixed; drop their columns if that pays."""
        point = self.point.projected(problem)
        kept = np.arange(len(problem.lower))
        if compaction.pays(problem):
            kept = np.flatnonzero(problem.open)
            self.ledger.drop(problem)
            problem = problem.keep(kept)
            point = point.kept(problem, kept)
            self.best = self.best.kept(kept)
            self.cone = self.cone.kept(kept)
        self.state = self.solver.restrict(self.state, point, kept)

    def exhausted(self, gap: float, goal: float) -> bool:
        """Whether nothing moves any more: for long, or with a gap that is mostly rounding."""
        # A gap that is due to rho alone is as the root of what the objective has to lose.
        share = min(goal / gap, 1.0) ** 2 if np.isfinite(gap) else 1.0
        if self.ledger.stalled(checks=_LONG, little=_LITTLE * goal * share):
            return True
        if not self.ledger.stalled(checks=1):
            return False
        share = rounding_share(self.point, self.best)
        if gap > 10.0 * share:
            return False
        return share > goal or self.ledger.stalled(checks=10)

    def may_search(self, *, finished: bool) -> bool:
        """Whether a direction is worth looking for: once, and again where a search ran out of its budget
        and the run has become longer, or is about to end without a proof. Each budget is a share of the
        run and of the searches so far, and so larger than the last.
        """
        work = self.whole.work
        longer = work.effort >= _AGAIN * self._searched
        return (
            self.cone.pending
            and not work.over
            and (longer or (finished and self._searches < _LAST))
        )

    def shrunk(self, goal: float, *, finished: bool) -> bool:
        """Whether the residual proves the goal once it is made feasible row by row, where A >= 0.

        That takes too long for every check: it is tried where no direction is known and the objective
        has hardly anything to lose any more, and again when the run is a few times as long.
        """
        work = self.whole.work
        still = finished or self.ledger.stalled(checks=1, little=_LITTLE * goal)
        if not (self.cone.pending and still and work.effort >= self._shrinks_after):
            return False
        candidate = shrunk(DualPoint.residual(self.point), self.point)
        self._shrinks_after = _LONGER * work.effort
        if candidate is None or not self._gap_of(candidate) <= goal:
            return False
        self.best = candidate
        return True

    def find_direction(self) -> None:
        """Search for the way into the dual feasible set that has been put off so far."""
        self.whole_cone = build_cone(self.whole, "auto", self.problem.survey.sums)
        self._searched, self._searches = self.whole.work.effort, self._searches + 1
        index = self.point.problem.index
        self.cone = self.whole_cone.kept(index)
        implicit = self.whole_cone.implicit
        if implicit.any():
            self.whole = self.whole.with_equalities(implicit)
            self.adopt(self.point.problem.with_equalities(implicit[index]))

    def _as_posed(self, point: Point) -> Point:
        """A point with every column held, in the problem as it was posed.

        Equality columns that the run has found are left behind: nobody who checks theta knows them.
        """
        posed, held = self.problem, point.problem
        ours = held is self.whole and held.design is posed.design
        ours = ours and not np.any(held.equal & ~held.free)
        if ours and held.lower is posed.lower and held.upper is posed.upper:
            return point
        return point.projected(unreduced(posed, held.work))

    def certify(self, x: Array, goal: float) -> Proof:
        """The certificate of x, given at full length, and the best theta on the unreduced data.

        As long as no column has been dropped the products at hand are those of the unreduced data.
        Otherwise theta was kept feasible for the columns still held; where a dropped column objects
        it is pushed back into the full cone. Where that does not prove the goal, as after a run that has
        fixed every coordinate with a theta far from the solution, so is the residual of x. It is also
        made feasible without the farther bound of each coordinate, so that rounding errors are not
        charged with the distance to that bound, and where A >= 0 row by row: both take too long for
        every check. theta = 0, which proves P(x) - P* <= P(x), is never out of reach.
        """
        problem, whole, cone = self.problem, self.whole, self.whole_cone
        point, dual = self.point, self.best
        if len(point.x) == len(x) and np.array_equal(point.x, x):
            certificate = certificate_of(problem, self._as_posed(point), dual)
        else:
            certificate, dual = certify(problem, x, dual.theta, work=whole.work)
        if certificate.rigorous and certificate.gap <= goal:
            return certificate, dual.theta
        theta, there = dual.theta, Point(whole, x)
        others = [cone.push(dual, there).theta]
        if whole.first_own_row is not None and there.regular:
            others.append(balanced(completed(dual, there), there).theta)
        if certificate.gap > goal and there.regular:
            near, away = local_push(there), local_push(there.without_farther_bounds())
            others.append(
                cone.push(DualPoint.residual(there) if near is None else near, there).theta
            )
            others += [] if away is None else [away.theta]
            posed = self._as_posed(there)
            by_rows = shrunk(DualPoint.residual(posed), posed)
            others += [] if by_rows is None else [by_rows.theta]
        for other in (*others, np.zeros_like(theta)):
            again, _ = certify(problem, x, other, work=whole.work)
            if _rank(again, goal) < _rank(certificate, goal):
                certificate, theta = again, other
        return certificate, theta


def _rank(certificate: Certificate, goal: float) -> tuple[bool, float]:
    """The order of certificates: those that prove the goal first, then by their gaps."""
    return not (certificate.rigorous and certificate.gap <= goal), certificate.gap
