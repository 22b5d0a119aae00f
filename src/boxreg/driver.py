"""The only outer loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import compaction
from .arrays import Array, Index
from .budget import Budget, Deadline
from .certificate import Certificate, certificate_of
from .dense_fit import COMPILED, Begun, Fit, first_fit
from .directions import first_cone
from .dual_cone import DualCone
from .duality import DualPoint, duality_gap, rounding_share
from .history import History, Ledger, Snapshot
from .method import Method
from .plan import Plan
from .planning import copied_by_columns, finish_with
from .point import Point
from .presolve import presolve, unreduced
from .problem import Problem
from .recession import falling_cost, receding_answer
from .reduced import ReducedProblem
from .screening import screen
from .settings import current
from .solvers.base import PrimalSolver
from .status import Status
from .stopping import CheckSchedule, Limits
from .track import Track, dual_objective_at_zero
from .work import WorkMeter

_FINISHING = 5e7
"""Multiplications that an exact solver may make in any case to go from the target to the precision of
the data: a twentieth of a second."""

_FALLS = 0.1
"""A run whose gap is down to this share of what it was at the last check is left to its solver."""

_NO_LIMIT = 1 << 30
_SHORTEST_STEP = 1e-7
"""Seconds: a clock may tell none for the first steps."""


@dataclass(frozen=True)
class Outcome:
    """All that a run found out."""

    x: Array
    theta: Array
    certificate: Certificate
    status: Status
    note: str
    n_iter: int
    plan: Plan
    """What was decided, and what was changed on the way."""
    ran: str
    """The solvers that had a part in it."""
    work: float
    screened: npt.NDArray[np.int8]
    screened_at: Index
    history: History


def run(
    problem: Problem,
    method: Method,
    limits: Limits,
    *,
    x0: Array | None = None,
    stop: Callable[[Snapshot], object] | None = None,
    begin: Begun | None = None,
) -> Outcome:
    """Step, improve the dual point, screen, compact, stop: until one of the limits is met.

    A run may begin with the answer of the compiled active set, whose rounds and products then count.
    """
    if begin is None and x0 is None:
        begin = _compiled_start(problem, method, limits)
    if isinstance(begin, Fit) and begin.theta is not None:
        outcome = None
        if isinstance(method.direction, str):
            outcome = _proved_at_once(problem, method, limits, begin, begin.theta)
        if outcome is not None:
            return outcome
        begin = None  # it may be far out, where no row has any curvature
    track, plan = _start(problem, method, limits, x0, begin)
    loop = _Loop(problem, method, limits, track, plan, begin)
    if x0 is None and begin is None and limits.max_iter > 0 and _steps_first(loop.track):
        loop.advance(loop.schedule.least)
    while True:
        gap = loop.check()
        if loop.proves(gap):
            break
        early = _reason_to_stop(loop.track, limits, loop.iteration, gap, loop.goal)
        if loop.finds_more(gap, early):
            continue
        if not loop.optimal and _hands_over(method, loop.track, early, gap):
            loop.hand_over()
            continue
        if early is None and stop is not None and stop(loop.ledger.snapshots[-1]):
            early = Status.STOPPED_BY_CALLBACK
        if early is not None:
            loop.give_up(early)
            break
        loop.go_on(gap)
    return loop.outcome()


class _Loop:
    """What the outer loop keeps between two checks, and what it does in each of its phases."""

    def __init__(
        self,
        problem: Problem,
        method: Method,
        limits: Limits,
        track: Track,
        plan: Plan,
        begin: Begun | None,
    ) -> None:
        self.problem, self.method, self.limits, self.track = problem, method, limits, track
        self.plan, self.begin = plan, begin
        self.ledger, self.work = track.ledger, track.whole.work
        self.update = method.dual.start(track.point.problem)
        self.schedule = CheckSchedule(*track.solver.checks(track.point.problem))
        self.iteration = self.begun = 0 if begin is None else begin.rounds
        self.goal = limits.target
        self.finishing: Budget | None = None

    @property
    def optimal(self) -> bool:
        """Whether the compiled active set has found the solution: only a proof may be missing."""
        return self.begin is not None and self.begin.solved

    def advance(self, steps: int) -> None:
        """Let the solver make so many steps, as far as limits allow."""
        self.iteration += self.track.advance(min(steps, self.limits.max_iter - self.iteration))

    def check(self) -> float:
        """Look for a better dual point, and note the gap that the best one proves."""
        gap = self.track.improve(self.update, self.goal)
        self.ledger.record(self.iteration, self.track.point, gap, self.limits.target)
        return gap

    def proves(self, gap: float) -> bool:
        """Whether the run may end because the gap asked for is proved on the unreduced data."""
        track, limits = self.track, self.limits
        if gap <= self.goal and self.finishing is None:
            least = _FINISHING / max(len(self.problem.target), 1) if limits.finishing else 0.0
            self.finishing = self.work.budget(limits.finishing, least)
        spent = self.iteration >= limits.max_iter or self.work.over
        spent = spent or (self.finishing is not None and self.finishing.exhausted)
        begun = self.begin is not None and self.begin.solved and self.iteration == self.begun
        some_open = track.point.problem.open_count > 0
        ended = spent or begun or track.solver.settled(track.state)
        if some_open and not (gap <= self.goal and ended):
            return False
        x = self.ledger.expand(track.point)
        certificate, theta = track.certify(x, limits.target)
        if certificate.gap > limits.target and some_open:
            # theta lost something on its way back to the whole cone
            self.goal = min(self.goal, gap) / 4.0
            return False
        self._end(x, theta, certificate, Status.NOT_PROVED)
        if self.method.screening:
            track.note(self.method.region, gap, self.iteration)
        return True

    def finds_more(self, gap: float, early: Status | None) -> bool:
        """Whether a search too long for every check has led to another dual point, or a cone."""
        track, finished = self.track, early is Status.NOT_PROVED
        if gap > self.goal and track.shrunk(self.goal, finished=finished):
            return True
        waited = self.iteration - self.begun >= current().direction_after
        due = (early is not None or waited) and self.limits.target > 0.0
        if due and track.may_search(finished=finished):
            track.find_direction()
            return True
        return False

    def hand_over(self) -> None:
        """Let the solver's successor begin."""
        took = f"after {self.iteration} steps and {self.work.effort:.0f} products with A"
        successor = cast(PrimalSolver[Any], self.method.successor)
        self.plan = self.plan.noted(f"{successor.name}, {took}")
        self.ledger.trust(self.track.point)
        self.track.succeed(successor)
        self.schedule = CheckSchedule(*self.track.solver.checks(self.track.point.problem))

    def give_up(self, early: Status) -> None:
        """End with the best point so far."""
        known = self.ledger.best
        x = self.ledger.expand(self.track.point) if known is None else known
        certificate, theta = self.track.certify(x, self.limits.target)
        self._end(x, theta, certificate, early)

    def go_on(self, gap: float) -> None:
        """Screen, and step until the next check."""
        track = self.track
        if self.method.screening:
            track.screen(self.method.region, gap, self.iteration)
        steps = self.schedule.next(self.iteration, gap, self.goal)
        if track.point.problem.open_count:
            self.advance(min(steps, _in_time(self.ledger.snapshots[-1], self.work.deadline)))

    def _end(self, x: Array, theta: Array, certificate: Certificate, reason: Status) -> None:
        self.x, self.theta, self.certificate = x, theta, certificate
        self.status = _ending(self.track, x, certificate, self.limits, reason)

    def outcome(self) -> Outcome:
        """All that was found out."""
        track, ledger = self.track, self.ledger
        advice = _advice(track, self.status)
        return Outcome(
            x=self.x,
            theta=self.theta,
            certificate=self.certificate,
            status=self.status,
            note=" ".join(filter(None, (track.whole_cone.note, advice))),
            n_iter=self.iteration,
            plan=self.plan,
            ran=_names(self.method, track, self.begin, self.iteration - self.begun),
            work=self.work.total,
            screened=ledger.screened,
            screened_at=ledger.screened_at,
            history=History.of(ledger.snapshots),
        )


