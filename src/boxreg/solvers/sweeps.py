"""Sweeps of coordinate descent, one after the other, and what is known after each."""

from __future__ import annotations

from math import log

import numpy as np

from ..arrays import Array, Mask
from ..designs.epochs import Sweep, SweepTerms, Swept
from ..point import Point
from ..reduced import ReducedProblem
from ..rounding import SLACK, UNIT_ROUNDOFF, dot, gamma, norm
from ..settings import current
from .metric import metric

_AHEAD = 2.0
"""The first sweep leaves out what is held at a bound by this many times the largest step from there."""

_HELD = 0.5
"""The others leave out what is held by this many times the largest step of the one before."""

_LESS, _LEAST_CAUTION = 0.1, 1e-3
"""What each sweep leaves of the caution that models are made with, and what is left of it in any case:
rho / h would lose digits where f'' is 0 and rho is not, as in the tails of Huber's loss."""

_STILL = 1e-3
"""Second derivatives do not change any more when a sweep has come down to this share of the first."""

_LEVEL = 1e-12
"""A share of the objective that rounding may add to it."""

_BELOW = 2.5
"""Steps are small enough at this many times what rounding may do to a slope, which is a bound and seldom
met: at a tenth of that no smaller gap is proved."""

_BEYOND = 8.0
"""Slopes that are to be beyond 0 are by this many times what rounding may do to them."""


class Sweeps:
    """Sweeps from a point on, and what the last of them did."""

    def __init__(self, point: Point, again: bool = False) -> None:
        self.problem = point.problem
        self.terms = _terms(point.problem)
        self.x, self._residual = point.x.copy(), point.problem.target - point.prediction
        self.made, self.changed, self.largest = 0, 0, np.inf
        self.total = self.before = np.inf
        """The size of the last sweep, and of the one before: roots of sums of squares."""
        self.astray = False
        """The last sweep has raised the objective, and was taken back."""
        self._error = point.prediction_error + UNIT_ROUNDOFF * norm(self._residual)
        self._known = point.sweep
        self._margin = _first_margin(point, self.terms)
        movable = point.problem.open & (point.problem.reach > 0.0)
        if again:
            movable &= ~_held(point, self._margin)
        self._order = point.problem.design.sweep_order(np.flatnonzero(movable))
        self._columns = np.arange(len(point.x))

    def sweep(self) -> None:
        """One more, over the coordinates that were not held back at a bound."""
        problem, order = self.problem, self._order
        problem.work.add(2 * len(order))
        size, before = norm(self._residual), self.x[order]
        roundings = 2 * len(order) + (3 if self._known is None else self._known.roundings)
        done = self._ahead() if self._known is not None else self._made()
        path = dot(np.abs(self.x[order] - before), problem.norms[order])
        self._error += gamma(roundings) * (size + path) * SLACK
        self.made, self.before = self.made + 1, self.total
        self._order, self.changed, self.largest, self.total = done
        self._margin = _HELD * self.largest

    def _made(self) -> Swept:
        state = (self.x, self._residual, self._order, self._margin)
        return self.problem.design.sweep(Sweep(self._columns, self.terms, *state))

    def _ahead(self) -> Swept:
        """The one that came with the norms of A."""
        assert self._known is not None
        known, self._known = self._known, None
        self.x, self._residual = known.x.copy(), known.residual.copy()
        return known.as_swept(self._order, self.terms, _AHEAD)

    def aim(self) -> None:
        """For slopes of 0: residuals of squares are pushed into the dual cone at little cost."""

    def end(self) -> Point:
        """Where they have led; with the prediction, if a fresh one would not be much more precise.

        A multiple of a column that is taken from the residual adds to its error at most 2u of all that
        is in it, four at once 5u, and the change of x_j was rounded before. With r what the residual was
        before a sweep, it never has more in it than ||r|| + sum_j |change of x_j| ||a_j||; so a sweep
        over K coordinates adds gamma_{2K+3} of that at most.
        """
        point = Point(self.problem, self.x)
        prediction = self.problem.target - self._residual
        error = (self._error + UNIT_ROUNDOFF * norm(prediction)) * SLACK
        if error <= current().sweep_prediction_error * point.prediction_error:
            point.prediction, point.prediction_error = prediction, error
        return point

    @property
    def inside(self) -> int:
        """How many coordinates are inside their bounds."""
        return int(np.count_nonzero((self.problem.lower < self.x) & (self.x < self.problem.upper)))

    @property
    def noise(self) -> float:
        """Steps that are small enough."""
        weights = self.terms.weights
        slopes = self._residual if weights is None else weights * self._residual
        return _BELOW * self.problem.correlation_error(norm(slopes))

    def to_come(self) -> float | None:
        """How many more lead to the noise, at the ratio of the last two; None if they do not."""
        noise = self.noise
        if not 0.0 < noise < self.total < self.before:
            return None
        return log(self.total / noise) / log(self.before / self.total)


