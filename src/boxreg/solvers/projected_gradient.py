"""Projected gradient (Goldstein; Levitin and Polyak), and its accelerated form (Beck and Teboulle)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..arrays import Array, Index
from ..duality import DualPoint
from ..extrapolation import DEPTH, extrapolate
from ..point import Point
from ..smoothness import Smoothness
from ..spectral import SquaredNorm
from .base import PrimalSolver, SolverState

_ARMIJO = 1e-2
_LONGEST, _SHORTEST = 1e6, 1e-12


@dataclass(kw_only=True)
class GradientState(SolverState):
    """Adds the bound Λ on the squared norm of A with unit columns, and what acceleration remembers."""

    squared_norm: SquaredNorm
    share: float = 1.0
    """Of the step that Λ allows, what the last step took, where it rests on a local bound."""
    before: Point | None = None
    """The point before this one, where there is momentum."""
    momentum: float = 1.0
    """t_k of the accelerated method; 1 is a standing start."""
    trail: tuple[Array, ...] = ()


class ProjectedGradient(PrimalSolver[GradientState]):
    """x_j ← clip(x_j + (c / (Λ r_j²)) w_j, l_j, u_j) with a constant c in (0, 2), w = -∇P(x).

    r_j² = sum_i L_i a_ij², L_i the Lipschitz constants of f' (||a_j||² for least squares). A diagonal
    metric keeps the projection on a box a clip; with the metric diag(r_j²) the method is plain
    projected gradient on √L A with unit columns, and does not care how columns are scaled. Λ bounds
    the squared norm of that matrix. The objective falls at every step as long as
    ||√L A d||² <= Λ sum_j r_j² d_j² for the steps d taken, which is observed, not assumed. Λ is
    estimated anew when columns leave: a smaller matrix allows longer steps. For a loss with local
    constants only, L_i = f''(p_i) at the last check, and a step is halved until it lowers the objective
    by a share of what its slope promises; there is no acceleration then.

    acceleration="fista" takes the step, with c = 1, from z = x_k + ((t_{k-1} - 1) / t_k)(x_k - x_{k-1}),
    t_k = (1 + √(1 + 4 t_{k-1}²)) / 2, whose prediction is known by linearity. It starts again from
    t = 1 where momentum points uphill (O'Donoghue and Candès, 2015), and a step that would raise the
    objective, beyond rounding, is not taken. acceleration="anderson" extrapolates the last six x of the
    plain method every fifth step. acceleration=None is the plain method.
    """

    name = "projected_gradient"
    can_move = True
    check_period = 5

    def __init__(
        self,
        relaxation: float = 1.9,
        acceleration: Literal["fista", "anderson"] | None = "fista",
    ) -> None:
        if acceleration not in ("fista", "anderson", None):
            raise ValueError(
                f"acceleration: expected 'fista', 'anderson' or None, got {acceleration!r}"
            )
        self.relaxation = relaxation
        self.acceleration = acceleration

    @classmethod
    def plain(cls) -> ProjectedGradient:
        """No momentum, no extrapolation."""
        return cls(acceleration=None)

    def start(self, point: Point) -> GradientState:
        """Estimate Λ."""
        squared_norm = SquaredNorm.estimate(point.problem, _smoothness(point))
        return GradientState(point, squared_norm=squared_norm)

    def step(self, state: GradientState, count: int) -> GradientState:
        """`count` projected gradient steps."""
        problem = state.point.problem
        if not problem.smoothness.known:
            return _steps_with_search(state, count)
        metric = problem.reach**2
        inverse = np.divide(1.0, metric, out=np.zeros_like(metric), where=metric > 0)
        for _ in range(count):
            if self.acceleration == "fista":
                state = self._accelerated(state, metric, inverse)
            else:
                state = self._plain(state, metric, inverse)
            if state.finished:
                break
        return state

    def restrict(self, state: GradientState, point: Point, kept: Index) -> GradientState:
        """Carry Λ over, sharpened if columns left; momentum goes on among the columns kept."""
        return GradientState(
            point,
            squared_norm=state.squared_norm.restrict(point.problem, kept),
            share=state.share,
            before=_restricted(state, point, kept),
            momentum=state.momentum,
        )

    def move(self, state: GradientState, point: Point, dual: DualPoint) -> GradientState:
        """A standing start: the way there is not one to go on in."""
        return GradientState(point, squared_norm=state.squared_norm)

    def _plain(self, state: GradientState, metric: Array, inverse: Array) -> GradientState:
        """One step from x, and an extrapolation every few if that is wanted."""
        following, squared_norm = self._descend(
            state.point, state.squared_norm, metric, inverse, self.relaxation
        )
        still = np.array_equal(following.x, state.point.x)
        trail = state.trail
        if self.acceleration == "anderson":
            following, trail = _extrapolated(following, (*(trail or (state.point.x,)), following.x))
        return GradientState(following, finished=still, squared_norm=squared_norm, trail=trail)

    def _accelerated(self, state: GradientState, metric: Array, inverse: Array) -> GradientState:
        """One step from z; none, and a standing start for the next, if that raised the objective."""
        point, before, t = state.point, state.before, state.momentum
        following_t = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        share = (t - 1.0) / following_t
        moving = before is not None and share > 0.0
        ahead = point if before is None or share == 0.0 else _beyond(before, point, share)
        following, squared_norm = self._descend(ahead, state.squared_norm, metric, inverse, 1.0)
        if moving and following.objective > point.objective + _noise(point, following):
            return replace(state, squared_norm=squared_norm, before=None, momentum=1.0)
        uphill = float((metric * (ahead.x - following.x)) @ (following.x - point.x)) > 0.0
        return GradientState(
            following,
            finished=not moving and np.array_equal(following.x, point.x),
            squared_norm=squared_norm,
            before=point,
            momentum=1.0 if uphill else following_t,
        )

    @staticmethod
    def _descend(
        point: Point, squared_norm: SquaredNorm, metric: Array, inverse: Array, relaxation: float
    ) -> tuple[Point, SquaredNorm]:
        """The projected gradient step from a point, and Λ in the light of it."""
        problem = point.problem
        length = relaxation / squared_norm.value
        x = point.x + (length * inverse) * point.correlation
        np.maximum(x, problem.lower, out=x)
        np.minimum(x, problem.upper, out=x)
        following = Point(problem, x)
        return following, squared_norm.observe(point, following, metric)


def _noise(point: Point, following: Point) -> float:
    """What rounding may make of a difference of objectives; 0 where there is nothing to doubt."""
    if following.objective <= point.objective:
        return 0.0
    return point.residual_norm * (point.prediction_error + following.prediction_error)


def _smoothness(point: Point) -> Smoothness:
    """The constants of the loss, or f'' here where it has none."""
    known = point.problem.smoothness
    return known if known.known else Smoothness.made(point.curvature)


def _steps_with_search(state: GradientState, count: int) -> GradientState:
    """Plain steps in the metric of f'' at the first point, each as long as the objective allows."""
    point, share = state.point, state.share
    problem = point.problem
    metric = problem.reach_under(Smoothness.made(point.curvature)) ** 2
    inverse = np.divide(1.0, metric, out=np.zeros_like(metric), where=metric > 0)
    for _ in range(count):
        share = min(2.0 * share, _LONGEST)
        following = None
        while share > _SHORTEST and following is None:
            step = (share / state.squared_norm.value) * inverse * point.correlation
            ahead = Point(problem, np.clip(point.x + step, problem.lower, problem.upper))
            promised = float(point.correlation @ (ahead.x - point.x))
            lower = ahead.objective <= point.objective - _ARMIJO * promised
            if lower and ahead.regular:  # where f' is infinite there is no next step
                following = ahead
            else:
                share *= 0.5
        if following is None or np.array_equal(following.x, point.x):
            return replace(state, point=point, share=1.0, finished=True)
        point = following
    return replace(state, point=point, share=share)


def _beyond(before: Point, point: Point, share: float) -> Point:
    """x + share (x - x_before), what is known at it by linearity; it may leave the box."""
    problem = point.problem
    ahead = Point(problem, point.x + share * (point.x - before.x))
    ahead.prediction = point.prediction + share * (point.prediction - before.prediction)
    if problem.loss.quadratic:  # the product at x, which a check needs too, serves both
        ahead.correlation = point.correlation + share * (point.correlation - before.correlation)
    return ahead


def _restricted(state: GradientState, point: Point, kept: Index) -> Point | None:
    """The point before among the columns kept, with what is known at it if nothing moved."""
    before, problem = state.before, point.problem
    if before is None:
        return None
    stood = point.evaluated and point.prediction is state.point.prediction
    leaving = np.ones(len(before.x), dtype=bool)
    leaving[kept] = problem.lower == problem.upper
    if stood and np.array_equal(before.x[leaving], state.point.x[leaving]):
        return before.kept(problem, kept)
    return Point(problem, np.clip(before.x[kept], problem.lower, problem.upper))


def _extrapolated(point: Point, trail: tuple[Array, ...]) -> tuple[Point, tuple[Array, ...]]:
    """The extrapolated point if the trail is long enough and its objective lower; the last otherwise."""
    if len(trail) <= DEPTH:
        return point, trail
    x = extrapolate(trail)
    if x is not None:
        problem = point.problem
        ahead = Point(problem, np.clip(x, problem.lower, problem.upper))
        if ahead.objective < point.objective:
            point = ahead
    return point, (point.x,)
