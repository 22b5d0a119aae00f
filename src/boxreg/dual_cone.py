"""The dual feasible set, and the way into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Array, Index, Mask
from .duality import DualPoint, feasible_nearby
from .equality_columns import EqualityColumns, EqualityMetric
from .point import Point
from .recession import Recession
from .reduced import ReducedProblem
from .rounding import COMBINATION, MARGIN, STRETCH, norm
from .status import Status

_PASSES = 3
"""How often what rounding leaves outside of the cone is pushed in again, at most."""


@dataclass(frozen=True)
class DualCone:
    """{theta : w_j <= 0 where u_j = inf, w_j >= 0 where l_j = -inf}, and a direction t strictly inside.

    t is orthogonal to the equality columns: those of free coordinates (both bounds infinite), and
    implicit equalities. Where the domain of f* is bounded, or a linear cost shifts the cone, an
    `anchor` takes the place of t: a point strictly inside both sets, towards which every other point
    becomes feasible.

    Where no such t exists, some x >= 0, x ≠ 0 has A x = 0 and the primal solution is not unique. The
    columns that take part are `implicit`: every feasible theta is orthogonal to them. The problem then
    has them among its equality columns (`ReducedProblem.with_equalities`), like those of free
    coordinates.
    """

    direction: DualPoint | None
    """t and Aᵀt; None where nothing is unbounded, or where no direction is known."""
    implicit: Mask
    """Coordinates with one bound that the search found to be implicit equalities."""
    note: str = ""
    """What the user should know about it; empty in the ordinary case."""
    pending: bool = False
    """No direction has been looked for yet, or not for long enough."""
    anchor: DualPoint | None = None
    """A strictly feasible point."""
    pinned: Array | None = None
    """The value of theta in rows where all feasible points have the same one; nan in the others."""
    recession: Recession | None = None
    """A direction along which the objective falls for ever, if one has been found."""

    @property
    def unbounded(self) -> Recession | None:
        """That direction, if the objective has no lower bound along it."""
        known = self.recession
        return known if known is not None and known.status is Status.UNBOUNDED else None

    def push(self, dual: DualPoint, point: Point) -> DualPoint:
        """A feasible point near theta: w_j = 0 on the equality columns, and moved as little along t, or
        towards the anchor, as will do."""
        problem = point.problem
        constrained = problem.constrained
        dual = balanced(self._with_pinned_rows(dual, problem), point)
        if not constrained.any():
            return dual
        excess = excess_over_cone(dual, point)
        if self.anchor is not None:
            return self._toward_anchor(dual, excess, constrained, point)
        if self.direction is None:
            return DualPoint.zero(problem) if np.any(excess[constrained] > 0.0) else dual
        t = self.direction
        slope = interior_slope(t, problem)
        steps = np.divide(excess, slope, out=np.zeros_like(excess), where=constrained)
        step = float(steps.max())
        return dual.plus(step, t) if step > 0.0 else dual

    def _toward_anchor(
        self, dual: DualPoint, excess: Array, constrained: Mask, point: Point
    ) -> DualPoint:
        """(1 - s) theta + s anchor with the least s that will do."""
        anchor = self.anchor
        assert anchor is not None
        spare = np.maximum(-excess_over_cone(anchor, point), 0.0)
        over = np.maximum(excess, 0.0)
        if not np.all(np.isfinite(over)):  # a derivative next to the end of a domain
            return anchor
        share = np.divide(
            over, over + spare, out=np.zeros_like(over), where=constrained & (over > 0.0)
        )
        step = max(float(share.max()), _into_domain(dual, anchor, point))
        if step == 0.0:
            return dual
        # The way there rounds too: a few times that is what must be made up for.
        more = _rounding_between(dual, anchor, step) * point.problem.norms
        over = over + more
        share = np.divide(over, over + spare, out=share, where=constrained & (over > 0.0))
        return dual.toward(anchor, min(max(float(share.max()), step) * STRETCH, 1.0))

    def _with_pinned_rows(self, dual: DualPoint, problem: ReducedProblem) -> DualPoint:
        """theta with the value that every feasible point has in some rows, if there are such rows."""
        if self.pinned is None:
            return dual
        theta = np.where(np.isnan(self.pinned), dual.theta, self.pinned)
        return dual if np.array_equal(theta, dual.theta) else DualPoint.at(theta, problem)

    def kept(self, kept: Index) -> DualCone:
        """The cone over the columns `kept`."""
        return replace(
            self,
            direction=None if self.direction is None else self.direction.kept(kept),
            anchor=None if self.anchor is None else self.anchor.kept(kept),
            implicit=self.implicit[kept],
        )


def _into_domain(dual: DualPoint, anchor: DualPoint, point: Point) -> float:
    """The step towards the anchor after which a point exactly on the equality columns is in dom f*.

    That point lies within `moved` of theta, row by row; 0 where there are no such columns.
    """
    moved, domain = feasible_nearby(point, dual)[1], point.problem.dual_domain
    if moved is None or domain is None:
        return 0.0
    low, high = domain
    over = MARGIN * moved + np.maximum(low + dual.theta, -dual.theta - high)
    spare = np.minimum(-anchor.theta - low, high + anchor.theta)
    used = (moved > 0.0) & (over > 0.0) & np.isfinite(over)
    if not used.any():
        return 0.0
    over, spare = over[used], np.maximum(spare[used], 0.0)
    return float(np.max(over / (over + spare)))


def _rounding_between(dual: DualPoint, anchor: DualPoint, step: float) -> float:
    """What going a step from one point towards the other adds to the error, with a margin."""
    size = norm(dual.theta) + step * norm(anchor.theta)
    return MARGIN * (2.0 * COMBINATION * size + step * anchor.error)


def completed(dual: DualPoint, point: Point) -> DualPoint:
    """theta with its best entries in the rows of a ridge term; theta itself where there is none.

    Row i of column j alone, with ½ h x_j² in the objective, has a part in w_j = g_j + theta_i and in no
    other slope. With x = g_j / h, clipped to the bounds of x_j, theta_i = -h x makes the dual objective
    as large as the other rows let it be, and w_j is 0 or has the sign that the bounds ask for: every
    theta can be made feasible. Signs that rounding leaves in doubt are brought to the safe side.
    """
    problem = point.problem
    rows = problem.own_rows
    if rows is None:
        return dual
    h = point.curvature[rows]
    pull = dual.correlation - dual.theta[rows]
    with np.errstate(over="ignore"):  # where h is next to 0; such a point is as good as none
        best = -h * np.clip(pull / h, problem.lower, problem.upper)
    if not np.all(np.isfinite(best)):
        return dual
    dual = _moved_in(rows, best - dual.theta[rows], dual)
    for _ in range(_PASSES):  # a correction has a rounding error of its own
        beyond = np.where(problem.constrained, np.maximum(excess_over_cone(dual, point), 0.0), 0.0)
        if not beyond.any():
            break
        dual = _moved_in(rows, -2.0 * problem.side * beyond, dual)
    return dual


def _moved_in(rows: Index, change: Array, dual: DualPoint) -> DualPoint:
    """theta with the entries in rows of one column each changed, and w with them."""
    t = np.zeros_like(dual.theta)
    t[rows] = change
    return dual.plus(1.0, DualPoint(t, change, 0.0))


def balanced(dual: DualPoint, point: Point) -> DualPoint:
    """theta moved to w_j = 0 on the equality columns, in the metric of f''."""
    found = point.equalities(dual.theta)
    if found is None or found.metric is None:
        return dual
    return _orthogonalised(dual, found.columns, found.metric, point.problem, DualPoint.at)


def off_equality_columns(t: Array, problem: ReducedProblem) -> DualPoint:
    """The direction t, or what is left of it when the equality columns are taken out."""
    made = DualPoint.direction(t, problem)
    equality = problem.equality
    metric = None if equality is None else equality.metric(None)
    if equality is None or metric is None:
        return made
    return _orthogonalised(made, equality, metric, problem, DualPoint.direction)


def on_equality_columns(theta: Array, problem: ReducedProblem, movable: Mask) -> DualPoint:
    """theta with w_j = 0 on the equality columns up to rounding, moved only in the rows that may."""
    made, equality = DualPoint.at(theta, problem), problem.equality
    metric = None if equality is None else equality.metric(None, ~movable)
    if equality is None or metric is None:
        return made
    return _orthogonalised(made, equality, metric, problem, DualPoint.at)


def _orthogonalised(
    dual: DualPoint,
    equality: EqualityColumns,
    metric: EqualityMetric,
    problem: ReducedProblem,
    made: Callable[[Array, ReducedProblem], DualPoint],
) -> DualPoint:
    """What `made` makes of theta, moved until A_Bᵀtheta = c_B, or 0, up to rounding.

    Once is enough unless most of theta lies in the span of the columns: then what is left of it is
    small next to the rounding errors of the first pass.
    """
    covered = equality.covered(metric)
    for _ in range(_PASSES):
        off = dual.correlation
        if np.all(np.abs(off[covered]) <= 2.0 * dual.uncertainty(problem)[covered]):
            break
        dual = made(dual.theta - metric.correction(off[equality.index]), problem)
    return dual


def excess_over_cone(dual: DualPoint, point: Point) -> Array:
    """w_j, or -w_j, plus a few times its rounding error: theta is safely inside where this is <= 0.

    Meaningful for constrained coordinates only.
    """
    problem = point.problem
    dual, _ = feasible_nearby(point, dual)
    rounding = dual.error + COMBINATION * dual.size
    return problem.side * dual.correlation + MARGIN * problem.uncertainty(rounding, dual.drift)


def interior_slope(t: DualPoint, problem: ReducedProblem) -> Array:
    """∓a_jᵀt less its rounding error: the rate at which a step along t gains feasibility."""
    rounding = t.error + COMBINATION * t.size
    return -problem.side * t.correlation - MARGIN * rounding * problem.norms


def interior_margin(t: DualPoint, problem: ReducedProblem, constrained: Mask) -> float:
    """min_j ∓a_jᵀt / (||a_j|| ||t||): the sine of the angle by which t is inside; <= 0 if it is not."""
    size = t.size
    if size == 0.0:
        return 0.0
    slope = interior_slope(t, problem)[constrained]
    return float(np.min(slope / problem.norms[constrained])) / size
