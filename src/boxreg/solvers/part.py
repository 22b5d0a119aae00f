"""A problem over some of its coordinates, all others held still."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Index
from ..point import Point


def within(point: Point, used: Index, *, copy: bool = True) -> Point:
    """The point in the problem over the coordinates `used` (sorted), whose columns are copied or not."""
    problem = point.problem
    held = np.zeros(len(point.x), dtype=bool)
    held[used] = True
    still = replace(
        problem,
        lower=np.where(held, problem.lower, point.x),
        upper=np.where(held, problem.upper, point.x),
    )
    return point.kept(still.keep(used, copy=copy), used)


def whole(point: Point, used: Index, part: Point) -> Point:
    """The point with the coordinates `used` replaced by those of the part."""
    x = point.x.copy()
    x[used] = part.x
    moved = Point(point.problem, x)
    part.hand_over(moved)
    return moved
