"""A strictly feasible dual point where those points do not form a cone, or a proof of none."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .arrays import Array
from .dual_cone import DualCone
from .duality import DualPoint
from .recession import recession
from .reduced import ReducedProblem
from .rounding import UNIT_ROUNDOFF, norm

_LARGEST_MARGIN = 1.0
_STRICT = 1e-9
_LARGEST_PROGRAM = 4e6
"""Entries up to which a linear program is worth its time."""


def strictly_feasible(problem: ReducedProblem) -> DualCone:
    """The cone with an anchor: a theta as far as can be from every half-space and end of a domain.

        maximise τ  subject to  ±(a_jᵀtheta - c_j) + τ ||a_j|| <= 0,  w_j = 0 for free columns,
                                lo_i + τ <= -theta_i <= hi_i - τ,  τ <= 1

    is a linear program; HiGHS solves it. By Farkas' lemma τ <= 0 comes with a direction d of the box
    along which no row's loss grows in the long run: the multipliers of the half-spaces.
    """
    from scipy import optimize

    linprog: Any = optimize.linprog  # its stubs do not know of sparse rows
    nothing = np.zeros(len(problem.lower), dtype=bool)
    used = np.flatnonzero(problem.constrained & problem.open)
    free = np.flatnonzero(problem.free)
    m = len(problem.target)
    if not problem.design.has_columns or m * (len(used) + len(free)) > _LARGEST_PROGRAM:
        return DualCone(None, nothing, note=_UNKNOWN)
    side, norms = problem.side[used], problem.norms[used]
    c = np.zeros(len(problem.lower)) if problem.cost is None else problem.cost.c
    low, high = problem.loss.dual_domain(problem.target)
    half_spaces = np.column_stack([(side * problem.design.columns(used)).T, norms])
    ends, limits = _domain_rows(low, high, m)
    solution = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=sparse.vstack([sparse.csr_array(half_spaces), ends]),
        b_ub=np.concatenate([side * c[used], limits]),
        A_eq=np.column_stack([problem.design.columns(free).T, np.zeros(len(free))])
        if len(free)
        else None,
        b_eq=c[free] if len(free) else None,
        bounds=[(None, None)] * m + [(None, _LARGEST_MARGIN)],
        method="highs",
    )
    problem.work.add(10 * len(used))
    if solution.x is None:
        return DualCone(None, nothing, note=_UNKNOWN)
    direction = np.zeros(len(problem.lower))
    direction[used] = -side * solution.ineqlin.marginals[: len(used)]
    if len(free):
        direction[free] = -solution.eqlin.marginals
    if solution.x[-1] > _STRICT:
        anchor = DualPoint.at(solution.x[:m], problem)
        return DualCone(None, nothing, anchor=anchor if _margin(anchor, problem) > 0.0 else None)
    receding = recession(problem, direction)
    return DualCone(None, nothing, recession=receding, note="" if receding else _THIN)


def cheap_anchor(problem: ReducedProblem) -> DualPoint | None:
    """theta = 0 or a small multiple of -1, whichever is more strictly feasible, if one is."""
    low, high = problem.loss.dual_domain(problem.target)
    if problem.free.any() or np.any(low > 0.0) or np.any(high < 0.0):
        return None
    least = 0.5 * min(float(np.min(-low)), float(np.min(high)), 1.0)
    candidates = [DualPoint.zero(problem)]
    if least > 0.0:
        candidates.append(DualPoint.at(np.full(len(problem.target), -least), problem))
    best = max(candidates, key=lambda dual: _margin(dual, problem))
    return best if _margin(best, problem) > 0.0 else None


def _margin(dual: DualPoint, problem: ReducedProblem) -> float:
    """The least ∓w_j / ||a_j||, less what may be rounding, over the constrained coordinates."""
    size = norm(dual.theta) * problem.norms
    if problem.cost is not None:
        size = size + problem.cost.size
    excess = problem.side * dual.correlation + 64.0 * dual.uncertainty(problem)
    excess = excess + (_STRICT + 64.0 * UNIT_ROUNDOFF) * size
    used = problem.constrained & problem.open
    return float(np.min(-excess[used] / problem.norms[used], initial=np.inf))


def _domain_rows(low: Array, high: Array, m: int) -> tuple[sparse.csr_array, Array]:
    """lo + τ <= -theta <= hi - τ, for the ends that are finite."""
    below, above = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    count = len(below) + len(above)
    rows = np.arange(count)
    entries = sparse.csr_array(
        (
            np.concatenate([np.ones(len(below)), -np.ones(len(above))]),
            (rows, np.concatenate([below, above])),
        ),
        shape=(count, m),
    )
    margins = sparse.csr_array(np.ones((count, 1)))
    return sparse.hstack([entries, margins], format="csr"), np.concatenate(
        [-low[below], high[above]]
    )


_UNKNOWN = (
    "No strictly feasible dual point is known, so the gap proved may be larger than it need be."
)
_THIN = "No dual point is strictly feasible: the solution may not be unique."
