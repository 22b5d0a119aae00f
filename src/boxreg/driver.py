"""The only outer loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from . import compaction
from .arrays import Array, Index
from .budget import Budget, Deadline
from .certificate import Certificate
from .dense_fit import COMPILED, Fit
from .directions import first_cone
from .duality import DualPoint
from .history import History, Ledger, Snapshot
from .method import Method
from .point import Point
from .presolve import presolve
from .problem import Problem
from .recession import falling_cost, receding_answer
from .reduced import ReducedProblem
from .settings import current
from .status import Status
from .stopping import CheckSchedule, Limits
from .track import Track
from .work import WorkMeter

_FINISHING = 5e7
"""Multiplications that an exact solver may make in any case to go from the target to the precision of
the data: a twentieth of a second."""

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
    begin: Fit | None = None,
) -> Outcome:
    """Step, improve the dual point, screen, compact, stop: until one of the limits is met.

    A run may begin with the answer of the compiled call for small problems, whose rounds and products
    then count.
    """
    x0 = x0 if begin is None else begin.x
    track = _start(problem, method, limits, x0)
    track.whole.work.add(0 if begin is None else begin.products)
    ledger, work = track.ledger, track.whole.work
    update = method.dual.start(track.point.problem)
    schedule = CheckSchedule(*method.solver.checks(track.point.problem))
    begun = 0 if begin is None else begin.rounds
    iteration, goal = begun, limits.target
    finishing: Budget | None = None
    if x0 is None and limits.max_iter > 0 and _steps_first(track):
        track.state, iteration = method.solver.step(track.state, 1), 1
    while True:
        gap = track.improve(update)
        seen = ledger.record(iteration, track.point, gap, limits.target)
        open_ = seen.preserved > 0
        if gap <= goal and finishing is None:
            finishing = work.budget(limits.finishing, _FINISHING / max(len(problem.target), 1))
        spent = iteration >= limits.max_iter or work.over
        spent = spent or (finishing is not None and finishing.exhausted)
        if not open_ or (gap <= goal and (spent or method.solver.settled(track.state))):
            x = ledger.expand(track.point)
            certificate, theta = track.certify(x, limits.target)
            if certificate.gap <= limits.target or not open_:
                status = _ending(track, x, certificate, limits, Status.NOT_PROVED)
                if method.screening:
                    track.note(method.region, gap, iteration)
                break
            goal = min(goal, gap) / 4.0  # theta lost something on its way back to the whole cone
        early = _reason_to_stop(track, limits, iteration, gap, goal)
        waited = iteration - begun >= current().direction_after
        finished = early is Status.NOT_PROVED
        if (early or waited) and limits.target > 0.0 and track.may_search(finished=finished):
            track.find_direction()
            continue
        if early is None and stop is not None and stop(seen):
            early = Status.STOPPED_BY_CALLBACK
        if early is not None:
            x = ledger.best if np.isfinite(seen.objective) else ledger.expand(track.point)
            certificate, theta = track.certify(x, limits.target)
            status = _ending(track, x, certificate, limits, early)
            break
        if method.screening:
            track.screen(method.region, gap, iteration)
        steps = schedule.next(iteration, gap, goal)
        if track.point.problem.open_count:
            steps = min(steps, limits.max_iter - iteration, _in_time(seen, work.deadline))
            track.state = method.solver.step(track.state, steps)
            iteration += steps
    return Outcome(
        x=x,
        theta=theta,
        certificate=certificate,
        status=status,
        note=" ".join(filter(None, (track.whole_cone.note, _advice(track, status)))),
        n_iter=iteration,
        ran=_names(method, begin, iteration - begun),
        work=work.total,
        screened=ledger.screened,
        screened_at=ledger.screened_at,
        history=History.of(ledger.snapshots),
    )


def _names(method: Method, begin: Fit | None, steps: int) -> str:
    """Who solved it: the compiled call, if there was one, and the solver, if it made a step."""
    if begin is None:
        return method.solver.name
    return COMPILED if not steps else f"{COMPILED}, {method.solver.name}"


def _start(problem: Problem, method: Method, limits: Limits, x0: Array | None) -> Track:
    """Everything in its place before the first step."""
    n, survey = problem.design.shape[1], problem.survey
    work = WorkMeter(n, deadline=limits.deadline, most=limits.work)
    work.add(3 * n if survey.sweep is None else n)  # norms, Aᵀ1 and Aᵀy; or norms
    whole = presolve(problem, work)
    if method.solver.wants_column_major(whole):
        whole = replace(whole, design=whole.design.column_major())
    cone = first_cone(whole, method.direction, survey.sums, method.solver.fits_exactly)
    cone = replace(cone, recession=falling_cost(problem) or cone.recession)
    if cone.implicit.any():
        whole = whole.with_equalities(cone.implicit)
    state = method.solver.start(_first_point(whole, problem, x0))
    track = Track(problem, whole, method.solver, state, DualPoint.zero(whole), cone, Ledger(n))
    if compaction.pays(whole):
        track.adopt(whole)
    return track


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
        return Point(whole, np.clip(problem.interior(), whole.lower, whole.upper))
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
    if iteration >= limits.max_iter or work.over:
        return Status.ITERATION_LIMIT
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
