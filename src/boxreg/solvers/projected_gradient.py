"""Projected gradient (Goldstein; Levitin and Polyak), and its accelerated form (Beck and Teboulle)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..arrays import Array, Index
from ..duality import DualPoint
from ..extrapolation import DEPTH, extrapolate
from ..point import Point
from ..spectral import SquaredNorm
from .base import PrimalSolver, SolverState


@dataclass(kw_only=True)
class GradientState(SolverState):
    """Adds the bound L on the squared norm of A with unit columns, and what acceleration remembers."""

    squared_norm: SquaredNorm
    before: Point | None = None
    """The point before this one, where there is momentum."""
    momentum: float = 1.0
    """t_k of the accelerated method; 1 is a standing start."""
    trail: tuple[Array, ...] = ()


class ProjectedGradient(PrimalSolver[GradientState]):
    """x_j ← clip(x_j + (c α / (L ||a_j||²)) a_jᵀρ, l_j, u_j) with a constant c in (0, 2).

    A diagonal metric keeps the projection on a box a clip; with the metric diag(||a_j||²) the method
    is plain projected gradient on A with unit columns, and does not care how columns are scaled.
    L bounds the squared norm of that matrix. The objective falls at every step as long as
    ||A d||² <= L sum_j ||a_j||² d_j² for the steps d taken, which is observed, not assumed.
    L is estimated anew when columns leave: a smaller matrix allows longer steps.

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
        """Estimate L."""
        return GradientState(point, squared_norm=SquaredNorm.estimate(point.problem))

    def step(self, state: GradientState, count: int) -> GradientState:
        """`count` projected gradient steps."""
        metric = state.point.problem.norms**2
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
        """Carry L over, sharpened if columns left; momentum goes on among the columns kept."""
        return GradientState(
            point,
            squared_norm=state.squared_norm.restrict(point.problem, kept),
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
        noise = point.residual_norm * (point.prediction_error + following.prediction_error)
        if moving and following.objective > point.objective + noise:
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
        """The projected gradient step from a point, and L in the light of it."""
        problem = point.problem
        length = relaxation * problem.loss.alpha / squared_norm.value
        x = point.x + (length * inverse) * point.correlation
        np.maximum(x, problem.lower, out=x)
        np.minimum(x, problem.upper, out=x)
        following = Point(problem, x)
        return following, squared_norm.observe(point, following, metric)


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
