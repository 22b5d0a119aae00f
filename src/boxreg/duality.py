"""Dual points and the duality gap, with their rounding errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .arrays import Array, Index
from .losses.least_squares import half_square_gap
from .point import Point
from .reduced import ReducedProblem
from .rounding import COMBINATION, FAINT, SLACK, TINY, UNDERFLOW, UNIT_ROUNDOFF, dot, gamma, norm


@dataclass(frozen=True)
class DualPoint:
    """theta together with w = A_Sᵀ theta - c, kept as one value.

    theta is exact by definition (any vector is a dual candidate); w_j is off by at most
    error · ||a_j|| + drift · size_j, size_j that of the cost c_j, and by at most `entries_j`.
    """

    theta: Array
    correlation: Array
    error: float
    drift: float = 0.0
    entries: Array | None = None
    """Bounds on the errors of single w_j, inf where there is none; None where there are none at all."""

    @cached_property
    def size(self) -> float:
        """||theta||, as computed."""
        return norm(self.theta)

    @classmethod
    def at(cls, theta: Array, problem: ReducedProblem) -> DualPoint:
        """Any theta, by one product."""
        error = problem.correlation_error(norm(theta))
        return cls(theta, problem.slopes(theta), error, problem.cost_drift)

    @classmethod
    def direction(cls, t: Array, problem: ReducedProblem) -> DualPoint:
        """A direction t with Aᵀt: what is added to dual points, so the cost has no part in it."""
        return cls(t, problem.correlate(t), problem.correlation_error(norm(t)))

    @classmethod
    def zero(cls, problem: ReducedProblem) -> DualPoint:
        """The point theta = 0: feasible whatever the bounds, unless a cost forbids it."""
        m, n = problem.design.shape
        if problem.cost is None:
            return cls(np.zeros(m), np.zeros(n), 0.0)
        return cls(np.zeros(m), -problem.cost.c, 0.0, problem.cost.unit)

    @classmethod
    def residual(cls, point: Point) -> DualPoint:
        """The point theta = rho (feasible only where every bound is finite)."""
        drift = point.problem.cost_drift
        made = cls(point.residual, point.correlation, point.correlation_error, drift)
        return made._of_size(point.residual_norm)

    def plus(self, step: float, direction: DualPoint) -> DualPoint:
        """Theta + step · direction, its correlation by linearity rather than by a product."""
        rounding = COMBINATION * (self.size + abs(step) * direction.size)
        return DualPoint(
            self.theta + step * direction.theta,
            self.correlation + step * direction.correlation,
            self.error + abs(step) * direction.error + rounding,
            self.drift + COMBINATION,
        )

    def toward(self, other: DualPoint, step: float) -> DualPoint:
        """(1 - step) theta + step other, for step in [0, 1]."""
        size = (1.0 - step) * self.size + step * other.size
        rounding = COMBINATION * size
        return DualPoint(
            (1.0 - step) * self.theta + step * other.theta,
            (1.0 - step) * self.correlation + step * other.correlation,
            (1.0 - step) * self.error + step * other.error + rounding,
            max(self.drift, other.drift) + COMBINATION,
        )

    def kept(self, kept: Index) -> DualPoint:
        """The same theta over the columns `kept`."""
        entries = None if self.entries is None else self.entries[kept]
        made = replace(self, correlation=self.correlation[kept], entries=entries)
        return made._of_size(self.size)

    def entry_by_entry(self, index: Index, problem: ReducedProblem) -> DualPoint:
        """The same with the chosen w_j computed anew, and their errors bounded entry by entry.

        gamma sum_i |a_ij| |theta_i| is never much more than gamma ||a_j|| ||theta||, and far less where
        theta is next to 0 in the rows where a_j is not. It takes two products with each of the columns.
        """
        if not problem.design.entries_known:
            return self
        w, entries = self.correlation.copy(), np.full(len(self.correlation), np.inf)
        w[index] = problem.slopes_of(index, self.theta)
        entries[index] = problem.entry_errors(index, self.theta, problem.cost_drift)
        return replace(self, correlation=w, entries=entries)

    def _of_size(self, size: float) -> DualPoint:
        """The same, its size being known."""
        vars(self)["size"] = size
        return self

    def uncertainty(self, problem: ReducedProblem) -> Array:
        """How far each w_j may be from the truth."""
        doubt = problem.uncertainty(self.error, self.drift)
        return doubt if self.entries is None else np.minimum(doubt, self.entries)


def feasible_nearby(point: Point, dual: DualPoint) -> tuple[DualPoint, Array | None]:
    """The dual point as it stands for one with w_j = 0 exactly on the equality columns.

    w_j = 0 cannot hold in floating point. But an exact theta' lies within a proved distance of theta
    (see `EqualityMetric`); every statement about theta' is one about theta with that much more error.
    Returned are theta with that error, and the distance row by row: None where there are no equality
    columns. For some that depend on others w_j = 0 may stay unproved (`Equalities.dependent`).
    """
    if point.problem.equality is None:
        return dual, None
    known = point.nearby.get(id(dual))
    if known is not None and known[0] is dual:
        return known[1], known[2]
    near, moved = _moved_to_equalities(point, dual)
    point.nearby[id(dual)] = (dual, near, moved)
    return near, moved


def _moved_to_equalities(point: Point, dual: DualPoint) -> tuple[DualPoint, Array | None]:
    found = point.equalities(dual.theta)
    if found is None or found.metric is None:
        return dual, None
    index = found.columns.index
    off = np.abs(dual.correlation[index]) + dual.uncertainty(point.problem)[index]
    moved = found.metric.distance(off)
    return DualPoint(dual.theta, dual.correlation, dual.error + norm(moved), dual.drift), moved


def duality_gap(point: Point, dual: DualPoint) -> float:
    """Upper bound, rounding included, on G(x, theta) = P(x) - D(theta).

    Written as a sum of non-negative terms, so that nothing cancels however small it is:

        G = [F(p) + F*(-theta) + <p, theta>] + sum_j (u_j - x_j) w_j⁺ + (x_j - l_j) w_j⁻

    (the first bracket is the Fenchel–Young gap; <p, theta> = <z, theta> + sum_j x_j (w_j + c_j)). Each
    w_j is taken at the worse end of its error interval. +inf where theta is not proved feasible, that
    is where u_j = inf and w_j may be positive, or l_j = -inf and w_j may be negative. On equality
    columns w_j = 0 holds for a point next to theta (see `feasible_nearby`); where that is not proved
    (`Equalities.dependent`) it is taken for granted, and then the bound rests on an assumption.
    """
    known = point.gaps.get(id(dual))
    if known is not None and known[0] is dual:
        return known[1]
    gap = _computed_gap(point, dual)
    point.gaps[id(dual)] = (dual, gap)
    return gap


def _computed_gap(point: Point, dual: DualPoint) -> float:
    dual, moved = feasible_nearby(point, dual)
    box = _box_terms(point, dual)
    if not box < np.inf:
        return np.inf
    return (_bracket(point, dual.theta, moved) + box) * SLACK


def rounding_share(point: Point, dual: DualPoint) -> float:
    """How much of `duality_gap` is allowance for rounding: what no further iteration can remove.

    The rest is what the gap would be if w were exact as computed; that theta is off the equality
    columns' orthogonal complement by more than rounding counts there. A gap next to the end of float64's
    range is an allowance too.
    """
    problem = point.problem
    near, moved = feasible_nearby(point, dual)
    exact, shifted = feasible_nearby(
        point, DualPoint(dual.theta, dual.correlation, 0.0, 0.0, dual.entries)
    )
    box = _box_terms(point, near)
    if not box < np.inf:
        return 0.0
    share = max(box - _box_terms(point, exact), 0.0) + FAINT * len(dual.theta)
    if moved is None and problem.smoothness.known:
        return share + _cost_of_prediction_error(point, _distance(point, dual.theta))
    bracket = _bracket(point, dual.theta, moved)
    if not np.isfinite(bracket):
        return share
    return share + max(bracket - _ends(point, dual.theta, shifted, [point.prediction]), 0.0)


def _box_terms(point: Point, dual: DualPoint) -> float:
    """What `_computed_box_terms` says, computed once for each dual point."""
    known = point.boxes.get(id(dual))
    if known is not None and known[0] is dual:
        return known[1]
    box = _computed_box_terms(point, dual)
    point.boxes[id(dual)] = (dual, box)
    return box


def _computed_box_terms(point: Point, dual: DualPoint) -> float:
    """sum_j (u_j - x_j) w_j⁺ + (x_j - l_j) w_j⁻ with each w_j as bad as its uncertainty allows.

    Where an equality column depends on others, w_j is taken to be 0 as theirs are: only what rounding
    cannot have made of that counts, for a solution no farther away than `implied_reach`.
    """
    problem = point.problem
    w, charged, (below, above) = dual.correlation, dual.uncertainty(problem), point.room
    found = point.equalities(dual.theta)
    if found is not None:
        settled = problem.equal & (problem.norms > 0.0) & ~found.dependent
        w, charged = np.where(settled, 0.0, w), np.where(settled, 0.0, charged)
        charged = np.where(found.dependent, -charged, charged)
    rising, falling = np.maximum(charged + w, 0.0), np.maximum(charged - w, 0.0)
    if not np.max(rising, initial=0.0) + np.max(falling, initial=0.0) < np.inf:
        return np.inf  # products with theta have overflowed
    if problem.some_unbounded:
        no_upper, no_lower = problem.no_upper, problem.no_lower
        if found is not None and not found.proved:
            reach, unproved = implied_reach(point.x, problem), found.dependent
            below = np.where(unproved & no_lower, reach, below)
            above = np.where(unproved & no_upper, reach, above)
            no_upper, no_lower = no_upper & ~unproved, no_lower & ~unproved
        if (rising * no_upper).any() or (falling * no_lower).any():
            return np.inf
    total = (dot(above, rising) + dot(below, falling)) * (1.0 + gamma(len(above) + 4))
    if total < UNDERFLOW:  # products of positive numbers may have underflowed
        total += TINY * bool(np.any((above > 0.0) & (rising > 0.0)))
        total += TINY * bool(np.any((below > 0.0) & (falling > 0.0)))
    return total


def _bracket(point: Point, theta: Array, moved: Array | None) -> float:
    """Upper bound on F(p) + F*(-theta') + <p, theta'> for the true p and |theta' - theta| <= moved.

    The terms are convex in p_i and in theta_i: over intervals they are largest at the ends. Where f'
    is Lipschitz a cheaper bound serves for p.
    """
    problem = point.problem
    p = point.prediction
    if not problem.smoothness.known:
        return _ends(point, theta, moved, list(point.prediction_ends))
    apart = _distance(point, theta)
    cost = _cost_of_prediction_error(point, apart, moved)
    if moved is not None:
        return _ends(point, theta, moved, [p]) + cost
    if problem.loss.half_square:
        return half_square_gap(apart, point.residual_norm) + cost
    known = point.brackets.get(id(theta))
    if known is None or known[0] is not theta:
        known = (theta, problem.loss.fenchel_young(p, theta, problem.target))
        point.brackets[id(theta)] = known
    return known[1] + cost


def _distance(point: Point, theta: Array) -> float:
    """||theta - rho||, as computed."""
    if theta is point.residual:
        return 0.0
    known = point.distances.get(id(theta))
    if known is None or known[0] is not theta:
        known = point.distances[id(theta)] = (theta, norm(theta - point.residual))
    return known[1]


def _ends(point: Point, theta: Array, moved: Array | None, predictions: list[Array]) -> float:
    """The Fenchel–Young gap with every row at the worst of the predictions and ends of theta."""
    problem = point.problem
    terms = np.zeros_like(theta)
    for prediction in predictions:
        for end in [theta] if moved is None else [theta + moved, theta - moved]:
            found = problem.loss.fenchel_young_terms(prediction, end, problem.target)
            terms = np.maximum(terms, found)
    return float(np.sum(terms)) * (1.0 + gamma(len(terms) + 1))


def _cost_of_prediction_error(point: Point, apart: float, moved: Array | None = None) -> float:
    """What the rounding error e of the prediction can add to the Fenchel–Young gap.

    It is convex in p with gradient theta - rho(p), L-Lipschitz: at most ||theta - rho|| e + L e² / 2,
    ||theta - rho|| as computed being `apart`.
    """
    error = point.prediction_error
    if error == 0.0:
        return 0.0
    loss = point.problem.loss
    rounding = 2.0 * UNIT_ROUNDOFF * loss.roundoff_derivative * point.residual_norm
    slope = apart + rounding + (0.0 if moved is None else norm(moved))
    cost = slope * error + 0.5 * point.problem.smoothness.largest * error * error
    return cost if cost >= UNDERFLOW else cost + TINY


def implied_reach(x: Array, problem: ReducedProblem) -> Array:
    """How far from x some solution is taken to be where nothing proved bounds it.

    A thousand times the larger of the current value and the coefficient that would explain the
    whole target with that column alone. This is an assumption, and certificates that rest on it say
    so.
    """
    norms = problem.norms
    alone = np.divide(norm(problem.target), norms, out=np.zeros_like(norms), where=norms > 0)
    room = np.where(problem.no_lower, np.abs(x), x - np.where(problem.no_lower, 0.0, problem.lower))
    return 1e3 * np.maximum(room, alone)
