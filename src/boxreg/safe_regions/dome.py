"""The dome: a ball cut by a half-space."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..duality import DualPoint
from ..point import Point
from ..rounding import SLACK, UNIT_ROUNDOFF, gamma, norm
from .base import SafeRegion
from .two_point_ball import TwoPointBall


class Dome(SafeRegion):
    """The two-point ball cut by <A s, theta*> <= G, for a step s with x + s in the box.

    F is convex and x* maximises <A ·, theta*> over the box, so for every x' in it
    P(x) - P* >= <∇F(Ax*), A(x - x*)> = <theta*, A(x* - x)> >= <theta*, A(x' - x)>, and G >= P(x) - P*.
    With x' = x + s this is the half-space. (For l = 0, u = inf any multiple of x will do for s and the
    bound tends to <A x, theta*> <= 0.) Here s_j = min(x_j - l_j, u_j - x_j). Near the solution the plane
    passes within O(G) of the centre, the radius being of the order of √G: the cap is half the ball, and
    columns that make an acute angle with A s, as all do where A >= 0, lose much of their upper end.

    Over {||theta - c|| <= r, <ĝ, theta - c> <= d}, ĝ a unit vector and |d| < r, the greatest aᵀ(theta - c)
    is a∥ d + a⊥ √(r² - d²) where a∥ = aᵀĝ > 0 and r a∥ > d ||a||, and r ||a|| elsewhere.
    """

    name = "dome"

    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Range of a_jᵀ theta over the ball and the dome."""
        problem = point.problem
        ball = TwoPointBall().ball(point, dual, gap)
        low, high = TwoPointBall().correlation_range(point, dual, gap)
        below, above = point.room
        step = np.where(problem.unbounded, below, np.minimum(below, above))
        step[problem.norms == 0.0] = 0.0
        g = problem.predict(step) - problem.offset
        size = norm(g)
        if size == 0.0:
            return low, high
        error = problem.prediction_error(step) + 2.0 * UNIT_ROUNDOFF * (size + norm(problem.offset))
        centre_size = norm(ball.centre)
        level = gap + error * (centre_size + ball.radius)
        at_centre = float(g @ ball.centre) - gamma(len(g) + 4) * size * centre_size
        depth = (level - at_centre) / size
        depth += (SLACK - 1.0) * abs(depth)
        if not abs(depth) < ball.radius:
            return low, high
        along = problem.correlate(g) / size
        unsure = problem.correlation_error(size) / size + (SLACK - 1.0)
        base = ball.correlation + ball.error * SLACK * problem.norms
        reach = cap_reach(along, unsure, problem.norms, depth, ball.radius)
        high = np.minimum(high, base + reach)
        base = ball.correlation - ball.error * SLACK * problem.norms
        reach = cap_reach(-along, unsure, problem.norms, depth, ball.radius)
        low = np.maximum(low, base - reach)
        return low, high


def cap_reach(along: Array, unsure: float, norms: Array, depth: float, radius: float) -> Array:
    """Upper bound on the greatest a_jᵀe over ||e|| <= radius, <ĝ, e> <= depth, |depth| < radius.

    a_jᵀĝ is `along`, give or take unsure · ||a_j||. The maximum is that of along · t + across · s over
    the half-disc, increasing in `across`, and |t| <= radius.
    """
    sure = np.maximum(np.abs(along) - unsure * norms, 0.0)
    across = np.sqrt(np.maximum((norms - sure) * (norms + sure), 0.0)) * SLACK
    length = np.hypot(along, across)
    width = float(np.sqrt((radius - depth) * (radius + depth))) * SLACK
    cut = radius * along > depth * length
    inside = np.where(cut, along * depth + across * width, radius * length)
    return inside + (unsure + 16.0 * UNIT_ROUNDOFF) * radius * norms
