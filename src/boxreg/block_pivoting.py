"""Block principal pivoting for a small box-constrained quadratic problem.

    minimise ½ xᵀG x - cᵀx   subject to   l <= x <= u

Every variable is at its lower bound, free, or at its upper bound. Given the states, the free ones
solve a linear system; then all that break a condition change state at once (Júdice and Pires; Kim
and Park). As long as the number of broken conditions falls this takes a few rounds. When it has not
fallen for a while only the last broken one changes (Murty's rule), which ends for every positive
definite G.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .arrays import Array
from .free_system import FreeSystem
from .matrix_products import symmetric_times
from .work import WorkMeter

LOWER, FREE, UPPER = -1, 0, 1

_RETURNS = 5
"""How often variables that were barred as dependent may try again."""

_GRACE = 3
"""Full exchanges allowed without progress before single ones take over."""


@dataclass(frozen=True)
class Pivoted:
    """The solution, the final states and how many systems were solved."""

    x: Array
    states: npt.NDArray[np.int8]
    rounds: int
    single_exchanges: int
    sound: bool
    """Whether the free columns are far from dependent."""


def block_pivoting(
    system: FreeSystem,
    c: Array,
    lower: Array,
    upper: Array,
    states: npt.NDArray[np.int8],
    rest: Array,
    noise: Array,
    max_rounds: int,
    work: WorkMeter,
) -> Pivoted | None:
    """Solve from the given states; None if rounds or time run out, or G is too singular to tell.

    G is that of `system`. A gradient within `noise` of 0 breaks no condition. Free variables whose
    columns depend on the others go to their lower bound, or to `rest` where they have none, and stay
    there; if in the end one of them wants to leave it beyond `noise`, more accurate means are needed.
    """
    from .kernels.exchanges import contradictions

    gram, states, wish = system.gram, states.copy(), np.empty_like(states)
    bottom = np.where(lower == -np.inf, rest, lower)
    barred = np.zeros(len(c), dtype=bool)
    fewest, grace, single, returns, doubtful = len(c) + 1, _GRACE, 0, 0, False
    for rounds in range(1, max_rounds + 1):
        if work.over:
            return None
        free = states == FREE
        bound = np.where(states == UPPER, upper, bottom)
        bound[free] = 0.0
        pull = c - symmetric_times(gram, bound) if bound.any() else c
        x, dependent = system.solve(free, pull)
        if len(dependent):
            states[dependent] = LOWER
            barred[dependent] = doubtful = True
            continue
        x += bound
        doubtful |= not system.sound
        contradictions(gram, c, x, states, lower, upper, noise, wish)
        leaving = (wish != states) & ~free
        broken = np.flatnonzero((wish != states) & ~(leaving & barred))
        if not len(broken) and np.any(leaving) and returns < _RETURNS:
            # What they depended on may be at a bound by now: let them try again.
            returns += 1
            barred &= ~leaving
            states[leaving] = FREE
            fewest, grace = len(c) + 1, _GRACE
            continue
        if not len(broken):
            if np.any(leaving):
                return None
            return Pivoted(np.clip(x, lower, upper), states, rounds, single, system.sound)
        if len(broken) < fewest:
            fewest, grace = len(broken), _GRACE
        elif grace > 0:
            grace -= 1
        elif doubtful:
            return None  # single exchanges would be many, and led by rounding
        else:
            broken = broken[-1:]
            single += 1
        states[broken] = wish[broken]
    return None
