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
from scipy.linalg import cho_factor, cho_solve

from .arrays import Array

LOWER, FREE, UPPER = -1, 0, 1

_GRACE = 3
"""Full exchanges allowed without progress before single ones take over."""


@dataclass(frozen=True)
class Pivoted:
    """The solution, the final states and how many systems were solved."""

    x: Array
    states: npt.NDArray[np.int8]
    rounds: int
    single_exchanges: int


def block_pivoting(
    gram: Array,
    c: Array,
    lower: Array,
    upper: Array,
    states: npt.NDArray[np.int8],
    noise: Array,
    max_rounds: int,
) -> Pivoted | None:
    """Solve from the given states; None if G is numerically singular or the rounds run out.

    A gradient within `noise` of 0 breaks no condition.
    """
    states = states.copy()
    fewest, grace, single = len(c) + 1, _GRACE, 0
    for rounds in range(1, max_rounds + 1):
        x = np.where(states == UPPER, upper, lower)
        free = np.flatnonzero(states == FREE)
        bound = np.flatnonzero((states != FREE) & (x != 0.0))
        pull = c - gram[:, bound] @ x[bound] if len(bound) else c
        if len(free):
            try:
                factor = cho_factor(gram[np.ix_(free, free)], lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                return None
            if _singular(factor[0]):
                return None
            x[free] = cho_solve(factor, pull[free], check_finite=False)
            gradient = pull - gram[:, free] @ x[free]
        else:
            gradient = pull
        too_low = (states == FREE) & (x < lower)
        too_high = (states == FREE) & (x > upper)
        leaving = (states == LOWER) & (gradient > noise)
        leaving |= (states == UPPER) & (gradient < -noise)
        broken = np.flatnonzero(too_low | too_high | leaving)
        if not len(broken):
            return Pivoted(np.clip(x, lower, upper), states, rounds, single)
        if len(broken) < fewest:
            fewest, grace = len(broken), _GRACE
        elif grace > 0:
            grace -= 1
        else:
            broken = broken[-1:]
            single += 1
        chosen = np.zeros(len(c), dtype=bool)
        chosen[broken] = True
        states[chosen & too_low] = LOWER
        states[chosen & too_high] = UPPER
        states[chosen & leaving] = FREE
    return None


def _singular(factor: Array) -> bool:
    """Whether the Cholesky diagonal shows a condition number beyond what half precision bears."""
    diagonal = np.abs(np.diag(factor))
    return bool(diagonal.min() <= 1e-7 * diagonal.max())
