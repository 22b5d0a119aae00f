"""The proof that comes with an answer, computed from the unreduced data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Index
from .duality import DualPoint, duality_gap, feasible_nearby, rounding_share
from .point import Point
from .presolve import unreduced
from .problem import Problem
from .rounding import SLACK, dot
from .work import WorkMeter

_SLIGHT = 1e-7
"""A product a_jᵀtheta that is positive by no more than this share of ||a_j|| ||theta|| is brought to 0,
by a small move of theta that is proved to exist, instead of making the gap infinite."""

_ROUNDS = 4
"""How often that move, which adds to the error of all products, may call for more columns."""


@dataclass(frozen=True)
class Certificate:
    """What (x, theta) proves about the problem: P(x) - P* <= gap.

    `gap` includes `rounding`, an allowance for the errors of its own computation. It is +inf where x
    or theta is not feasible. `rigorous` is False where the bound rests on something the data do not
    prove; then `remarks` says on what. A claim about the gap is judged with room for a computation in
    another order of summation, which may differ by a few times `rounding`.
    """

    objective: float
    dual_objective: float
    gap: float
    primal_feasible: bool
    dual_feasible: bool
    rigorous: bool
    remarks: tuple[str, ...] = ()
    claimed_gap: float | None = None
    rounding: float = 0.0

    @property
    def valid(self) -> bool:
        """Whether the pair is feasible, the gap finite and any claim about it true."""
        if not (self.primal_feasible and self.dual_feasible and np.isfinite(self.gap)):
            return False
        return self.claimed_gap is None or _agree(self.gap, self.rounding, self.claimed_gap)

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        verdict = "valid" if self.valid else "NOT valid"
        kind = "rigorous" if self.rigorous else "not rigorous"
        lines = [
            f"certificate {verdict} ({kind})",
            f"  P(x)        {self.objective:.17g}",
            f"  D(theta)    {self.dual_objective:.17g}",
            f"  P(x) - P* <= {self.gap:.6g}",
            *(f"  {remark}" for remark in self.remarks),
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
    point, broken = _with_slight_equalities(point, dual)
    outside = np.flatnonzero((x < problem.lower) | (x > problem.upper))
    conjugate = problem.loss.conjugate(-theta, problem.target)
    remarks = _remarks(problem, x, dual, outside, broken)
    remarks += _dependence(int(np.count_nonzero(point.dependent)))
    feasible = not len(broken) and np.isfinite(conjugate)
    gap, rounding = np.inf, 0.0
    if feasible and not len(outside):
        gap = duality_gap(point, dual)
        rounding = rounding_share(point, dual) + (SLACK - 1.0) * gap
    return Certificate(
        objective=point.objective,
        dual_objective=problem.constant - conjugate - _support(problem, dual)
        if feasible
        else -np.inf,
        gap=gap,
        primal_feasible=not len(outside),
        dual_feasible=bool(feasible),
        rigorous=_rounding_known(problem) and not point.dependent.any() and bool(np.isfinite(gap)),
        remarks=_with_claim(remarks, gap, rounding, claimed_gap),
        claimed_gap=claimed_gap,
        rounding=rounding,
    )


def _with_slight_equalities(point: Point, dual: DualPoint) -> tuple[Point, Index]:
    """The point with equality columns where the sign of w_j is not proved but slight; and the others.

    A theta' with w_j = 0 on those columns is feasible there, and `feasible_nearby` proves that one is
    next to theta.
    """
    whole = point.problem
    for _ in range(_ROUNDS):
        near, _ = feasible_nearby(point, dual)
        uncertainty = near.uncertainty(whole)
        asked = ~point.problem.equal | (whole.norms == 0.0)
        above = whole.no_upper & asked & (dual.correlation + uncertainty > 0.0)
        below = whole.no_lower & asked & (dual.correlation - uncertainty < 0.0)
        unproved = above | below
        slight = np.abs(dual.correlation) <= uncertainty + _SLIGHT * dual.size * whole.norms
        broken = np.flatnonzero(unproved & ~slight)
        if len(broken) or not unproved.any():
            return point, broken
        point = point.projected(point.problem.with_equalities(unproved))
    return point, np.flatnonzero(unproved)


def _rounding_known(problem: Problem) -> bool:
    """Whether all errors are bounded by proof, and none by somebody's word."""
    return problem.design.rounding_known and problem.loss.rounding_known


def _support(problem: Problem, dual: DualPoint) -> float:
    """sum_j sup { t w_j : l_j <= t <= u_j }, where an infinite bound is not the one that counts."""
    w = dual.correlation
    upper = np.where(np.isfinite(problem.upper), problem.upper, 0.0)
    lower = np.where(np.isfinite(problem.lower), problem.lower, 0.0)
    return dot(lower, np.minimum(w, 0.0)) + dot(upper, np.maximum(w, 0.0))


def _remarks(
    problem: Problem, x: Array, dual: DualPoint, outside: Index, broken: Index
) -> tuple[str, ...]:
    remarks: list[str] = []
    if len(outside):
        j = int(outside[0])
        remarks.append(
            f"x is not feasible: x[{j}] = {x[j]!r} is outside "
            f"[{problem.lower[j]!r}, {problem.upper[j]!r}] ({len(outside)} such coordinates)"
        )
    if len(broken):
        j = int(broken[np.argmax(np.abs(dual.correlation[broken]))])
        w = float(dual.correlation[j])
        asked = "= 0" if np.isneginf(problem.lower[j]) and np.isposinf(problem.upper[j]) else ""
        asked = asked or (">= 0" if w < 0.0 else "<= 0")
        kind = {"= 0": "no bound", "<= 0": "no upper bound", ">= 0": "no lower bound"}[asked]
        product = "a_jᵀtheta" if problem.cost is None else "a_jᵀtheta - c_j"
        remarks.append(
            f"theta is not feasible: {product} = {w:.6g}, not {asked}, for column {j}, which has "
            f"{kind} ({len(broken)} such columns)"
        )
    if not problem.design.rounding_known:
        remarks.append(
            "A is an operator: its products are taken to be as accurate as float64 inner products"
        )
    if not problem.loss.rounding_known:
        remarks.append(
            "the loss is the caller's own: its values are taken to be as accurate as it says"
        )
    return tuple(remarks)


def _dependence(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (
        f"{count} columns with a missing bound depend on others as far as float64 can tell: the gap "
        "holds if they do exactly, and then x is one solution of many",
    )


def _agree(gap: float, rounding: float, claimed: float) -> bool:
    """Whether a claim is at least the gap found here, or below it by no more than rounding.

    Two computations of a gap differ by at most a few times its allowance for rounding: each sum is
    off by at most its bound, in either direction, in both.
    """
    return gap - 4.0 * rounding <= claimed


def _with_claim(
    remarks: tuple[str, ...], gap: float, rounding: float, claimed_gap: float | None
) -> tuple[str, ...]:
    if claimed_gap is None or _agree(gap, rounding, claimed_gap):
        return remarks
    return (*remarks, f"the claimed gap {claimed_gap:.6g} is below the proved one, {gap:.6g}")
