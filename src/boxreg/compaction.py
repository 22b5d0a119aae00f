"""When to copy the surviving columns together."""

from __future__ import annotations

from .reduced import ReducedProblem


def pays(problem: ReducedProblem) -> bool:
    """Whether dropping the fixed columns now is worth the copy.

    The copy reads and writes the survivors once, about the cost of three products with them; every
    later step saves a product or two with the columns dropped. With three in ten columns gone it
    is repaid within about ten steps, and since sizes then fall geometrically all copies of a run
    together cost a few products. Operators cannot shed columns.
    """
    if not problem.design.has_columns or not len(problem.lower):
        return False
    held = len(problem.lower)
    return int(problem.open.sum()) <= 0.7 * held
