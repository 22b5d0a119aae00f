"""The algorithms with the constants of the paper's public code: fixed steps, a check every ten.

The library's own solvers choose their steps and the time of their checks themselves; these do not, so
that what screening alone is worth can be told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Index
from ..duality import DualPoint
from ..point import Point
from ..reduced import ReducedProblem
from ..rounding import norm
from ..solvers import ActiveSet, CoordinateDescent
from ..solvers.active_set import ActiveSetState
from ..solvers.base import PrimalSolver, SolverState

PERIOD = 10
"""Iterations between checks."""


class PaperDescent(CoordinateDescent):
    """Cyclic coordinate descent, no extrapolation."""

    check_period = PERIOD
    check_growth = 0.0
    can_move = False

    def __init__(self) -> None:
        super().__init__(acceleration=None)


class PaperActiveSet(ActiveSet):
    """Lawson and Hanson's active set."""

    def __init__(self) -> None:
        super().__init__(partial=False)

    def checks(self, problem: ReducedProblem) -> tuple[int, float]:
        """Every ten iterations."""
        return PERIOD, 0.0


class FullResidualActiveSet(PaperActiveSet):
    """The same with the residual y - A x from all columns, as MATLAB's lsqnonneg computes it.

    The paper's baseline is lsqnonneg; its version with screening reads the columns of the support
    only. Comparing with both tells what that is worth and what screening is.
    """

    def step(self, state: ActiveSetState, count: int) -> ActiveSetState:
        """Up to `count` steps, each with a full product at its end."""
        for _ in range(count):
            state = super().step(state, 1)
            if not state.point.evaluated:
                state.point.prediction = _predict(state.point.problem, state.point.x)
            if state.finished:
                break
        return state


class PaperGradient(PrimalSolver[SolverState]):
    """x ← clip(x + s Aᵀρ, l, u) with the step s given, for good: 2/||A||² or 1/||A||²."""

    name = "projected_gradient"
    needs_quadratic = True
    check_period = PERIOD
    check_growth = 0.0
    max_iter = 10_000_000

    def __init__(self, step_size: float) -> None:
        self.step_size = step_size

    def start(self, point: Point) -> SolverState:
        """The point is all there is."""
        return SolverState(point)

    def step(self, state: SolverState, count: int) -> SolverState:
        """`count` steps; finished if the last one did not move."""
        point, problem = state.point, state.point.problem
        x, gradient = point.x, point.correlation
        design, residual = problem.design, problem.loss.residual
        rest = problem.target - problem.offset  # squares depend on y - p alone
        before, image = x, rest
        for k in range(count):
            if k > 0:  # what follows the last step is computed by whoever needs it
                gradient = design.rmatvec(residual(image, rest))
            before, x = x, _clip(x + self.step_size * gradient, problem)
            image = design.matvec(x)
        problem.work.add((2 * count - 1) * design.product_cost)
        moved = Point(problem, x)
        moved.prediction = image + problem.offset
        return SolverState(moved, finished=np.array_equal(x, before))

    def restrict(self, state: SolverState, point: Point, kept: Index) -> SolverState:
        """The step stays as it is."""
        return SolverState(point)


class PatientGradient(PaperGradient):
    """The same with checks that grow apart, as the library's own solvers have them."""

    check_growth = 0.1


@dataclass(kw_only=True)
class PrimalDualState(SolverState):
    """Adds the dual variable v, its extrapolation 2 v⁺ - v, and the product of that with Aᵀ."""

    v: Array
    ahead: Array
    gradient: Array


class PaperPrimalDual(PrimalSolver[PrimalDualState]):
    """x ← clip(x - τ Aᵀv̄, l, u);  v⁺ = prox_{σF*}(v + σ A x);  v̄ = 2 v⁺ - v; σ and τ given, for good.

    The extrapolation is on the dual side, as in the paper's code; -v̄ is the dual point that it uses.
    """

    name = "chambolle_pock"
    needs_quadratic = True
    check_period = PERIOD
    check_growth = 0.0
    max_iter = 10_000_000

    def __init__(self, sigma: float, tau: float) -> None:
        self.sigma = sigma
        self.tau = tau

    def start(self, point: Point) -> PrimalDualState:
        """v = -ρ(x)."""
        v = -point.residual
        return PrimalDualState(point, v=v, ahead=v, gradient=-point.correlation)

    def step(self, state: PrimalDualState, count: int) -> PrimalDualState:
        """`count` primal-dual steps."""
        x, v, ahead, gradient = state.point.x, state.v, state.ahead, state.gradient
        problem, sigma = state.point.problem, self.sigma
        for _ in range(count):
            x = _clip(x - self.tau * gradient, problem)
            prediction = _predict(problem, x)
            before = v
            v = problem.loss.prox_conjugate(v + sigma * prediction, sigma, problem.target)
            ahead = 2.0 * v - before
            gradient = problem.correlate(ahead)
        point = Point(problem, x)
        point.prediction = prediction
        return PrimalDualState(point, v=v, ahead=ahead, gradient=gradient)

    def dual_candidate(self, state: PrimalDualState) -> DualPoint:
        """theta = -v̄."""
        error = state.point.problem.correlation_error(norm(state.ahead))
        return DualPoint(-state.ahead, -state.gradient, error)

    def restrict(self, state: PrimalDualState, point: Point, kept: Index) -> PrimalDualState:
        """The dual variable stays."""
        return PrimalDualState(point, v=state.v, ahead=state.ahead, gradient=state.gradient[kept])


def _clip(x: Array, problem: ReducedProblem) -> Array:
    """x, brought into the box in place."""
    np.maximum(x, problem.lower, out=x)
    np.minimum(x, problem.upper, out=x)
    return x


def _predict(problem: ReducedProblem, x: Array) -> Array:
    """The prediction by a product with all columns held, as in the paper's code.

    The library reads only the columns in the support of x where they are few.
    """
    problem.work.add(problem.design.product_cost)
    return problem.design.matvec(x) + problem.offset
