"""The loops of block principal pivoting: a small system, and which states it contradicts."""

from __future__ import annotations

import numpy as np

from ..block_pivoting import FREE, LOWER, UPPER
from .compiling import branch_sums, compiled, compiled_sums


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
        _fill_row(block, factor, i, i + 1, count)
    _fit_factored(factor, target, count, out)
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


@branch_sums
def _fill_row(gram, factor, r, start, stop):  # type: ignore[no-untyped-def]
    """Row r of U over the columns from start to stop, four rows above it at a time."""
    out = factor[r, start:stop]
    source = gram[r, start:stop]
    size = stop - start
    for c in range(size):
        out[c] = source[c]
    whole = r - r % 4
    for p in range(0, whole, 4):
        s, t, u, v = factor[p, r], factor[p + 1, r], factor[p + 2, r], factor[p + 3, r]
        first, second = factor[p, start:stop], factor[p + 1, start:stop]
        third, fourth = factor[p + 2, start:stop], factor[p + 3, start:stop]
        for c in range(size):
            out[c] -= (s * first[c] + t * second[c]) + (u * third[c] + v * fourth[c])
    for p in range(whole, r):
        s, first = factor[p, r], factor[p, start:stop]
        for c in range(size):
            out[c] -= s * first[c]
    scale = 1.0 / factor[r, r]
    for c in range(size):
        out[c] *= scale


@branch_sums
def _fit_factored(factor, target, count, out):  # type: ignore[no-untyped-def]
    """Solve UᵀU out = target."""
    for i in range(count):
        out[i] = target[i]
    for i in range(count):
        row = factor[i]
        value = out[i] / row[i]
        out[i] = value
        for p in range(i + 1, count):
            out[p] -= value * row[p]
    for i in range(count - 1, -1, -1):
        row = factor[i]
        total = out[i]
        for p in range(i + 1, count):
            total -= row[p] * out[p]
        out[i] = total / row[i]