class SmoothSweeps(Sweeps):
    """Each sweep on a quadratic model of the loss at the prediction that the last one led to.

    The residual is that of the model, rho / h, with weights h = f'' (see `metric`).
    """

    def __init__(self, point: Point, again: bool = False) -> None:
        super().__init__(point, again)
        self.terms = self.terms._replace(squares=self.terms.squares.copy(), fresh=True)
        self._prediction, self._objective = point.prediction, point.objective
        self._caution, self._first = 1.0, 0.0

    def sweep(self) -> None:
        """One more, if it lowers the objective."""
        problem, x, h = self.problem, self.x.copy(), self.terms.weights
        if h is None or self.total > _STILL * self._first:
            h = metric(problem, self._prediction, self._caution)
            self.terms = self.terms._replace(weights=h)
        before = problem.loss.residual(self._prediction, problem.target) / h
        self._residual = before.copy()
        super().sweep()
        self._first = max(self._first, self.total)
        ahead = self._prediction + (before - self._residual)
        objective = problem.loss.objective(ahead, problem.target) + problem.linear(self.x)
        self.astray = not objective - self._objective <= _LEVEL * abs(self._objective)
        if self.astray:
            self.x = x
        else:
            self._prediction, self._objective = ahead, objective
            self._caution = max(_LESS * self._caution, _LEAST_CAUTION)

    def aim(self) -> None:
        """From now on for slopes a few rounding errors beyond 0, where a bound is missing.

        The residual at the end is then feasible for the dual as it stands, and x no worse than rounding
        makes it.
        """
        problem = self.problem
        rho = problem.loss.residual(self._prediction, problem.target)
        doubt = problem.uncertainty(problem.correlation_error(norm(rho)), problem.cost_drift)
        cost = self.terms.cost - problem.side * (_BEYOND * doubt)
        self.terms = self.terms._replace(cost=cost)

    def end(self) -> Point:
        """Where they have led; models leave nothing to predict from."""
        return Point(self.problem, self.x)


def _first_margin(point: Point, terms: SweepTerms) -> float:
    """A guess at how far slopes move while the first sweep is made."""
    if not point.compared:
        return float(np.inf)
    squares = np.where(terms.squares > 0.0, terms.squares, np.inf)
    ahead = np.clip(point.x + point.correlation / squares, terms.lower, terms.upper)
    return _AHEAD * float(np.max(np.abs(ahead - point.x) * np.sqrt(terms.squares), initial=0.0))


def _held(point: Point, margin: float) -> Mask:
    """What its slope holds back at a bound, by more than the margin."""
    problem, w = point.problem, point.correlation
    at_bound = np.where(w > 0.0, point.x >= problem.upper, point.x <= problem.lower)
    return at_bound & (np.abs(w) > margin * problem.reach)


def _terms(problem: ReducedProblem) -> SweepTerms:
    """The problem as sweeps take it."""
    cost = np.zeros(len(problem.lower)) if problem.cost is None else problem.cost.c
    smoothness = problem.smoothness
    weights: Array | None = smoothness.rows
    if weights is None and smoothness.largest != 1.0:
        weights = np.full(len(problem.target), smoothness.largest)
    return SweepTerms(problem.lower, problem.upper, problem.reach**2, cost, weights)
