"""The loops of block principal pivoting: a small system, and which states it contradicts."""

from __future__ import annotations

import numpy as np

from ..block_pivoting import FREE, LOWER, UPPER
from .compiling import compiled, compiled_sums
from .free_set import fill_row, fit_factored


@compiled
def solve_small(gram, free, pull, x):  # type: ignore[no-untyped-def]
    """Solve G_FF x_F = p_F by a factor made for this once; x is 0 elsewhere.

    Returns the least share of a column outside the span of those before it; 0 if G_FF is singular.
    """
    chosen = np.flatnonzero(free)
    count = len(chosen)
    block, factor = np.empty((count, count)), np.empty((count, count))
    target, out = np.empty(count), np.empty(count)
    for i in range(count):
        row = gram[chosen[i]]
        target[i] = pull[chosen[i]]
        for k in range(i, count):
            block[i, k] = row[chosen[k]]
    least = 1.0
    for i in range(count):
        rest = block[i, i]
        for p in range(i):
            rest -= factor[p, i] * factor[p, i]
        if not rest > 0.0:
            return 0.0
        factor[i, i] = np.sqrt(rest)
        least = min(least, np.sqrt(rest / block[i, i]))
        fill_row(block, factor, i, i + 1, count)
    fit_factored(factor, target, count, out)
    x[:] = 0.0
    for i in range(count):
        x[chosen[i]] = out[i]
    return least


@compiled_sums
def contradictions(gram, c, x, states, lower, upper, noise, wish):  # type: ignore[no-untyped-def]
    """The state that each coordinate wishes for at x: its own where nothing contradicts it.

    A free one outside its box wishes to be at that bound; one at a bound to be free where its gradient
    c - G x points inwards by more than the noise. Without a lower bound both ways are inwards.
    """
    for j in range(len(c)):
        wish[j] = states[j]
        if states[j] == FREE:
            if x[j] < lower[j]:
                wish[j] = LOWER
            elif x[j] > upper[j]:
                wish[j] = UPPER
            continue
        row, slope = gram[j], c[j]
        for k in range(len(c)):
            slope -= row[k] * x[k]
        rises = states[j] == LOWER and slope > noise[j]
        falls = (states[j] == UPPER or lower[j] == -np.inf) and slope < -noise[j]
        if rises or falls:
            wish[j] = FREE
