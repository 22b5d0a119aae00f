"""Support polish: the residual of an unconstrained fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import Array, Index
from ..dual_cone import DualCone
from ..duality import DualPoint
from ..point import Point
from ..reduced import ReducedProblem
from ..rounding import dot
from ..settings import current
from .base import DualUpdate
from .line_search import LineSearch, best_between

_ITERATIONS, _USUAL_ITERATIONS = 20, 8
_FITS = 2
_REDUCTION = 1e-3
_LONGER = 1.5


class SupportPolish(DualUpdate):
    """theta = rho - H A_S d with A_Sᵀtheta = c_S, after a line search; H = diag(f''(p)).

    S are the coordinates that break the optimality conditions: those inside their bounds, where
    w*_j = 0 if they stay there, and those at a bound with w_j of the wrong sign. Making theta
    orthogonal to their columns is exact once S is the support of the solution, whatever the sign of
    the fit, and takes a few conjugate-gradient steps with the columns of S alone. Columns that the fit
    sets at odds with their bound join S for a second one. The result is pushed into the cone like any
    other.

    Polishing is left out far from the solution (where more than a third of S sits at a wrong bound),
    where S has more columns than A has rows, and where it would take more than a tenth of all work so
    far (or, where only a dual point is wanted of it, more than five products with A). The next one waits
    until four times its cost has been spent on other things, and half as long again after each that led
    to no screening.

    x + d, clipped to the box, is a primal point. With `adopt` a first-order solver goes on from there
    if the objective is lower than at its own point; without, its iterates are its own.
    """

    name = "support_polish"

    def __init__(self, adopt: bool = True) -> None:
        self.adopt = adopt
        self._candidate: Array | None = None
        self._spent = 0.0
        self._open = 0
        self._polished_at = 0.0
        self._wait = current().polish_wait

    def start(self, problem: ReducedProblem) -> SupportPolish:
        """A fresh account of what polishing has cost."""
        return SupportPolish(self.adopt)

    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """The line search, then from its end toward the polished residual."""
        self._candidate = None
        found = best
        for found in LineSearch().propose(point, best, cone, hint):
            yield found
        problem = point.problem
        if not point.regular:
            return
        support = _unsettled(point, point.correlation)
        if problem.design.has_columns and self._worthwhile(point, len(support)):
            before = problem.work.total
            fitted = DualPoint.residual(point)
            fit = point.x.copy()
            for _ in range(_FITS):
                theta, change = _orthogonal_part(point, fitted, support)
                fit[support] += change
                fitted = DualPoint.at(theta, problem)
                polished = cone.push(fitted, point)
                found = best_between(point, found, polished, cone)
                yield found
                more = np.union1d(support, _unsettled(point, fitted.correlation))
                if polished is fitted or len(more) == len(support):
                    break
                support = more
            if self.adopt:
                self._candidate = np.clip(fit, problem.lower, problem.upper)
            self._spent += problem.work.total - before
            self._open = int(np.count_nonzero(problem.open))
            self._polished_at = problem.work.total
            self._wait *= _LONGER

    def primal_candidate(self) -> Array | None:
        """The fit itself, clipped to the box."""
        return self._candidate

    def _worthwhile(self, point: Point, size: int) -> bool:
        """Whether S is small and the budget allows another polish."""
        problem = point.problem
        inside = int(np.count_nonzero(point.inside))
        if not 0 < size <= min(1.5 * inside, len(problem.target)):
            return False
        cost = problem.work.share(2 * size * _USUAL_ITERATIONS + problem.design.product_cost)
        if cost > current().polish_cost and not self.adopt:
            return False
        total = problem.work.total
        if np.count_nonzero(problem.open) <= 0.99 * self._open:
            self._wait = current().polish_wait
        if total < self._polished_at + self._wait * cost:
            return False
        return self._spent + cost <= current().polish_share * total


def _unsettled(point: Point, w: Array) -> Index:
    """Open coordinates inside their bounds, or at one with w pointing inwards."""
    problem = point.problem
    settled = (point.x == problem.lower) & (w <= 0.0)
    settled |= (point.x == problem.upper) & (w >= 0.0)
    return np.flatnonzero(problem.open & ~settled)


def _orthogonal_part(point: Point, start: DualPoint, support: Index) -> tuple[Array, Array]:
    """theta less the H A_S d that makes its w_S vanish, and d, by conjugate gradients."""
    problem = point.problem
    h = None if problem.loss.quadratic and problem.smoothness.rows is None else point.curvature
    cost = 0.0 if problem.cost is None else problem.cost.c[support]
    columns = problem.design.keep(support)
    scale = 1.0 / problem.norms[support]
    theta, change = start.theta.copy(), np.zeros(len(support))
    slope = start.correlation[support] * scale
    direction, size = slope, dot(slope, slope)
    goal = _REDUCTION**2 * size
    for _ in range(min(_ITERATIONS, len(support))):
        if size <= goal:
            break
        image = columns.matvec(scale * direction)
        moved = problem.smoothness.times(image) if h is None else h * image
        length = dot(image, moved)
        if length == 0.0:  # the columns cancel along this direction
            break
        theta -= (size / length) * moved
        change += (size / length) * direction
        slope = scale * (columns.rmatvec(theta) - cost)
        problem.work.add(2 * len(support))
        size, before = dot(slope, slope), size
        direction = slope + (size / before) * direction
    return theta, scale * change