def _proved_at_once(
    problem: Problem, method: Method, limits: Limits, begin: Fit, theta: Array
) -> Outcome | None:
    """The outcome of a run that begins at an answer whose dual point proves the gap asked for; None
    where it does not."""
    n, work = problem.design.shape[1], _meter(problem, limits)
    work.add(begin.products)
    ledger = Ledger(n)
    point = Point(unreduced(problem, work), begin.x)
    dual = DualPoint.at(theta, point.problem)
    if not point.regular or work.over:
        return None
    if problem.cost is None and point.objective <= limits.target:
        dual = DualPoint.zero(point.problem)  # proves nearly perfect fits
    certificate = certificate_of(problem, point, dual)
    if not (certificate.rigorous and certificate.gap <= limits.target):
        return None
    gap = duality_gap(point, dual)
    ledger.record(begin.rounds, point, certificate.gap, limits.target)
    if method.screening and gap <= limits.target:
        ledger.settle(point, *screen(point, dual, gap, method.region), begin.rounds)
    plan = method.plan.decided("start", *_where_from(method, None, begin))
    receding = falling_cost(problem) or receding_answer(point)
    return Outcome(
        x=begin.x,
        theta=dual.theta,
        certificate=certificate,
        status=Status.CONVERGED if receding is None else receding.status,
        note="",
        n_iter=begin.rounds,
        plan=plan.decided("finish", *finish_with(limits)),
        ran=COMPILED,
        work=work.total,
        screened=ledger.screened,
        screened_at=ledger.screened_at,
        history=History.of(ledger.snapshots),
    )


