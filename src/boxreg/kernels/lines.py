"""Products with all of a dense A, line by line: its columns or its rows, whichever lie in one piece.

Out of memory one line after the other is the fastest way to read, with lines short enough for the
vector to stay in the first cache beside them; longer ones are taken four at a time, so that the vector
is read a fourth as often. Sums are in float64 whatever the lines are.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums, leaf_sums

_CACHED = 1 << 21
"""Entries of an A that the caches may hold: in them four lines at a time are faster always."""

_SHORTEST, _LONGEST = 50, 1800
"""Lengths between which lines are read one by one;"""

_LONGEST_SUM = 1500
"""up to here where they are summed: the sum is written besides."""

_STRIP = 4096
"""Entries of a sum that stay in the first caches while lines are added to it."""


@compiled_sums
def correlate_lines(lines, v):  # type: ignore[no-untyped-def]
    """The product of every line with v."""
    n, m = lines.shape
    out = np.empty(n)
    whole = n - n % 4
    if n * m > _CACHED and _SHORTEST <= m <= _LONGEST:
        whole = 0
    for j in range(0, whole, 4):
        _four_products(lines[j], lines[j + 1], lines[j + 2], lines[j + 3], v, out[j : j + 4])
    for j in range(whole, n):
        line = lines[j]
        total = 0.0
        for i in range(m):
            total += np.float64(line[i]) * v[i]
        out[j] = total
    return out


@leaf_sums
def _four_products(first, second, third, fourth, v, out):  # type: ignore[no-untyped-def]
    """The products of four lines with v."""
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for i in range(len(v)):
        t = v[i]
        p += np.float64(first[i]) * t
        q += np.float64(second[i]) * t
        r += np.float64(third[i]) * t
        s += np.float64(fourth[i]) * t
    out[0], out[1], out[2], out[3] = p, q, r, s


@compiled_sums
def combine_lines(lines, weights):  # type: ignore[no-untyped-def]
    """The sum of the lines, each times its weight."""
    n, m = lines.shape
    out = np.zeros(m)
    whole = n - n % 4
    if n * m > _CACHED and _SHORTEST <= m <= _LONGEST_SUM:
        whole = 0
    for start in range(0, m, _STRIP):
        stop = min(start + _STRIP, m)
        total = out[start:stop]
        for j in range(0, whole, 4):
            first, second = lines[j, start:stop], lines[j + 1, start:stop]
            third, fourth = lines[j + 2, start:stop], lines[j + 3, start:stop]
            four = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
            add_four(total, first, second, third, fourth, *four)
        for j in range(whole, n):
            line, weight = lines[j, start:stop], weights[j]
            for i in range(len(total)):
                total[i] += weight * np.float64(line[i])
    return out


@leaf_sums
def add_four(total, first, second, third, fourth, p, q, r, s):  # type: ignore[no-untyped-def]
    """Add four lines, each times its weight."""
    for i in range(len(total)):
        one, two = np.float64(first[i]), np.float64(second[i])
        three, four = np.float64(third[i]), np.float64(fourth[i])
        total[i] += (p * one + q * two) + (r * three + s * four)
