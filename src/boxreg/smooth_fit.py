"""Small dense problems with other losses than least squares, solved and proved by compiled calls."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .arrays import Array, plain
from .certificate import Certificate
from .dense_fit import Fit
from .linear_cost import LinearCost
from .losses.kinds import BETA_DIVERGENCE
from .point import Point
from .presolve import unreduced
from .problem import Problem
from .recession import falling_cost, receding_answer
from .settings import current
from .status import Status
from .work import WorkMeter

_FINER = 1e-4
"""The share of the gap asked for that a second call is told, where the first answer is not proved."""


class SmoothFit(NamedTuple):
    """What the compiled calls solved and proved."""

    x: Array
    theta: Array
    screened: npt.NDArray[np.int8]
    certificate: Certificate
    scale: float
    """P₀, the objective at the projection of 0 on the box."""
    target: float
    """The gap asked for."""
    rounds: int
    products: int
    status: Status
    """CONVERGED, or that the minimum is not attained."""


class SmallProblem:
    """The arrays of a problem as kernels take them."""

    def __init__(self, problem: Problem, form: tuple[int, float, Array]) -> None:
        self.problem = problem
        self.kind, parameter, background = form
        m, n = problem.design.shape
        weights, split = problem.loss.row_weights(m)
        cost = LinearCost(np.zeros(n), np.zeros(0)) if problem.cost is None else problem.cost
        self.columns, self.norms = plain(problem.design.by_columns()), plain(problem.survey.norms)
        self.cost = (plain(cost.c), plain(cost.size), cost.unit)
        self.box = (plain(problem.lower), plain(problem.upper))
        self.rows = (
            *(self.kind, parameter, plain(background)),
            *(plain(problem.target), plain(weights), split),
        )

    @classmethod
    def of(cls, problem: Problem) -> SmallProblem | None:
        """None where kernels do not know the loss, or A has too many entries."""
        m, n = problem.design.shape
        small = problem.design.has_columns and 0 < m * n <= current().small_entries
        if problem.loss.quadratic or not small:
            return None
        form = problem.loss.in_kernels(m)
        return None if form is None else cls(problem, form)

    def answer(
        self, scale: float, target: float, rounds: int | None
    ) -> tuple[Fit | None, SmoothFit | None]:
        """The answer, and its proof where there is one; nothing where the call did not get to the end.

        Slopes next to 0 may leave more of a gap than they have to gain: then a few steps more follow.
        """
        fit = self.solve(target, rounds)
        found = None if fit is None else self.prove(fit, scale, target)
        if fit is None or found is not None or rounds is not None:
            return fit, found
        if not fit.solved:
            return None, None
        finer = self.solve(_FINER * target, None, fit)
        return finer or fit, None if finer is None else self.prove(finer, scale, target)

    def solve(
        self, target: float, rounds: int | None = None, begin: Fit | None = None
    ) -> Fit | None:
        """The answer, with a dual point that belongs to it; None where it is not finite.

        `target` is the gap asked for: the call ends once a step promises next to nothing beside it, or
        after so many rounds. It goes on from the answer of another call, if there is one.
        """
        x = self.problem.regular() if begin is None else begin.x.copy()
        theta = np.empty(len(self.problem.target))
        most = current().small_steps
        steps, products, solved = _solver()(
            *(self.columns, self.cost[0], *self.box, *self.rows),
            *(x, theta, target, most if rounds is None else min(rounds, most), begin is not None),
        )
        if begin is not None:
            steps, products = steps + begin.rounds, products + begin.products
        if not (np.isfinite(x).all() and np.isfinite(theta).all()):
            return None
        return Fit(x, 0.0, steps, products, solved, theta)

    def prove(self, fit: Fit, scale: float, target: float) -> SmoothFit | None:
        """The answer with its proof; None where that proves less than the gap asked for."""
        problem, loss = self.problem, self.problem.loss
        if self.kind == BETA_DIVERGENCE or fit.theta is None or not loss.brackets_compiled:
            return None
        m, n = problem.design.shape
        prover, screener = _provers()
        p, w, theta = np.empty(m), np.empty(n), fit.theta
        given = (self.columns, self.norms, *self.cost, *self.box)
        known = (problem.smoothness.largest, loss.roundoff_derivative, fit.x)
        gap, rounding, tight, moved = prover(*given, *self.rows, *known, theta, p, w)
        if not gap <= target and problem.cost is None:  # theta = 0 proves nearly perfect fits
            theta = np.zeros(m)
            gap, rounding, tight, moved = prover(*given, *self.rows, *known, theta, p, w)
        if not gap <= target:
            return None
        screened, constants = np.empty(n, np.int8), self._constants(p, theta, tight)
        screener(*given, fit.x, theta, w, constants, tight, moved, screened)
        point = Point(unreduced(problem, WorkMeter(n)), fit.x)
        point.prediction = p
        receding = falling_cost(problem) or receding_answer(point)
        dual = problem.constant - loss.conjugate(-theta, problem.target)
        dual -= float(w @ np.where(w > 0.0, *_finite(problem)))
        if moved > 0.0:  # theta' next to theta is the feasible one, and D(theta') >= P(x) - gap
            dual = min(dual, point.objective - gap)
        rigorous = loss.rounding_known and problem.design.rounding_known
        certificate = Certificate(
            point.objective, dual, gap, True, True, rigorous, (), None, rounding
        )
        return SmoothFit(
            *(fit.x, theta, screened, certificate, scale, target),
            *(fit.rounds, fit.products + 2 * n),
            Status.CONVERGED if receding is None else receding.status,
        )

    def _constants(self, prediction: Array, theta: Array, gap: float) -> Array:
        """L_i of each row, for all of its range or where the solution must be."""
        problem, smoothness = self.problem, self.problem.smoothness
        if not smoothness.known:
            return plain(problem.loss.local_smoothness(prediction, theta, gap, problem.target))
        if smoothness.rows is None:
            return np.full(len(theta), smoothness.largest)
        return plain(smoothness.rows)


def _finite(problem: Problem) -> tuple[Array, Array]:
    """Upper and lower bounds, 0 where there are none."""
    upper = np.where(problem.upper < np.inf, problem.upper, 0.0)
    return upper, np.where(problem.lower > -np.inf, problem.lower, 0.0)


@cache
def _solver() -> Any:
    from .kernels.smooth_active_set import solve

    return solve


@cache
def _provers() -> tuple[Any, Any]:
    from .kernels.smooth_certificates import prove, screen

    return prove, screen