def _meter(problem: Problem, limits: Limits) -> WorkMeter:
    """The account of a run, with what the survey of A took."""
    n, sweep = problem.design.shape[1], problem.survey.sweep
    work = WorkMeter(n, deadline=limits.deadline, most=limits.work)
    work.add(3 * n if sweep is None else n)  # norms, Aᵀ1 and Aᵀy; or norms
    return work


def _hands_over(method: Method, track: Track, early: Status | None, gap: float) -> bool:
    """Whether the solver's successor goes on.

    It does once the run has cost as much as the successor is likely to, so that both together take at
    most twice as long as the better one, unless the run is about to end; or where the solver can do no
    more, rounding is not the cause, and the successor is not likely to take much longer than the run so
    far.
    """
    solver, problem = method.successor, track.point.problem
    if solver is None or track.solver is solver or not problem.open_count:
        return False
    likely = problem.work.share(solver.likely_cost(problem))
    if early is Status.NOT_PROVED:
        rounding = Status.of_gap(gap, rounding_share(track.point, track.best))
        affordable = problem.budget(current().successor_cost).left >= likely
        return affordable and rounding is Status.NOT_PROVED
    seen = track.ledger.snapshots
    converges = len(seen) > 1 and seen[-1].gap <= _FALLS * seen[-2].gap < np.inf
    late = problem.work.effort >= current().successor_after * likely
    return early is None and late and not converges


def _names(method: Method, track: Track, begin: Begun | None, steps: int) -> str:
    """Who solved it: the compiled call, if there was one, and the solvers, if they made a step."""
    names = [COMPILED] if begin is not None else []
    if begin is None or steps:
        names.append(method.solver.name)
    if track.solver is not method.solver:
        names.append(track.solver.name)
    return ", ".join(names)


def _compiled_start(problem: Problem, method: Method, limits: Limits) -> Begun | None:
    """Where the compiled active set leads in the products that the plan leaves it, if any."""
    products = method.first_products(problem, limits.deadline)
    return first_fit(problem, products, limits.max_iter) if products > 0.0 else None


def _start(
    problem: Problem, method: Method, limits: Limits, x0: Array | None, begin: Begun | None
) -> tuple[Track, Plan]:
    """Everything in its place before the first step, and the whole plan."""
    plan = method.plan.decided("start", *_where_from(method, x0, begin))
    x0 = x0 if begin is None else begin.x
    n, survey = problem.design.shape[1], problem.survey
    work = _meter(problem, limits)
    whole = presolve(problem, work)
    copied, why = copied_by_columns(method.solver, whole)
    plan = plan.decided("layout", "A copied by columns" if copied else "A as it is", why)
    plan = plan.decided("finish", *finish_with(limits))
    if copied:
        whole = replace(whole, design=whole.design.column_major())
    point = _first_point(whole, problem, x0)
    if begin is not None and point.objective - dual_objective_at_zero(whole) <= limits.target:
        cone = DualCone(None, np.zeros(n, dtype=bool), pending=True)  # theta = 0 will do
    else:
        cone = first_cone(whole, method.direction, survey.sums, method.solver.fits_exactly)
    cone = replace(cone, recession=falling_cost(problem) or cone.recession)
    if cone.implicit.any():
        whole = whole.with_equalities(cone.implicit)
        point = point.projected(whole)
    state = method.solver.start(point)
    work.add(0 if begin is None else begin.products)
    track = Track(problem, whole, method.solver, state, DualPoint.zero(whole), cone, Ledger(n))
    if compaction.pays(whole):
        track.adopt(whole)
    return track, plan


