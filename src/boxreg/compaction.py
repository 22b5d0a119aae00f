"""When to copy the surviving columns together."""

from __future__ import annotations

import numpy as np

from .reduced import ReducedProblem

_LARGE = 1 << 29
"""Bytes above which memory counts for more than time."""


def pays(problem: ReducedProblem) -> bool:
    """Whether dropping the fixed columns now is worth the copy.

    The copy reads and writes the survivors once, about the cost of three products with them; every
    later step saves a product or two with the columns dropped. With three in ten columns gone it
    is repaid within about ten steps, and since sizes then fall geometrically all copies of a run
    together cost a few products. Operators cannot shed columns.

    The original stays where it is, so a copy adds to the memory in use: of a large A only a tenth may
    be copied.
    """
    if not problem.design.has_columns or not len(problem.lower):
        return False
    held = len(problem.lower)
    share = 0.7 if problem.design.nbytes <= _LARGE else 0.1
    return int(np.count_nonzero(problem.open)) <= share * held
