"""Blocks of right-hand sides within a chunk: views of what belongs to one."""

from __future__ import annotations

from collections import namedtuple

from .compiling import inner
from .vectors import indices

Answers = namedtuple("Answers", ["X", "theta", "gaps", "objectives", "scales", "targets"])
"""Where answers go: one row a right-hand side. theta may have no rows."""


@inner
def answers_within(answers, first, last):  # type: ignore[no-untyped-def]
    """The rows first … last."""
    return Answers(
        answers.X[first:last],
        answers.theta[first:last],
        answers.gaps[first:last],
        answers.objectives[first:last],
        answers.scales[first:last],
        answers.targets[first:last],
    )


@inner
def bounds_within(bounds, first, last):  # type: ignore[no-untyped-def]
    """The rows first … last, or the one that all share."""
    if len(bounds) == 1:
        return bounds[0:1]
    return bounds[first:last]


@inner
def valid_within(valid, first, last):  # type: ignore[no-untyped-def]
    """Which of them are to be solved, counted from the first."""
    count = 0
    for p in range(first, last):
        count += valid[p]
    used, k = indices(count), 0
    for p in range(first, last):
        if valid[p]:
            used[k] = p - first
            k += 1
    return used