def _where_from(method: Method, x0: Array | None, begin: Begun | None) -> tuple[str, str]:
    if isinstance(begin, Fit) and begin.theta is not None:
        return COMPILED, "few entries, and a loss that kernels know"
    if begin is not None:
        return COMPILED, method.first[1]
    if x0 is not None:
        return "x0", "asked for"
    return "0", method.first[1]


def _in_time(seen: Snapshot, deadline: Deadline) -> int:
    """Steps that can be made before the deadline at the pace of the run so far, at least 1."""
    left = deadline.left
    if left == np.inf or seen.iteration == 0:
        return _NO_LIMIT
    pace = max(seen.seconds / seen.iteration, _SHORTEST_STEP)
    return max(1, int(min(left / pace, _NO_LIMIT)))


def _steps_first(track: Track) -> bool:
    """Whether the solver would rather make a step before anything is checked, and there is one."""
    bounded = track.whole_cone.unbounded is None
    return track.solver.steps_first and bounded and track.point.problem.open_count > 0


def _first_point(whole: ReducedProblem, problem: Problem, x0: Array | None) -> Point:
    """Where the run starts: x0 or 0, projected on the box; elsewhere if f or f' is infinite there."""
    zero = np.zeros(len(whole.lower))
    point = Point(whole, np.clip(zero if x0 is None else x0, whole.lower, whole.upper))
    if not point.regular:
        return Point(whole, np.clip(problem.interior, whole.lower, whole.upper))
    known = problem.survey.correlation
    if known is not None and np.array_equal(point.residual, whole.target):
        point.correlation = known if whole.cost is None else known - whole.cost.c
    point.sweep = None if point.x.any() else problem.survey.sweep
    return point


def _reason_to_stop(
    track: Track, limits: Limits, iteration: int, gap: float, goal: float
) -> Status | None:
    """Why to stop short of the goal, if there is a reason."""
    if track.whole_cone.unbounded is not None:
        return Status.UNBOUNDED
    work = track.whole.work
    if work.deadline.passed:
        return Status.TIME_LIMIT
    if gap > goal and (track.state.finished or track.exhausted(gap, goal)):
        return Status.NOT_PROVED
    if iteration >= limits.max_iter:
        return Status.ITERATION_LIMIT
    if work.over:  # the deadline may have passed since it was last asked
        return Status.TIME_LIMIT if work.deadline.passed else Status.ITERATION_LIMIT
    return None


def _ending(
    track: Track, x: Array, certificate: Certificate, limits: Limits, reason: Status
) -> Status:
    """How a run ended that stopped for some reason, now that the certificate is there.

    It may prove the target after all; and where the solver could do no more it tells whether rounding
    is the cause.
    """
    if reason.fell_short and certificate.gap <= limits.target:
        return _verdict(track, x)
    if reason is Status.NOT_PROVED:
        return Status.of_gap(certificate.gap, certificate.rounding)
    return reason


def _advice(track: Track, status: Status) -> str:
    """What to try where no dual point proves the gap."""
    if status is not Status.NOT_PROVED:
        return ""
    cone = track.whole_cone
    if cone.direction is None and cone.anchor is None and track.whole.some_unbounded:
        return (
            "No strictly feasible dual point was found: finite bounds make every dual point feasible, "
            "and direction=... names one that is known."
        )
    return "Another solver=... or dual=... may prove more; so may columns of similar scale."


def _verdict(track: Track, x: Array) -> Status:
    """CONVERGED, or what to say of a problem that has no solution to converge to."""
    point = track.expanded(x)
    if point.problem.loss.quadratic:  # whose minimum is attained where it is finite
        return Status.CONVERGED
    receding = track.whole_cone.recession or receding_answer(point)
    return Status.CONVERGED if receding is None else receding.status
