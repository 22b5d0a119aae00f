"""The dome: a ball cut by a half-space."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..duality import DualPoint
from ..point import Point
from ..rounding import SLACK, UNIT_ROUNDOFF, gamma, norm
from .base import Ball, SafeRegion
from .two_point_ball import TwoPointBall

_FARTHEST = 10.0
_SAMPLE = 32
_SMALLEST = 1e-140
"""Below this the squares in ||A s|| may underflow."""


class Dome(SafeRegion):
    """The two-point ball cut by <A s, theta*> <= G, for a step s with x + s in the box.

    F is convex and x* maximises <A ·, theta*> over the box, so for every x' in it
    P(x) - P* >= <∇F(Ax*), A(x - x*)> = <theta*, A(x* - x)> >= <theta*, A(x' - x)>, and G >= P(x) - P*.
    With x' = x + s this is the half-space. Where s moves coordinates without upper bound only, every
    multiple of it will do, and so <A s, theta*> <= 0. Taken is s_j = min(10 (x_j - l_j), u_j - x_j), or
    x_j - l_j where u_j = inf: <A s, theta*> is then of the order of G, the radius being of the order of
    √G. The cap is about half the ball, and columns that make an acute angle with A s, as all do where
    A >= 0, lose much of their upper end.

    This takes a product with the support and one with the columns held; the latter is left out where
    a sample of the columns that might profit says that none of them would.
    """

    name = "dome"

    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Range of a_jᵀ theta over the ball, the sphere and the dome."""
        problem = point.problem
        whole = TwoPointBall()
        ball = whole.ball(point, dual, gap)
        low, high = whole.correlation_range(point, dual, gap)
        g, level = half_space(point, gap, norm(ball.centre) + ball.radius)
        size = norm(g)
        if size < _SMALLEST:
            return low, high
        rounding = gamma(len(g) + 4) * size * norm(ball.centre)
        depth = (level - float(g @ ball.centre) + rounding) / size
        depth += (SLACK - 1.0) * abs(depth)
        if not abs(depth) < ball.radius or not _promising(point, ball, g, depth, low, high):
            return low, high
        along = problem.correlate(g) / size
        unsure = problem.correlation_error(size) / size + (SLACK - 1.0)
        error = ball.error * SLACK * problem.norms
        above = cap_reach(along, unsure, problem.norms, depth, ball.radius) + error
        below = cap_reach(-along, unsure, problem.norms, depth, ball.radius) + error
        return np.maximum(low, ball.correlation - below), np.minimum(high, ball.correlation + above)


def half_space(point: Point, gap: float, farthest: float) -> tuple[Array, float]:
    """g and a level with <g, theta*> <= level, given ||theta*|| <= farthest.

    g is A s as computed: what rounding added to it is charged to the level. Columns of norm 0 take no
    part (`DualCone.provable` gives norm 0 to columns whose error it cannot bound).
    """
    problem = point.problem
    below, above = point.room
    unbounded = problem.unbounded
    step = np.where(unbounded, below, np.minimum(_FARTHEST * below, above))
    step[problem.norms == 0.0] = 0.0
    # The room above is rounded: stay inside the box, where the inequality holds.
    step *= 1.0 - 4.0 * UNIT_ROUNDOFF
    g = problem.predict(step) - problem.offset
    error = problem.prediction_error(step)
    error += 2.0 * UNIT_ROUNDOFF * (norm(g) + norm(problem.offset))
    bound = gap if step[~unbounded].any() else 0.0
    return g, (bound + error * farthest) * SLACK


def cap_reach(along: Array, unsure: float, norms: Array, depth: float, radius: float) -> Array:
    """Upper bound on the greatest a_jᵀe over ||e|| <= radius, <ĝ, e> <= depth; ||ĝ|| = 1.

    Hypothesis: |depth| < radius. Without rounding it is a∥ depth + a⊥ √(radius² - depth²) where the
    farthest point of the ball is cut off, radius a∥ > depth ||a||, and radius ||a|| elsewhere.
    a∥ = a_jᵀĝ is `along`, give or take unsure · ||a_j||: the maximum grows with a⊥, and with a∥ by at
    most the radius times its error.
    """
    sure = np.maximum(np.abs(along) - unsure * norms, 0.0)
    across = np.sqrt(np.maximum((norms - sure) * (norms + sure), 0.0)) * SLACK
    length = np.hypot(along, across)
    width = float(np.sqrt((radius - depth) * (radius + depth))) * SLACK
    cut = radius * along > depth * length
    reach = np.where(cut, along * depth + across * width, radius * length)
    return reach + (unsure + (SLACK - 1.0)) * radius * norms


def _promising(point: Point, ball: Ball, g: Array, depth: float, low: Array, high: Array) -> bool:
    """Whether the dome screens any of a few columns, evenly spread over those it might screen."""
    problem = point.problem
    if not problem.design.has_columns:
        return True
    nearest = ball.correlation + np.maximum(depth, 0.0) * problem.norms
    might = problem.open & (high >= 0.0) & (nearest < 0.0)
    farthest = ball.correlation - np.maximum(depth, 0.0) * problem.norms
    might |= problem.open & (low <= 0.0) & (farthest > 0.0) & ~problem.unbounded
    found = np.flatnonzero(might)
    if len(found) <= 2 * _SAMPLE:
        return len(found) > 0
    chosen = found[np.linspace(0, len(found) - 1, _SAMPLE).astype(np.intp)]
    problem.work.add(len(chosen))
    along = problem.design.columns(chosen).T @ g / norm(g)
    norms, centre = problem.norms[chosen], ball.correlation[chosen]
    facing = np.where(centre < 0.0, along, -along)
    reach = cap_reach(facing, 0.0, norms, depth, ball.radius)
    return bool(np.any(np.abs(centre) > reach))
