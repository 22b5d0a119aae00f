"""Gordan's alternative: a direction strictly inside the dual cone, or a proof that there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Index, Mask
from .budget import Budget
from .designs.projected import ProjectedDesign
from .designs.stacked import RowDesign, StackedDesign
from .designs.survey import Survey
from .dual_cone import DualCone, interior_margin, off_equality_columns
from .losses.least_squares import LeastSquares
from .problem import Problem
from .reduced import ReducedProblem

_DISTINCT = 1e-8
"""A margin, or a part of a column, at or below this counts as zero."""

_LEAST_MARGIN = 1e-13
"""A direction with a smaller margin is not told from one without: it is of the size of rounding."""

_NEGLIGIBLE = 1e-13
"""Directions below this, relative to the largest, are left out of the span of columns."""

_SHARE = 10.0
"""Work that a search for a direction may take, in units of the run so far."""


@dataclass(frozen=True)
class InteriorSearch:
    """Exactly one holds: Aᵀt < 0 for some t, or A λ = 0 for some λ >= 0, λ ≠ 0.

    Both are answers of one non-negative least-squares problem,

        minimise ½ ||A λ||² + ½ (sum_j ||a_j|| λ_j - 1)²    over λ >= 0,

    whose minimum is ½ d²/(1 + d²), d the distance from 0 to the hull of the unit columns. A dual
    point (t, τ) of it has a_jᵀt + τ ||a_j|| <= 0 and, where its objective is positive, τ > 0: it is a
    direction inside the cone, near the one with the greatest margin. A minimum of 0 exhibits λ. The
    row of norms makes (0, -1) interior for this problem itself, so the search ends here.

    Columns of coordinates with no lower bound enter with the other sign. The columns of free ones are
    projected out from the start.

    Where A λ = 0, the columns in the support of λ are implicit equalities. They are projected out and
    the search goes on for the others, until a direction is found or no column is left.
    """

    problem: ReducedProblem
    constrained: Mask

    def cone(self) -> DualCone:
        """The cone with its direction, and its implicit equalities if it has any."""
        budget = self.problem.budget(_SHARE)
        implicit = np.zeros_like(self.constrained)
        basis = span(self.problem, self.problem.free) if self.problem.free.any() else None
        while True:
            remaining = self.constrained & ~implicit
            if not remaining.any():
                return DualCone(None, implicit, note=not_unique(implicit))
            direction, support = self._alternative(remaining, basis, budget)
            if direction is not None:
                t = off_equality_columns(direction, self.problem.with_equalities(implicit))
                return DualCone(t, implicit, note=not_unique(implicit))
            if support is None or not support.any():
                return DualCone(None, np.zeros_like(implicit), note=_UNDECIDED)
            implicit = implicit | support
            basis = span(self.problem, implicit | self.problem.free)
            implicit = implicit | (remaining & inside(self.problem, basis))

    def _alternative(
        self, remaining: Mask, basis: Array | None, budget: Budget
    ) -> tuple[Array | None, Mask | None]:
        """A direction for the remaining columns, or the support of a λ, or neither in the budget."""
        from .driver import run
        from .dual_updates import LineSearch
        from .method import Method
        from .safe_regions import TwoPointBall
        from .solvers import ProjectedGradient, WorkingSet
        from .stopping import Limits

        held = self.problem
        design, norms = held.design, held.norms
        if basis is not None:
            design = ProjectedDesign(design, basis, norms)
        m, n = design.shape
        stacked = StackedDesign(design, RowDesign(held.side * norms))
        hull = Problem(
            design=stacked,
            target=np.append(np.zeros(m), 1.0),
            loss=LeastSquares(),
            lower=np.where(remaining & held.no_lower, -np.inf, 0.0),
            upper=np.where(remaining & held.no_upper, np.inf, 0.0),
            survey=Survey(np.hypot(norms, norms)),
        )
        method = Method(
            solver=WorkingSet() if design.has_columns else ProjectedGradient(),
            dual=LineSearch(),
            region=TwoPointBall(),
            direction=np.append(np.zeros(m), -1.0),
            screening=True,
        )
        decided = 0.5 * _DISTINCT**2
        outcome = run(
            hull,
            method,
            Limits(
                target=decided,
                max_iter=3 * (m + n) + 100,
                deadline=held.work.deadline,
                work=budget.left,
            ),
            stop=lambda seen: (
                seen.objective <= decided
                or (seen.objective - seen.gap > decided and seen.gap <= 0.5 * seen.objective)
            ),
        )
        held.work.add(outcome.work * n)
        support = remaining & (np.abs(outcome.x) * norms > _DISTINCT)
        candidates = [outcome.theta[:-1]]
        if design.has_columns and 0 < np.count_nonzero(support) <= m:
            candidates.append(self._equidistant(np.flatnonzero(support), basis))
        for t in candidates:
            away = t if basis is None else t - basis @ (basis.T @ t)
            direction = off_equality_columns(away, held)
            if interior_margin(direction, held, remaining) > _LEAST_MARGIN:
                return direction.theta, None
        return None, support if outcome.certificate.objective <= decided else None

    def _equidistant(self, support: Index, basis: Array | None) -> Array:
        """The t of least norm with ±a_jᵀt = -||a_j|| on the support of λ.

        In exact arithmetic that is the direction of A λ. Solved for by orthogonal factors it keeps its
        margin where the hull comes so near to 0 that A λ, as computed, is mostly rounding.
        """
        held = self.problem
        unit = held.design.columns(support) * (held.side[support] / held.norms[support])
        if basis is not None:
            unit = unit - basis @ (basis.T @ unit)
        held.work.add(len(support) ** 2)
        return np.asarray(np.linalg.lstsq(unit.T, -np.ones(len(support)), rcond=None)[0])


_UNDECIDED = (
    "No direction strictly inside the dual cone was found within the budget, so the dual point is 0 "
    "and the gap is the objective itself; pass direction=... if one is known."
)


def span(problem: ReducedProblem, chosen: Mask) -> Array:
    """Orthonormal basis of the span of the chosen columns."""
    index = np.flatnonzero(chosen)
    unit = problem.design.columns(index) / problem.norms[index]
    left, values, _ = np.linalg.svd(unit, full_matrices=False)
    return np.ascontiguousarray(left[:, values > _NEGLIGIBLE * values[0]])


def inside(problem: ReducedProblem, basis: Array) -> Mask:
    """Columns that lie in the span of a basis.

    Where theta is orthogonal to the span, their product with every feasible theta is 0 as well.
    """
    norms = problem.norms
    found = np.zeros(len(norms), dtype=bool)
    for start in range(0, len(norms), 256):
        index = np.arange(start, min(start + 256, len(norms)))
        block = problem.design.columns(index)
        rest = np.linalg.norm(block - basis @ (basis.T @ block), axis=0)
        found[index] = rest <= _DISTINCT * norms[index]
    problem.work.add(2 * len(norms) * basis.shape[1])
    return found


def not_unique(implicit: Mask) -> str:
    """What the user should know of implicit equalities."""
    count = int(np.count_nonzero(implicit))
    if not count:
        return ""
    return (
        "As far as float64 can tell the solution is not unique: some non-negative combination of "
        f"{count} columns with no upper bound is zero up to rounding, and no direction strictly inside "
        "the dual cone is known."
    )
