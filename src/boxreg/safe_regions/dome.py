"""The dome: a ball cut by a half-space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..duality import DualPoint
from ..point import Point
from ..rounding import SLACK, SMALLEST_NORM, UNIT_ROUNDOFF, dot, gamma, norm
from .base import Ball, Metric, SafeRegion
from .two_point_ball import TwoPointBall, both_ranges

_FARTHEST = 10.0
_SAMPLE = 32


class Dome(SafeRegion):
    """The two-point ball cut by <A s, theta*> <= G, for a step s with x + s in the box.

    P is convex and x* maximises <w*, ·> over the box, so for every x' in it
    P(x) - P* >= <∇P(x*), x - x*> = <w*, x* - x> >= <w*, x' - x>, and G >= P(x) - P*. With x' = x + s,
    and w* = Aᵀtheta* - c, this is the half-space <A s, theta*> <= G + cᵀs. Where s moves coordinates
    with one bound only, away from it, every multiple of it will do, and so <A s, theta*> <= cᵀs. Taken
    is s_j = min(10 (x_j - l_j), u_j - x_j), or x_j - l_j where u_j = inf (x_j - u_j where l_j = -inf):
    <w*, s> is then of the order of G, the radius being of the order of √G. The cap is about half the
    ball, and columns that make an acute angle with A s, as all do where A >= 0, lose much of their upper
    end.

    This takes a product with the support, unless all bounds are x >= 0, and one with the columns held;
    the latter is left out where a sample of the columns that might profit says that none of them would.
    """

    name = "dome"

    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Range of w_j over the ball, the sphere and the dome."""
        problem = point.problem
        metric = Metric.of(point, dual, gap)
        ball = TwoPointBall().ball(point, dual, gap, metric)
        low, high = both_ranges(point, dual, gap, metric, ball)
        if problem.equality is not None or not metric.smoothness.known:
            return low, high  # the centre is not where it seems, or the metric is singular
        root = np.sqrt(metric.smoothness.largest)
        farthest = norm(ball.centre) + ball.centre_error + ball.radius * float(root)
        g, level = half_space(point, gap, farthest)
        scaled = metric.smoothness.times(g)
        size = float(np.sqrt(dot(g, scaled)))
        if size < SMALLEST_NORM:  # squares in ||A s|| may underflow
            return low, high
        rounding = norm(g) * (gamma(len(g) + 4) * norm(ball.centre) + ball.centre_error) * SLACK
        depth = (level - dot(g, ball.centre) + rounding) / size
        depth += (SLACK - 1.0) * abs(depth)
        cap = Cap(metric.reach, depth, ball.radius)
        if not abs(depth) < ball.radius or not _promising(
            point, ball, scaled / size, cap, low, high
        ):
            return low, high
        along = problem.correlate(scaled) / size
        error = problem.correlation_error(norm(scaled)) / size
        least = np.divide(
            error * problem.norms, cap.reach, out=np.zeros_like(along), where=cap.reach > 0
        )
        unsure = least + (SLACK - 1.0)
        slack = ball.uncertainty * SLACK
        above = cap_reach(along, unsure, cap) + slack
        below = cap_reach(-along, unsure, cap) + slack
        return np.maximum(low, ball.correlation - below), np.minimum(high, ball.correlation + above)


@dataclass(frozen=True)
class Cap:
    """What is left of a ball where <ĝ, e> <= depth, ĝ a unit vector: its columns' norms and sizes."""

    reach: Array
    depth: float
    radius: float


def half_space(point: Point, gap: float, farthest: float) -> tuple[Array, float]:
    """g and a level with <g, theta*> <= level, given ||theta*|| <= farthest.

    g is A s as computed: what rounding added to it is charged to the level.
    """
    problem = point.problem
    below, above = point.room
    step = np.where(problem.no_upper, below, np.minimum(_FARTHEST * below, above))
    step = np.where(problem.no_lower, -above, step)
    # The room above is rounded: stay inside the box, where the inequality holds.
    step[~problem.no_upper | (problem.lower != 0.0)] *= 1.0 - 4.0 * UNIT_ROUNDOFF
    if np.array_equal(step, point.x):  # x >= 0 and nothing else: A x is known
        prediction, error = point.prediction, point.prediction_error
    else:
        prediction, error = problem.predict(step), problem.prediction_error(step)
    g = prediction - problem.offset
    error += 2.0 * UNIT_ROUNDOFF * (norm(g) + norm(problem.offset))
    bound = gap if step[~problem.constrained].any() else 0.0
    if problem.cost is not None:
        sizes = dot(np.abs(step), problem.cost.size)
        bound += dot(step, problem.cost.c)
        bound += (gamma(len(step) + 2) + problem.cost.unit) * sizes
    return g, bound + error * farthest * SLACK + (SLACK - 1.0) * abs(bound)


def cap_reach(along: Array, unsure: Array, cap: Cap) -> Array:
    """Upper bound on the greatest a_jᵀe over ||e|| <= radius, <ĝ, e> <= depth; ||ĝ|| = 1.

    Hypothesis: |depth| < radius. Without rounding it is a∥ depth + a⊥ √(radius² - depth²) where the
    farthest point of the ball is cut off, radius a∥ > depth ||a||, and radius ||a|| elsewhere.
    a∥ = a_jᵀĝ is `along`, give or take unsure · ||a_j||: the maximum grows with a⊥, and with a∥ by at
    most the radius times its error. Norms and angles are those of the metric.
    """
    norms, depth, radius = cap.reach, cap.depth, cap.radius
    sure = np.maximum(np.abs(along) - unsure * norms, 0.0)
    across = np.sqrt(np.maximum((norms - sure) * (norms + sure), 0.0)) * SLACK
    length = np.hypot(along, across)
    width = float(np.sqrt((radius - depth) * (radius + depth))) * SLACK
    cut = radius * along > depth * length
    reach = np.where(cut, along * depth + across * width, radius * length)
    return reach + (unsure + (SLACK - 1.0)) * radius * norms


def _promising(point: Point, ball: Ball, scaled: Array, cap: Cap, low: Array, high: Array) -> bool:
    """Whether the dome screens any of a few columns, evenly spread over those it might screen."""
    problem = point.problem
    if not problem.design.has_columns:
        return True
    margin = max(cap.depth, 0.0) * cap.reach
    might = problem.open & (high >= 0.0) & (ball.correlation + margin < 0.0) & ~problem.no_lower
    might |= problem.open & (low <= 0.0) & (ball.correlation - margin > 0.0) & ~problem.no_upper
    found = np.flatnonzero(might)
    if len(found) <= 2 * _SAMPLE:
        return len(found) > 0
    chosen = found[np.linspace(0, len(found) - 1, _SAMPLE).astype(np.intp)]
    problem.work.add(len(chosen))
    along = problem.design.correlate_some(chosen, scaled)
    centre = ball.correlation[chosen]
    facing = np.where(centre < 0.0, along, -along)
    some = Cap(cap.reach[chosen], cap.depth, cap.radius)
    return bool(np.any(np.abs(centre) > cap_reach(facing, np.zeros(len(chosen)), some)))
