"""Directions strictly inside the dual cone, by name or found (the paper's Proposition 2 and beyond)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .arrays import Array, Mask
from .dual_cone import DualCone, interior_margin, off_equality_columns
from .duality import DualPoint
from .interior import InteriorSearch
from .phase_one import cheap_anchor, downwards, strictly_feasible
from .reduced import ReducedProblem

_USEFUL = 1e-6
"""A cheap direction with a smaller margin is passed over: a step along it costs too much."""

_FAIR = 1e-3
"""With a margin like this an exact solver loses nothing that matters."""

_GOOD = 0.3
"""With a margin like this no other direction is worth its products."""


def ones(problem: ReducedProblem, constrained: Mask) -> Array:
    """-1: interior when A >= 0 has no zero column (case 3)."""
    return np.full(len(problem.target), -1.0)


def mean(problem: ReducedProblem, constrained: Mask) -> Array:
    """Minus the mean of the constrained columns (cases 2 and 3), those with no lower bound negated."""
    weights = problem.side * constrained
    return -problem.predict(weights / np.count_nonzero(constrained)) + problem.offset


def unit_mean(problem: ReducedProblem, constrained: Mask) -> Array:
    """Minus the mean of the constrained columns scaled to unit norm: blind to column scaling."""
    weights = np.divide(
        problem.side, problem.norms, out=np.zeros_like(problem.norms), where=constrained
    )
    return -problem.predict(weights / np.count_nonzero(constrained)) + problem.offset


def data(problem: ReducedProblem, constrained: Mask) -> Array:
    """-y: interior when every a_jᵀy > 0."""
    return -problem.target


def most_correlated(problem: ReducedProblem, constrained: Mask) -> Array:
    """Minus the column most correlated with the others on average (case 4)."""
    return -_column(problem, constrained, np.argmax)


def least_correlated(problem: ReducedProblem, constrained: Mask) -> Array:
    """Minus the column least correlated with the others on average (case 4)."""
    return -_column(problem, constrained, np.argmin)


def least_squares(problem: ReducedProblem, constrained: Mask) -> Array:
    """The t of least norm with ±a_jᵀt = -||a_j|| for all j: interior when rank A = n <= m (case 1)."""
    from scipy.sparse.linalg import LinearOperator, lsmr

    used = np.flatnonzero(constrained)
    scale = 1.0 / problem.norms[used]

    def products(t: Array) -> Array:
        return problem.correlate(np.ravel(t))[used] * scale

    def combinations(v: Array) -> Array:
        x = np.zeros(len(problem.norms))
        x[used] = np.ravel(v) * scale
        return problem.predict(x) - problem.offset

    shape = (len(used), len(problem.target))
    a: Any = LinearOperator(shape, matvec=products, rmatvec=combinations, dtype=np.float64)
    return np.asarray(lsmr(a, -problem.side[used], atol=1e-3, btol=1e-3, maxiter=100)[0])


DIRECTIONS: dict[str, Callable[[ReducedProblem, Mask], Array]] = {
    "ones": ones,
    "mean": mean,
    "most_correlated": most_correlated,
    "least_correlated": least_correlated,
    "data": data,
    "least_squares": least_squares,
}


def first_cone(
    problem: ReducedProblem, direction: str | Array, sums: Array | None, exact: bool
) -> DualCone:
    """The dual cone as it is known at the start of a run.

    The search for a direction is put off where A has negative entries, or the solver is `exact` and no
    cheap direction will do, and nobody has named one: it may cost more than the run, and a residual that
    is nearly feasible can do without (see `local_push`). An `exact` solver ends with residuals so close
    to the cone that any direction will do, and products for a better one than -1 are not worth their
    time.
    """
    constrained = problem.constrained & problem.open
    named = not isinstance(direction, str) or direction != "auto"
    if named or not constrained.any():
        return build_cone(problem, direction, sums)
    nothing = np.zeros_like(constrained)
    if not is_cone(problem):
        anchor = cheap_anchor(problem, sums)
        return DualCone(None, nothing, anchor=anchor, pending=anchor is None)
    if not problem.design.nonnegative:
        return DualCone(None, nothing, pending=True)
    if exact and sums is not None:
        flat = _flat(problem, sums)
        if interior_margin(flat, problem, constrained) >= _FAIR:
            return DualCone(flat, nothing)
        cheap = _cheap_direction(problem, constrained, sums)
        return DualCone(cheap, nothing, pending=cheap is None)
    return build_cone(problem, direction, sums)


def build_cone(
    problem: ReducedProblem, direction: str | Array, sums: Array | None = None
) -> DualCone:
    """The dual cone of a problem with the direction asked for, checked, or with one found.

    `sums` is Aᵀ1, where it is known.
    """
    constrained = problem.constrained & problem.open
    nothing = np.zeros_like(constrained)
    if not constrained.any():
        return DualCone(None, nothing)
    if not is_cone(problem):
        return strictly_feasible(problem)
    if isinstance(direction, str) and direction == "auto":
        cheap = _cheap_direction(problem, constrained, sums)
        if cheap is None:
            return InteriorSearch(problem, constrained).cone()
        return DualCone(cheap, nothing)
    vector = (
        DIRECTIONS[direction](problem, constrained) if isinstance(direction, str) else direction
    )
    t = off_equality_columns(vector, problem)
    if interior_margin(t, problem, constrained) <= 0.0:
        worst = int(np.argmax(np.where(constrained, problem.side * t.correlation, -np.inf)))
        name = repr(direction) if isinstance(direction, str) else "the vector given"
        raise ValueError(
            f"direction: {name} is not strictly inside the dual cone of this A: it needs "
            f"a_jᵀt < 0 for every column with upper = inf (> 0 with lower = -inf), but column "
            f"{problem.index[worst]} has a_jᵀt = {t.correlation[worst]:.3g}; direction='auto' finds "
            "one where one exists"
        )
    return DualCone(t, nothing)


def _cheap_direction(
    problem: ReducedProblem, constrained: Mask, sums: Array | None
) -> DualPoint | None:
    """The first of the cheap candidates that will do."""
    for candidate in _cheap_candidates(problem, constrained, sums):
        if interior_margin(candidate, problem, constrained) > _USEFUL:
            return candidate
    return None


def _cheap_candidates(
    problem: ReducedProblem, constrained: Mask, sums: Array | None
) -> Iterator[DualPoint]:
    """Directions worth a few products, the most promising first."""

    def made(vector: Array) -> DualPoint:
        return off_equality_columns(vector, problem)

    def margin(t: DualPoint) -> float:
        return interior_margin(t, problem, constrained)

    if problem.design.nonnegative:
        flat = _flat(problem, sums)
        if margin(flat) >= _GOOD:
            yield flat
        else:
            yield max(flat, made(unit_mean(problem, constrained)), key=margin)
    else:
        yield made(unit_mean(problem, constrained))
        yield made(least_squares(problem, constrained))


def _flat(problem: ReducedProblem, sums: Array | None) -> DualPoint:
    """The direction -1, without a product if Aᵀ1 is known."""
    if problem.equality is not None:
        return off_equality_columns(np.full(len(problem.target), -1.0), problem)
    return downwards(problem, sums)


def is_cone(problem: ReducedProblem) -> bool:
    """Whether every multiple of a feasible dual point is one: no cost, and f* finite everywhere."""
    if problem.cost is not None or problem.loss.quadratic:
        return problem.cost is None
    low, high = problem.loss.dual_domain(problem.target)
    return bool(np.all(low == -np.inf) and np.all(high == np.inf))


def _column(
    problem: ReducedProblem, constrained: Mask, choose: Callable[[Array], np.intp]
) -> Array:
    """The column with the greatest or least correlation with the mean of the unit columns."""
    used = np.flatnonzero(constrained)
    centre = -unit_mean(problem, constrained)
    affinity = (problem.side * problem.correlate(centre))[used] / problem.norms[used]
    problem.work.add(1)
    chosen = used[int(choose(affinity))]
    return problem.design.columns(np.array([chosen]))[:, 0] * float(problem.side[chosen])
