"""Products with all of a dense A, line by line: its columns or its rows, whichever lie in one piece.

Four lines are read at a time, a quarter of A apart: memory delivers four far streams faster than one,
and faster than four neighbours that begin at each other's heels, and the vector is read a fourth as
often. Sums are in float64 whatever the lines are.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums, leaf_sums

_STRIP = 16384
"""Entries of a sum that stay in the second cache while lines are added to it. Shorter strips stay in the
first, but memory is slow to start on each of them."""


@compiled_sums
def correlate_lines(lines, v):  # type: ignore[no-untyped-def]
    """The product of every line with v."""
    n = len(lines)
    out, four, quarter = np.empty(n), np.empty(4), n // 4
    for j in range(quarter):
        k, o, p = j + quarter, j + 2 * quarter, j + 3 * quarter
        four_products(lines[j], lines[k], lines[o], lines[p], v, four)
        out[j], out[k], out[o], out[p] = four[0], four[1], four[2], four[3]
    for j in range(4 * quarter, n):
        out[j] = product(lines[j], v)
    return out


@leaf_sums
def product(line, v):  # type: ignore[no-untyped-def]
    """The product of a line with v."""
    total = 0.0
    for i in range(len(v)):
        total += np.float64(line[i]) * v[i]
    return total


@leaf_sums
def four_products(first, second, third, fourth, v, out):  # type: ignore[no-untyped-def]
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
    out, quarter = np.zeros(m), n // 4
    for start in range(0, m, _STRIP):
        stop = min(start + _STRIP, m)
        total = out[start:stop]
        for j in range(quarter):
            k, o, p = j + quarter, j + 2 * quarter, j + 3 * quarter
            first, second = lines[j, start:stop], lines[k, start:stop]
            third, fourth = lines[o, start:stop], lines[p, start:stop]
            add_four(
                total, first, second, third, fourth, weights[j], weights[k], weights[o], weights[p]
            )
        for j in range(4 * quarter, n):
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
