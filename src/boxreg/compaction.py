"""When to copy the surviving columns together."""

from __future__ import annotations

from .reduced import ReducedProblem
from .settings import current


def spares(problem: ReducedProblem) -> bool:
    """Whether A is so small that a copy of it does not count."""
    return problem.design.nbytes <= current().large_bytes


def pays(problem: ReducedProblem) -> bool:
    """Whether dropping the fixed columns now is worth the copy.

    The copy reads and writes the survivors once, about the cost of three products with them; every
    later step saves a product or two with the columns dropped. With three in ten columns gone it
    is repaid within about ten steps, and since sizes then fall geometrically all copies of a run
    together cost a few products. Of a matrix that caches hold a copy costs less, and one column in ten
    is enough. Operators cannot shed columns.

    The original stays where it is, so a copy adds to the memory in use: of a large A only a tenth may
    be copied.
    """
    if not problem.design.has_columns or not len(problem.lower):
        return False
    held = len(problem.lower)
    size = problem.design.nbytes
    share = 0.9 if size <= current().cache_bytes else 0.7 if size <= current().large_bytes else 0.1
    return problem.open_count <= share * held
