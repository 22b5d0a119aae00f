"""The dual feasible set, and the way into it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import Array, Index, Mask
from .duality import DualPoint
from .point import Point
from .reduced import ReducedProblem
from .rounding import UNIT_ROUNDOFF, norm

_MARGIN = 3.0
"""Feasibility is left with this many times its rounding error to spare, so that the certificate,
which computes the products again, proves it too."""


@dataclass(frozen=True)
class DualCone:
    """{theta : a_jᵀ theta <= 0 for every j with u_j = inf} and a direction t strictly inside it.

    Where no such t exists, some x >= 0, x ≠ 0 has A x = 0 and the primal solution is not unique. The
    columns that take part are `implicit`: every feasible theta is orthogonal to them. A theta is
    then projected off their span, which is exact only up to rounding, so gaps rest on the
    assumption that some solution respects `implied_upper` there. Screening may not rest on it: it
    uses `provable`, a pair that is exactly orthogonal to the implicit columns.
    """

    direction: DualPoint | None
    """t and Aᵀt; None where nothing is unbounded, or where no direction is known."""
    implicit: Mask
    basis: Array | None = None
    """Orthonormal basis of the span of the implicit columns."""
    exact_rows: Mask | None = None
    """Rows in which every implicit column is zero."""
    exact_direction: DualPoint | None = None
    """t with its other rows set to 0, if that is still inside the cone of the other columns."""
    note: str = ""
    """What the user should know about it; empty in the ordinary case."""
    pending: bool = False
    """No direction has been looked for yet."""

    def push(self, dual: DualPoint, problem: ReducedProblem) -> DualPoint:
        """The nearest feasible point along t: theta + ε t with the least ε >= 0 that will do."""
        constrained = problem.unbounded & ~self.implicit
        if self.basis is not None:
            dual = _project(dual, self.basis, problem)
        if not constrained.any():
            return dual
        excess = excess_over_cone(dual, problem)
        if self.direction is None:
            return DualPoint.zero(problem) if np.any(excess[constrained] > 0.0) else dual
        t = self.direction
        slope = interior_slope(t, problem)
        steps = np.divide(excess, slope, out=np.zeros_like(excess), where=constrained)
        step = float(steps.max())
        return dual.plus(step, t) if step > 0.0 else dual

    def kept(self, kept: Index) -> DualCone:
        """The cone over the columns `kept`."""
        exact = self.exact_direction
        return replace(
            self,
            direction=None if self.direction is None else self.direction.kept(kept),
            exact_direction=None if exact is None else exact.kept(kept),
            implicit=self.implicit[kept],
        )

    def provable(self, point: Point) -> tuple[Point, DualPoint] | None:
        """A primal-dual pair whose gap needs no assumption, where implicit columns forbid the best.

        theta is 0 in every row that an implicit column touches, so its products with them are 0
        exactly: they are given norm 0, and with it no rounding error. None where too few rows remain.
        """
        if self.exact_direction is None or self.exact_rows is None:
            return None
        problem = replace(point.problem, norms=np.where(self.implicit, 0.0, point.problem.norms))
        theta = np.where(self.exact_rows, point.residual, 0.0)
        cone = DualCone(self.exact_direction, self.implicit)
        return point.projected(problem), cone.push(DualPoint.at(theta, problem), problem)


def _project(dual: DualPoint, basis: Array, problem: ReducedProblem) -> DualPoint:
    """The part of theta orthogonal to the basis, by two passes."""
    theta = dual.theta - basis @ (basis.T @ dual.theta)
    theta -= basis @ (basis.T @ theta)
    return DualPoint.at(theta, problem)


def excess_over_cone(dual: DualPoint, problem: ReducedProblem) -> Array:
    """a_jᵀtheta plus a few times its rounding error: theta is safely inside where this is <= 0."""
    rounding = dual.error + 6.0 * UNIT_ROUNDOFF * norm(dual.theta)
    return dual.correlation + _MARGIN * rounding * problem.norms


def interior_slope(t: DualPoint, problem: ReducedProblem) -> Array:
    """-a_jᵀt less its rounding error: the rate at which a step along t gains feasibility."""
    rounding = t.error + 6.0 * UNIT_ROUNDOFF * norm(t.theta)
    return -t.correlation - _MARGIN * rounding * problem.norms


def interior_margin(t: DualPoint, problem: ReducedProblem, constrained: Mask) -> float:
    """min_j -a_jᵀt / (||a_j|| ||t||): the sine of the angle by which t is inside; <= 0 if it is not."""
    size = norm(t.theta)
    if size == 0.0:
        return 0.0
    slope = interior_slope(t, problem)[constrained]
    return float(np.min(slope / problem.norms[constrained])) / size
