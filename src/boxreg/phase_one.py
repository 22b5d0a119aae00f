"""A strictly feasible dual point where those points do not form a cone, or a proof of none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .arrays import Array, Index, Mask
from .budget import Budget
from .dual_cone import DualCone, on_equality_columns
from .duality import DualPoint
from .interior import not_unique
from .recession import Recession, recession
from .reduced import ReducedProblem
from .rounding import TINY, UNIT_ROUNDOFF, norm
from .settings import current
from .status import Status

_LARGEST_MARGIN = 1.0
_STRICT = 1e-9
_INSIDE = 1e-3
_LARGEST_SCALE = 1e8
"""σ in `_level_part`, at most, and t_j above which a half-space can be kept away from: by more than
1e-11 in units of the largest |w_j| / ||a_j||. HiGHS respects constraints up to 1e-7."""
_SHARE = 4.0
"""Work that linear programs may take, in units of the run so far."""
_PIVOT, _SETTING_UP, _EQUATION = 4.0, 200, 10
"""What an iteration of the simplex method costs, in products with its rows; what setting up a program
costs, in iterations, and each of its equations besides: measured on 126 × 785 with 127 equations, and
on 368 × 367 without."""
_VECTORS, _CYCLING = 10, 10
"""Vectors that an iteration goes through, on sparse columns of a 200 × 1500 problem; and iterations in
multiples of rows and variables, of which two are the rule: one program made 600, for half a minute."""


def strictly_feasible(problem: ReducedProblem) -> DualCone:
    """The cone with an anchor: a theta as far as can be from every half-space and end of a domain.

        maximise τ  subject to  ±(a_jᵀtheta - c_j) + τ ||a_j|| <= 0,  w_j = 0 for free columns,
                                lo_i + τ <= -theta_i <= hi_i - τ,  τ <= 1

    is a linear program; HiGHS solves it. (Without equality columns theta may be at the end of a domain:
    the rows then have no τ.) By Farkas' lemma τ <= 0 comes with a direction d of the box
    along which no row's loss grows in the long run: the multipliers of the half-spaces. Either P falls
    along it for ever, or it is level: then every feasible theta is orthogonal to the columns that take
    part, which become implicit equalities, and 0 (or at the end of its domain) in the rows that do. All
    such columns and rows are found together, by a second program (`_level_part`).
    """
    nothing = np.zeros(len(problem.lower), dtype=bool)
    used = problem.constrained & problem.open
    size = len(problem.target) * int(np.count_nonzero(used | problem.free))
    if not problem.design.has_columns or size > current().program_entries:
        return DualCone(None, nothing, note=_UNKNOWN)
    budget, implicit = problem.budget(_SHARE), nothing
    domain = problem.loss.dual_domain(problem.target)
    found = _widest(problem, used, problem.free, domain, budget)
    receding: Recession | None = None
    if found is not None and found.margin <= _STRICT:
        receding = recession(problem, found.direction)
    while found is not None and found.margin <= _STRICT:
        unbounded = receding is not None and receding.status is Status.UNBOUNDED
        rest, equal = used & ~implicit, problem.free | implicit
        level = (
            None if unbounded else _level_part(problem, rest, equal, domain, found.theta, budget)
        )
        if level is None:
            found = None
            break
        new, ends, found = level
        receding = receding or recession(problem, found.direction)
        if not new.any() and np.array_equal(ends, domain):
            break
        implicit, domain = implicit | new, ends
        found = _widest(problem, rest & ~new, equal | new, domain, budget) or found
    if found is None:
        pending = budget.exhausted and receding is None
        return DualCone(None, nothing, recession=receding, note=_UNKNOWN, pending=pending)
    pinned = np.where(domain[0] == domain[1], -domain[0], np.nan)
    theta = -np.clip(-found.theta, *domain)  # a linear program respects its constraints up to 1e-7
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


@dataclass(frozen=True)
class _Found:
    """The answer of a linear program."""

    theta: Array
    margin: float
    """What theta keeps from every half-space and end that can be kept away from."""
    direction: Array
    """The multipliers, as a direction of the box."""


def _widest(
    problem: ReducedProblem, used: Mask, equal: Mask, domain: tuple[Array, Array], budget: Budget
) -> _Found | None:
    """theta and τ with w_j = 0 for the columns `equal`; None where the program does not end within the
    budget. Rows whose domain is one point stay there."""
    half, plane = np.flatnonzero(used), np.flatnonzero(equal)
    m, scale = len(problem.target), np.maximum(problem.norms, TINY)
    c, signs = _costs(problem) / scale, problem.side[half]
    unit = problem.design.columns(half) * (signs / scale[half])
    rows = np.column_stack([unit.T, np.ones(len(half))])
    low, high = domain
    fixed = low == high
    entries, limits, _ = _domain_rows(low, high)
    margins = np.full((len(limits), 1), 1.0 if len(plane) else 0.0)
    flat = sparse.csr_array(
        np.column_stack([(problem.design.columns(plane) / scale[plane]).T, np.zeros(len(plane))])
    )
    solution = _solved(
        problem,
        budget,
        len(plane),
        c=np.append(np.zeros(m), -1.0),
        A_ub=sparse.vstack(
            [sparse.csr_array(rows), sparse.hstack([entries, sparse.csr_array(margins)])]
        ),
        b_ub=np.concatenate([signs * c[half], limits]),
        A_eq=flat if len(plane) else None,
        b_eq=c[plane] if len(plane) else None,
        bounds=[(-v, -v) if at else (None, None) for v, at in zip(low, fixed, strict=True)]
        + [(None, _LARGEST_MARGIN)],
    )
    if solution is None:
        return None
    return _Found(
        solution.x[:m],
        float(solution.x[-1]),
        _multipliers(problem, half, plane, solution),
    )


def _level_part(
    problem: ReducedProblem,
    used: Mask,
    equal: Mask,
    domain: tuple[Array, Array],
    centre: Array,
    budget: Budget,
) -> tuple[Mask, tuple[Array, Array], _Found] | None:
    """The half-spaces that every feasible theta is on the boundary of; the domain with rows pinned where
    every feasible theta is at an end of it; a theta inside the others, and a level direction that all
    that were found take part in.

        maximise sum_j t_j + sum_i s_i  subject to  ±(a_jᵀδ + σ w_j) / ||a_j|| + t_j <= 0,
            a_jᵀδ = 0 for the columns `equal`,  t, s in [0, 1],  σ >= 1,
            lo_i σ + s_i <= -(σ centre_i + δ_i) <= hi_i σ - s_i,       w = Aᵀcentre - c.

    theta = centre + δ / σ is feasible; such (δ, σ) may be added and multiplied by numbers above 1, so
    that at the maximum every t_j and s_i is 1 that can be positive, and the others are 0 (Freund, Roundy
    and Todd, 1985): one program tells all of them apart. Around a centre that is feasible w_j has the
    right sign or is 0, and costs do not cancel. Lengths are in units of the largest |w_j| / ||a_j||.
    None where the program has no answer within the budget.
    """
    half, plane = np.flatnonzero(used), np.flatnonzero(equal)
    m, (low, high) = len(problem.target), domain
    centre = -np.clip(-centre, low, high)
    middle, scale = DualPoint.at(centre, problem), np.maximum(problem.norms, TINY)
    entries, limits, owners = _domain_rows(low, high)
    room = np.concatenate(
        [-(problem.side * middle.correlation / scale)[half], limits - entries @ centre]
    )
    room = np.where(np.abs(room) <= _STRICT * middle.size, 0.0, room)
    unit = float(np.max(np.abs(room), initial=0.0)) or 1.0
    rows = sparse.csr_array((problem.design.columns(half) * (problem.side / scale)[half]).T)
    count = len(room)
    inequalities = sparse.hstack(
        [
            sparse.vstack([rows, entries]),
            sparse.csr_array(-room[:, None] / unit),
            sparse.csr_array(sparse.identity(count)),
        ]
    )
    flat = sparse.csr_array((problem.design.columns(plane) / scale[plane]).T)
    nothing = sparse.csr_array((len(plane), 1 + count))
    solution = _solved(
        problem,
        budget,
        len(plane),
        c=np.concatenate([np.zeros(m + 1), -np.ones(count)]),
        A_ub=inequalities,
        b_ub=np.zeros(count),
        A_eq=sparse.hstack([flat, nothing]) if len(plane) else None,
        b_eq=np.zeros(len(plane)) if len(plane) else None,
        bounds=[(0.0, 0.0) if at else (None, None) for at in low == high]
        + [(1.0, _LARGEST_SCALE)]
        + [(0.0, 1.0)] * count,
    )
    if solution is None:
        return None
    inside = solution.x[m + 1 :] > _INSIDE
    implicit = np.zeros(len(used), dtype=bool)
    implicit[half[~inside[: len(half)]]] = True
    at = ~inside[len(half) :]
    ends = -entries.sum(axis=1)[at] * limits[at]
    pinned = (low.copy(), high.copy())
    for side in pinned:
        side[owners[at]] = ends
    sigma = float(solution.x[m])
    theta = centre + solution.x[:m] * (unit / sigma)
    direction = _multipliers(problem, half, plane, solution)
    return implicit, pinned, _Found(theta, unit / sigma, direction)


def _costs(problem: ReducedProblem) -> Array:
    """c, 0 where there are no costs."""
    return np.zeros(len(problem.lower)) if problem.cost is None else problem.cost.c


def _solved(problem: ReducedProblem, budget: Budget, planes: int, **program: Any) -> Any:
    """What HiGHS makes of a program with so many equality columns; None where it does not end within the
    budget, or finds no solution. An iteration costs what the entries of its rows do, and some vectors as
    long as there are rows; far more of them than there are rows lead nowhere."""
    from scipy import optimize

    linprog: Any = optimize.linprog  # its stubs do not know of sparse rows
    parts = [program[name] for name in ("A_ub", "A_eq") if program[name] is not None]
    rows, entries = sum(part.shape[0] for part in parts), sum(part.nnz for part in parts)
    count, work = (entries + _VECTORS * rows) / max(len(problem.target), 1), problem.work
    if budget.exhausted:
        return None
    most = int(budget.left / work.share(_PIVOT * max(count, 1.0)))
    most = min(most, _CYCLING * (rows + len(program["c"])))
    options: dict[str, Any] = {"maxiter": most}
    if work.deadline.left < np.inf:
        options["time_limit"] = work.deadline.left
    solution = linprog(method="highs", options=options, **program)
    work.charge(_PIVOT * count * (solution.nit + _SETTING_UP + _EQUATION * planes))
    return solution if solution.x is not None and solution.success else None


def _multipliers(problem: ReducedProblem, half: Index, plane: Index, solution: Any) -> Array:
    """The multipliers of half-spaces and equality columns of unit norm, as a direction of the box."""
    direction = np.zeros(len(problem.lower))
    direction[half] = -problem.side[half] * solution.ineqlin.marginals[: len(half)]
    if len(plane):
        direction[plane] = -solution.eqlin.marginals[: len(plane)]
    return direction / np.maximum(problem.norms, TINY)


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


def _domain_rows(low: Array, high: Array) -> tuple[sparse.csr_array, Array, Index]:
    """lo <= -theta <= hi for the ends that are finite and apart, as rows and limits, and which row of A
    each is about."""
    apart = low != high
    below = np.flatnonzero(np.isfinite(low) & apart)
    above = np.flatnonzero(np.isfinite(high) & apart)
    owners = np.concatenate([below, above])
    signs = np.concatenate([np.ones(len(below)), -np.ones(len(above))])
    places = (np.arange(len(owners)), owners)
    entries = sparse.csr_array((signs, places), shape=(len(owners), len(low)))
    return entries, np.concatenate([-low[below], high[above]]), owners


_UNKNOWN = (
    "No strictly feasible dual point is known, so the gap proved may be larger than it need be."
)
