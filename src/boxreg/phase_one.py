"""A strictly feasible dual point where those points do not form a cone, or a proof of none."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .arrays import Array, Index, Mask
from .budget import Budget
from .dual_cone import DualCone, on_equality_columns
from .duality import DualPoint
from .interior import inside, not_unique, span
from .recession import Recession, recession
from .reduced import ReducedProblem
from .rounding import UNIT_ROUNDOFF, norm
from .settings import current
from .status import Status

_LARGEST_MARGIN = 1.0
_STRICT = 1e-9
_TAKES_PART = 1e-6
"""A multiplier below this share of the largest is rounding of the linear program."""
_SHARE = 4.0
"""Work that linear programs may take, in units of the run so far."""
_PIVOT, _SETTING_UP, _EQUATION = 4.0, 200, 10
"""What an iteration of the simplex method costs, in products with its columns; what setting up a program
costs, in iterations, and each of its equations besides: measured on 126 × 785 with 127 equations, and
on 368 × 367 without."""


def strictly_feasible(problem: ReducedProblem) -> DualCone:
    """The cone with an anchor: a theta as far as can be from every half-space and end of a domain.

        maximise τ  subject to  ±(a_jᵀtheta - c_j) + τ ||a_j|| <= 0,  w_j = 0 for free columns,
                                lo_i + τ <= -theta_i <= hi_i - τ,  τ <= 1

    is a linear program; HiGHS solves it. (Without equality columns theta may be at the end of a domain:
    the rows then have no τ.) By Farkas' lemma τ <= 0 comes with a direction d of the box
    along which no row's loss grows in the long run: the multipliers of the half-spaces. Either P falls
    along it for ever, or it is level: then every feasible theta is orthogonal to the columns that take
    part, which become implicit equalities, and 0 (or at the end of its domain) in the rows that do; the
    search goes on for the others.
    """
    nothing = np.zeros(len(problem.lower), dtype=bool)
    used = problem.constrained & problem.open
    size = len(problem.target) * int(np.count_nonzero(used | problem.free))
    if not problem.design.has_columns or size > current().program_entries:
        return DualCone(None, nothing, note=_UNKNOWN)
    budget, implicit = problem.budget(_SHARE), nothing.copy()
    domain = problem.loss.dual_domain(problem.target)
    receding: Recession | None = None
    while True:
        if budget.exhausted:
            return DualCone(None, nothing, recession=receding, note=_UNKNOWN)
        theta, margin, direction, tight = _program(
            problem, used & ~implicit, problem.free | implicit, domain, budget
        )
        if theta is None:
            return DualCone(None, nothing, recession=receding, note=_UNKNOWN)
        if margin > _STRICT:
            break
        found = recession(problem, direction)
        receding = receding or found
        level = np.abs(direction) * problem.norms
        new = used & ~implicit & (level > _TAKES_PART * float(np.max(level, initial=0.0)))
        unbounded = found is not None and found.status is Status.UNBOUNDED
        if unbounded or not (new.any() or tight.any()):
            return DualCone(None, nothing, recession=found or receding, note=_UNKNOWN)
        implicit |= new
        if new.any() and problem.cost is None:
            implicit |= used & inside(problem, span(problem, implicit | problem.free))
        end = np.where(np.isfinite(domain[0]), domain[0], domain[1])
        end = np.where(np.abs(-theta - domain[1]) < np.abs(-theta - end), domain[1], end)
        domain = (np.where(tight, end, domain[0]), np.where(tight, end, domain[1]))
    pinned = np.where(domain[0] == domain[1], -domain[0], np.nan)
    theta = -np.clip(-theta, *domain)  # a linear program respects its constraints up to 1e-7
    anchor = on_equality_columns(theta, problem.with_equalities(implicit), np.isnan(pinned))
    strict = _margin(anchor, problem, used & ~implicit) > 0.0
    return DualCone(
        None,
        implicit,
        anchor=anchor if strict else None,
        pinned=None if np.all(np.isnan(pinned)) else pinned,
        recession=receding,
        note=not_unique(implicit),
    )


def _program(
    problem: ReducedProblem, used: Mask, equal: Mask, domain: tuple[Array, Array], budget: Budget
) -> tuple[Array | None, float, Array, Mask]:
    """theta and τ of the linear program, the multipliers as a direction of the box, and the rows that
    an end of their domain holds. Rows whose domain is one point stay there. No theta where the program
    does not end within the budget."""
    from scipy import optimize

    linprog: Any = optimize.linprog  # its stubs do not know of sparse rows
    half, plane = np.flatnonzero(used), np.flatnonzero(equal)
    m = len(problem.target)
    c = np.zeros(len(problem.lower)) if problem.cost is None else problem.cost.c
    side = problem.side[half]
    rows = np.column_stack([(side * problem.design.columns(half)).T, problem.norms[half]])
    low, high = domain
    pinned = low == high
    ends, limits, owners = _domain_rows(low, high, pinned, strictly=len(plane) > 0)
    flat = np.column_stack([problem.design.columns(plane).T, np.zeros(len(plane))])
    count, work = len(half) + len(plane), problem.work
    most = int(budget.left / work.share(_PIVOT * max(count, 1)))
    options: dict[str, Any] = {"maxiter": most}
    if work.deadline.left < np.inf:
        options["time_limit"] = work.deadline.left
    solution = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=sparse.vstack([sparse.csr_array(rows), ends]),
        b_ub=np.concatenate([side * c[half], limits]),
        A_eq=flat if len(plane) else None,
        b_eq=c[plane] if len(plane) else None,
        bounds=[(-v, -v) if fixed else (None, None) for v, fixed in zip(low, pinned, strict=True)]
        + [(None, _LARGEST_MARGIN)],
        method="highs",
        options=options,
    )
    work.charge(_PIVOT * count * (solution.nit + _SETTING_UP + _EQUATION * len(plane)))
    direction, tight = np.zeros(len(problem.lower)), np.zeros(m, dtype=bool)
    if solution.x is None or not solution.success:
        return None, -np.inf, direction, tight
    direction[half] = -side * solution.ineqlin.marginals[: len(half)]
    if len(plane):
        direction[plane] = -solution.eqlin.marginals
    held = np.abs(solution.ineqlin.marginals[len(half) :])
    tight[owners[held > _TAKES_PART * float(held.max(initial=0.0))]] = True
    return solution.x[:m], float(solution.x[-1]), direction, tight


def cheap_anchor(problem: ReducedProblem, sums: Array | None = None) -> DualPoint | None:
    """theta = 0, or -½ as far as the domains allow: the more strictly feasible, if one is.

    `sums` is Aᵀ1, where it is known. With equality columns only theta = 0 can be told to satisfy them,
    where they have no costs.
    """
    low, high = problem.loss.dual_domain(problem.target)
    if np.any(low > 0.0) or np.any(high < 0.0):
        return None
    if problem.cost is not None and problem.cost.c[problem.equal].any():
        return None
    used = problem.constrained & problem.open
    candidates, lowest = [DualPoint.zero(problem)], 0.5 * np.minimum(high, 1.0)
    if lowest.any() and problem.equality is None:
        level = float(np.min(lowest))
        if level > 0.0:
            candidates.append(candidates[0].plus(level, downwards(problem, sums)))
        else:
            candidates.append(DualPoint.at(-lowest, problem))
    best = max(candidates, key=lambda dual: _margin(dual, problem, used))
    return best if _margin(best, problem, used) > 0.0 else None


def downwards(problem: ReducedProblem, sums: Array | None) -> DualPoint:
    """The direction -1, without a product if Aᵀ1 is known."""
    t = np.full(len(problem.target), -1.0)
    if sums is None:
        return DualPoint.direction(t, problem)
    return DualPoint(t, -sums, problem.correlation_error(norm(t)))


def _margin(dual: DualPoint, problem: ReducedProblem, used: Mask) -> float:
    """The least ∓w_j / ||a_j||, less what may be rounding, over the coordinates `used`."""
    size = dual.size * problem.norms
    if problem.cost is not None:
        size = size + problem.cost.size
    excess = problem.side * dual.correlation + 64.0 * dual.uncertainty(problem)
    excess = excess + (_STRICT + 64.0 * UNIT_ROUNDOFF) * size
    return float(np.min(-excess[used] / problem.norms[used], initial=np.inf))


def _domain_rows(
    low: Array, high: Array, pinned: Mask, strictly: bool
) -> tuple[sparse.csr_array, Array, Index]:
    """lo + τ <= -theta <= hi - τ for the ends that are finite, and which row each is about.

    τ has a part in it where the ends are to be kept away from `strictly`.
    """
    below = np.flatnonzero(np.isfinite(low) & ~pinned)
    above = np.flatnonzero(np.isfinite(high) & ~pinned)
    owners = np.concatenate([below, above])
    signs = np.concatenate([np.ones(len(below)), -np.ones(len(above))])
    places = (np.arange(len(owners)), owners)
    entries = sparse.csr_array((signs, places), shape=(len(owners), len(low)))
    margins = sparse.csr_array(np.full((len(owners), 1), 1.0 if strictly else 0.0))
    limits = np.concatenate([-low[below], high[above]])
    return sparse.hstack([entries, margins], format="csr"), limits, owners


_UNKNOWN = (
    "No strictly feasible dual point is known, so the gap proved may be larger than it need be."
)
