"""The proof that comes with an answer, computed from the unreduced data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from .arrays import Array, Index, Mask
from .duality import DualPoint, duality_gap, feasible_nearby, rounding_share
from .point import Equalities, Point
from .presolve import unreduced
from .problem import Problem
from .proved import share
from .refutation import least_excess
from .rounding import AGAIN, SLACK, UNIT_ROUNDOFF, dot, norm
from .work import WorkMeter

_SLIGHT = 1e-7
"""A product a_jᵀtheta that is positive by no more than this share of ||a_j|| ||theta|| is brought to 0,
by a small move of theta that is proved to exist, instead of making the gap infinite. ||rho||, and the
same share of ||y||, count as the least size of theta."""

_ROUNDS = 4
"""How often that move, which adds to the error of all products, may call for more columns."""


class Verdict(Enum):
    """What the data say of a certificate. Each member's value is the sentence shown to the user."""

    PROVED = "The gap bounds P(x) - P*, rounding errors included."
    NOT_PROVED = "It is not proved that P(x) - P* is as small as it is said to be."
    REFUTED = "What is claimed contradicts the data."

    @property
    def label(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")


@dataclass(frozen=True)
class Certificate:
    """What (x, theta) proves about the problem: P(x) - P* <= gap.

    Attributes
    ----------
    objective, dual_objective : P(x) and D(theta), as computed. Where a theta' next to theta is proved to
        be feasible, and theta itself cannot be in floating point, no more than P(x) - gap.
    gap : upper bound on P(x) - P*, rounding errors included; +inf where x or theta is not feasible.
        Without a claim it has room for a second computation: summed in any other order, the gap of
        the same pair does not exceed it, so that it can be claimed. With a claim it is the smallest
        bound found.
    primal_feasible : whether lower <= x <= upper holds exactly.
    dual_feasible : whether theta is feasible.
    rigorous : whether the gap is finite and rests on no assumption, whatever is claimed.
    reasons : why the verdict is not PROVED; empty if it is.
    claimed_gap : the claim that is judged, if there is one.
    rounding : how much of the gap is an allowance for rounding errors.
    least_excess : lower bound on P(x) - P*, rounding errors included. It is looked for only where a
        claim is not proved; 0 elsewhere.
    """

    objective: float
    dual_objective: float
    gap: float
    primal_feasible: bool
    dual_feasible: bool
    rigorous: bool
    reasons: tuple[str, ...] = ()
    claimed_gap: float | None = None
    rounding: float = 0.0
    least_excess: float = 0.0

    @classmethod
    def proved(
        cls, objective: float, dual_objective: float, gap: float, rounding: float
    ) -> Certificate:
        """That of a feasible pair whose gap rests on nothing but the data.

        In half the time of the constructor, which small problems would notice.
        """
        made = cls.__new__(cls)
        vars(made).update(
            objective=objective,
            dual_objective=dual_objective,
            gap=gap,
            primal_feasible=True,
            dual_feasible=True,
            rigorous=True,
            rounding=rounding,
        )
        return made

    @property
    def verdict(self) -> Verdict:
        """PROVED, NOT_PROVED or REFUTED.

        PROVED: x is feasible exactly, theta is feasible, no assumption is used, the gap is finite, and
        it is at most the claimed one. REFUTED: x is outside the box, or P(x) - P* is proved to exceed
        the claim. NOT_PROVED otherwise.
        """
        claim = np.inf if self.claimed_gap is None else self.claimed_gap
        if not self.primal_feasible or self.least_excess > claim:
            return Verdict.REFUTED
        return Verdict.PROVED if self.rigorous and self.gap <= claim else Verdict.NOT_PROVED

    @property
    def gap_over_objective(self) -> float:
        """gap / |P(x)|: the share of the objective that is not proved to be needed."""
        return share(self.gap, self.objective)

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PROVED

    def __str__(self) -> str:
        claim, least = self.claimed_gap, self.least_excess
        bare = self.rigorous or not np.isfinite(self.gap)
        lines = [
            f"{self.verdict.label}: {self.verdict.value}",
            f"  P(x)        {self.objective:.17g}",
            f"  D(theta)    {self.dual_objective:.17g}",
            f"  P(x) - P* <= {self.gap:.6g} ({self.gap_over_objective:.2g} of P(x))"
            + ("" if bare else ", under the assumption below"),
            *([] if claim is None else [f"  claimed     <= {claim:.6g}"]),
            *([f"  P(x) - P* >= {least:.6g}"] if least > 0.0 else []),
            *(f"  {reason}" for reason in self.reasons),
        ]
        return "\n".join(lines)


def certify(
    problem: Problem,
    x: Array,
    theta: Array,
    *,
    work: WorkMeter | None = None,
    claimed_gap: float | None = None,
) -> tuple[Certificate, DualPoint]:
    """Everything about (x, theta) from the data alone; also theta with its correlation."""
    whole = unreduced(problem, WorkMeter(len(x)) if work is None else work)
    dual = DualPoint.at(theta, whole)
    return certificate_of(problem, Point(whole, x), dual, claimed_gap), dual


def certificate_of(
    problem: Problem, point: Point, dual: DualPoint, claimed_gap: float | None = None
) -> Certificate:
    """What a pair with its products, over all columns and the true bounds, proves."""
    x, theta = point.x, dual.theta
    point, dual, broken = _with_slight_equalities(point, dual)
    outside = np.flatnonzero(~((x >= problem.lower) & (x <= problem.upper)) | np.isinf(x))
    conjugate = problem.loss.conjugate(-theta, problem.target)
    in_domain = bool(np.isfinite(conjugate))
    feasible = not len(broken) and in_domain
    gap, rounding = np.inf, 0.0
    if feasible and not len(outside):
        tight = duality_gap(point, dual)
        gap = _confirmed_gap(point, dual, tight) if claimed_gap is None else tight
        # Both are feasible: where the gap is infinite, float64 ends too soon.
        rounding = gap
        if np.isfinite(gap):
            allowed = rounding_share(point, dual) + (SLACK - 1.0) * tight + (gap - tight)
            rounding = min(allowed, gap)
    assumptions = _assumptions(problem, point.equalities(theta))
    rigorous = not assumptions and bool(np.isfinite(gap))
    least = 0.0
    if claimed_gap is not None and not len(outside) and not (rigorous and gap <= claimed_gap):
        least = least_excess(point, claimed_gap) if _rounding_known(problem) else 0.0
    dual_objective = -np.inf
    if feasible:
        dual_objective = problem.constant - conjugate - _support(problem, dual)
        # Where a theta' nearby is the feasible one, D(theta') >= P(x) - gap is what is known.
        if point.problem.equality is not None:
            dual_objective = min(dual_objective, point.objective - gap)
    return Certificate(
        objective=point.objective,
        dual_objective=dual_objective,
        gap=gap,
        primal_feasible=not len(outside),
        dual_feasible=feasible,
        rigorous=rigorous,
        reasons=(
            *_outside(problem, x, outside),
            *_infeasible(problem, dual, broken, in_domain),
            *assumptions,
            *_about_claim(gap, claimed_gap, least),
        ),
        claimed_gap=claimed_gap,
        rounding=rounding,
        least_excess=least,
    )


def _with_slight_equalities(point: Point, dual: DualPoint) -> tuple[Point, DualPoint, Index]:
    """The point with equality columns where the sign of w_j is not proved but slight; and the others.

    A theta' with w_j = 0 on those columns is feasible there, and `feasible_nearby` proves that one is
    next to theta. Signs that ||a_j|| ||theta|| leaves open are looked at entry by entry first, and no
    others: what is proved here must not depend on how theta was found.
    """
    whole = point.problem
    if dual.entries is not None:
        dual = replace(dual, entries=None)
    # Next to a perfect fit theta is rounding itself.
    nearest = point.residual_norm if point.regular else 0.0
    size = max(dual.size, nearest) + _SLIGHT * norm(whole.target)
    for _ in range(_ROUNDS):
        near, _ = feasible_nearby(point, dual)
        unproved = _unproved(point, near)
        if near is dual and unproved.any():
            near = dual = dual.entry_by_entry(np.flatnonzero(unproved), whole)
            unproved = _unproved(point, dual)
        uncertainty = near.uncertainty(whole)
        slight = np.abs(dual.correlation) <= uncertainty + _SLIGHT * size * whole.norms
        broken = np.flatnonzero(unproved & ~slight)
        if len(broken) or not unproved.any():
            return point, dual, broken
        point = point.projected(point.problem.with_equalities(unproved))
    return point, dual, np.flatnonzero(unproved)


def _unproved(point: Point, near: DualPoint) -> Mask:
    """Coordinates whose w_j may have the wrong sign, but for equality columns."""
    problem = point.problem
    w, uncertainty = near.correlation, near.uncertainty(problem)
    asked = ~problem.equal | (problem.norms == 0.0)
    wrong = problem.no_upper & (w + uncertainty > 0.0) | problem.no_lower & (w - uncertainty < 0.0)
    return np.asarray(asked & wrong)


def _confirmed_gap(point: Point, dual: DualPoint, tight: float) -> float:
    """The largest gap that a computation of the same pair in another order of summation can find.

    Its products and predictions are those at hand up to twice the bound on their errors, and are
    charged with that bound once more: the gap with three times the errors. Signs that are proved here
    (w_j <= 0 where u_j = inf) are taken to be proved there too: whoever makes a dual point feasible
    leaves a margin for it.
    """
    if not np.isfinite(tight):
        return tight
    problem = point.problem
    wide = Point(problem, point.x)
    point.hand_over(wide)
    again = problem.correlation_error(dual.size)
    if problem.smoothness.known:
        noise = 2.0 * UNIT_ROUNDOFF * problem.loss.roundoff_derivative * point.residual_norm
        own = noise / problem.smoothness.largest if problem.smoothness.largest > 0.0 else 0.0
        wide.prediction_error = point.prediction_error + (AGAIN - 1.0) * (
            point.prediction_error + own
        )
    else:
        wide.prediction_errors = AGAIN * point.prediction_errors
    entries = dual.entries
    if entries is not None:
        # Signs that the norms may prove there are not looked at entry by entry: norms are charged.
        by_norms = problem.uncertainty(again, problem.cost_drift)
        proved = (np.abs(dual.correlation) + 2.0 * entries) * SLACK >= by_norms
        entries = np.where(proved, np.inf, AGAIN * entries)
    moved = replace(
        dual,
        error=dual.error + (AGAIN - 1.0) * max(again, dual.error),
        drift=dual.drift + (AGAIN - 1.0) * max(problem.cost_drift, dual.drift),
        entries=entries,
    )
    if problem.some_unbounded:
        doubt = feasible_nearby(wide, moved)[0].uncertainty(problem)
        w = dual.correlation
        signed = np.where(problem.side > 0.0, np.minimum(w, -doubt), w)
        signed = np.where(problem.side < 0.0, np.maximum(w, doubt), signed)
        moved = replace(moved, correlation=signed)
    return (max(duality_gap(wide, moved), tight) + _charge_of_slight(wide, moved)) * SLACK


def _charge_of_slight(point: Point, dual: DualPoint) -> float:
    """What equality columns with one bound cost where another computation proves their signs instead."""
    problem = point.problem
    slight = problem.equal & ~problem.free
    if not slight.any():
        return 0.0
    below, above = point.room
    worst = np.abs(dual.correlation) + dual.uncertainty(problem)
    return dot((below + above)[slight], worst[slight])


def _rounding_known(problem: Problem) -> bool:
    """Whether all errors are bounded by proof, and none by somebody's word."""
    return problem.design.rounding_known and problem.loss.rounding_known


def _support(problem: Problem, dual: DualPoint) -> float:
    """sum_j sup { t w_j : l_j <= t <= u_j }, where an infinite bound is not the one that counts."""
    w = dual.correlation
    upper = np.where(np.isfinite(problem.upper), problem.upper, 0.0)
    lower = np.where(np.isfinite(problem.lower), problem.lower, 0.0)
    return dot(lower, np.minimum(w, 0.0)) + dot(upper, np.maximum(w, 0.0))


def _outside(problem: Problem, x: Array, outside: Index) -> tuple[str, ...]:
    """That x is outside the box, and where."""
    if not len(outside):
        return ()
    j = int(outside[0])
    return (
        f"x is not feasible: x[{j}] = {float(x[j])!r} is outside "
        f"[{float(problem.lower[j])!r}, {float(problem.upper[j])!r}] ({len(outside)} such coordinates)",
    )


def _infeasible(
    problem: Problem, dual: DualPoint, broken: Index, in_domain: bool
) -> tuple[str, ...]:
    """That theta is not feasible, and where."""
    reasons = []
    if len(broken):
        j = int(broken[np.argmax(np.abs(dual.correlation[broken]))])
        w = float(dual.correlation[j])
        asked = "= 0" if np.isneginf(problem.lower[j]) and np.isposinf(problem.upper[j]) else ""
        asked = asked or (">= 0" if w < 0.0 else "<= 0")
        kind = {"= 0": "no bound", "<= 0": "no upper bound", ">= 0": "no lower bound"}[asked]
        product = "a_jᵀtheta" if problem.cost is None else "a_jᵀtheta - c_j"
        reasons.append(
            f"theta is not feasible, so that the gap is infinite: {product} = {w:.6g}, not {asked}, for "
            f"column {j}, which has {kind} ({len(broken)} such columns)"
        )
    if not in_domain:
        reasons.append(
            "theta is not feasible, so that the gap is infinite: the conjugate of the loss is not "
            "finite at -theta"
        )
    return tuple(reasons)


def _assumptions(problem: Problem, equalities: Equalities | None) -> tuple[str, ...]:
    """What the gap rests on that the data do not prove."""
    found = []
    if equalities is not None and not equalities.proved:
        count = int(np.count_nonzero(equalities.dependent))
        found.append(
            f"assumption (dependent columns): {count} columns with a missing bound depend on others "
            "as far as float64 can tell; the gap holds if they do exactly, and then x is one solution "
            "of many"
        )
    if not problem.design.rounding_known:
        found.append(
            "assumption (products of an operator): A is an operator; its products are taken to be as "
            "accurate as float64 inner products"
        )
    if not problem.loss.rounding_known:
        found.append(
            "assumption (a caller's own loss): the values of the loss are taken to be as accurate as "
            "it says"
        )
    return tuple(found)


def _about_claim(gap: float, claimed_gap: float | None, least: float) -> tuple[str, ...]:
    """How a claim compares with what was found; nothing where it is met."""
    if claimed_gap is None or gap <= claimed_gap:
        return ()
    if least > claimed_gap:
        return (f"the claimed gap {claimed_gap:.6g} is false: P(x) - P* is at least {least:.6g}",)
    if not np.isfinite(gap):
        return ()
    return (f"the claimed gap {claimed_gap:.6g} is below the proved one, {gap:.6g}",)
