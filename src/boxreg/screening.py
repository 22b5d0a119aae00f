"""The safe screening test."""

from __future__ import annotations

import numpy as np

from .arrays import Mask
from .duality import DualPoint
from .point import Point
from .safe_regions.base import SafeRegion


def screen(point: Point, dual: DualPoint, gap: float, region: SafeRegion) -> tuple[Mask, Mask]:
    """Open coordinates that are at their lower, and at their upper bound in every solution.

    max over the region of w_j < 0 implies x*_j = l_j, min > 0 implies x*_j = u_j, where that bound is
    finite. Both ends carry their rounding error.
    """
    problem = point.problem
    if not (np.isfinite(gap) and point.regular):
        nothing = np.zeros_like(problem.open)
        return nothing, nothing
    low, high = region.correlation_range(point, dual, gap)
    at_lower = problem.open & (high < 0.0) & ~problem.no_lower
    at_upper = problem.open & (low > 0.0) & ~problem.no_upper
    return at_lower, at_upper
