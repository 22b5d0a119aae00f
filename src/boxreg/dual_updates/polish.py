"""Support polish: the residual of an unconstrained fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import Array, Index
from ..dual_cone import DualCone
from ..duality import DualPoint
from ..point import Point
from ..reduced import ReducedProblem
from .base import DualUpdate
from .line_search import LineSearch, best_between

_ITERATIONS = 20
_REDUCTION = 1e-3
_SHARE = 0.1


class SupportPolish(DualUpdate):
    """theta = rho - A_S d with d = argmin ||rho - A_S d||, after a line search.

    S are the coordinates that break the optimality conditions: those inside their bounds, where
    w*_j = 0 if they stay there, and those at a bound with w_j of the wrong sign. Making theta
    orthogonal to their columns is exact once S is the support of the solution, whatever the sign of
    the fit, and takes a few conjugate-gradient steps with the columns of S alone. The result is
    pushed into the cone like any other. Polishing is left out while it has taken more than a tenth
    of all work so far, and far from the solution: where S is large, or where more coordinates sit at
    the wrong bound than inside.
    """

    name = "support_polish"

    def __init__(self) -> None:
        self._spent = 0.0

    def start(self, problem: ReducedProblem) -> SupportPolish:
        """A fresh account of what polishing has cost."""
        return SupportPolish()

    def propose(
        self, point: Point, best: DualPoint, cone: DualCone, hint: DualPoint | None
    ) -> Iterator[DualPoint]:
        """The line search, then from its end toward the polished residual."""
        found = best
        for found in LineSearch().propose(point, best, cone, hint):
            yield found
        problem = point.problem
        before = problem.work.total
        if not problem.design.has_columns or self._spent > _SHARE * before:
            return
        support = _unsettled(point)
        inside = int(np.count_nonzero((point.x > problem.lower) & (point.x < problem.upper)))
        if 0 < len(support) <= min(2 * inside, len(problem.target) // 2):
            theta = _orthogonal_part(point, support)
            polished = cone.push(DualPoint.at(theta, problem), problem)
            yield best_between(point, found, polished, cone)
            self._spent += problem.work.total - before


def _unsettled(point: Point) -> Index:
    """Open coordinates inside their bounds, or at one with the gradient pointing inwards."""
    problem, w = point.problem, point.correlation
    settled = (point.x == problem.lower) & (w <= 0.0)
    settled |= (point.x == problem.upper) & (w >= 0.0)
    return np.flatnonzero(problem.open & ~settled)


def _orthogonal_part(point: Point, support: Index) -> Array:
    """rho less its projection on the span of the columns in `support`, by conjugate gradients."""
    problem = point.problem
    columns = problem.design.keep(support)
    scale = 1.0 / problem.norms[support]
    theta = point.residual.copy()
    slope = point.correlation[support] * scale
    direction, size = slope, float(slope @ slope)
    goal = _REDUCTION**2 * size
    for _ in range(min(_ITERATIONS, len(support))):
        if size <= goal:
            break
        image = columns.matvec(scale * direction)
        theta -= (size / float(image @ image)) * image
        slope = scale * columns.rmatvec(theta)
        problem.work.add(2 * len(support))
        size, before = float(slope @ slope), size
        direction = slope + (size / before) * direction
    return theta
