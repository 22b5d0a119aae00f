"""Orthogonal factors A_F = Q R of a set F of columns that enter at the end and leave anywhere."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .compiling import branch_sums, inner, leaf_sums
from .vectors import floats, indices, row_product, square

Factor = namedtuple("Factor", ["q", "upper", "chosen", "rest", "costs", "step", "turns"])
"""Q by columns, each a row; R by columns; the variable of each; s; R⁻ᵀc_F; memory for p and turns."""

_DEPENDENT = 1e-14
"""A column depends on those in F if this share of it, or less, lies outside their span."""
_REPEATED = 0.2
"""Gram-Schmidt is repeated as long as less than this share of a column is left of it."""


@inner
def new_factor(most, m):  # type: ignore[no-untyped-def]
    """Room for so many columns of length m."""
    return Factor(
        np.empty((most, m)),
        np.empty((most, most)),
        indices(most),
        floats(most),
        floats(most),
        floats(most),
        np.empty((2, most)),
    )


@branch_sums
def enter(task, factor, count, j):  # type: ignore[no-untyped-def]
    """Put column j at the end of Q and R; False where it depends on those that are there.

    Column `count` of R above the diagonal is Qᵀa_j in any case.
    """
    q, upper, source = factor.q, factor.upper, task.columns[j]
    if task.norms[j] == 0.0 or count == len(upper):
        return False
    fresh, column = q[count], upper[count]
    for i in range(len(fresh)):
        fresh[i] = source[i]
    for k in range(count):
        column[k] = 0.0
    before, rest = np.inf, task.norms[j]
    while rest < _REPEATED * before:  # nothing is lost where most of the column is new
        _take_out(q, count, fresh, factor.step)
        for k in range(count):
            column[k] += factor.step[k]
        before, rest = rest, np.sqrt(square(fresh))
        if not rest > _DEPENDENT * task.norms[j]:
            return False
    scale = 1.0 / rest
    for i in range(len(fresh)):
        fresh[i] *= scale
    column[count] = rest
    pull = task.cost[j]
    for k in range(count):
        pull -= column[k] * factor.costs[k]
    factor.costs[count] = pull / rest
    factor.chosen[count] = j
    return True


@leaf_sums
def _take_out(q, count, v, products):  # type: ignore[no-untyped-def]
    """v less its components along the columns of Q, which go to `products`; four at a time."""
    m, whole = len(v), count - count % 4
    for k in range(0, whole, 4):
        first, second, third, fourth = q[k], q[k + 1], q[k + 2], q[k + 3]
        s, t, u, z = 0.0, 0.0, 0.0, 0.0
        for i in range(m):
            value = v[i]
            s += first[i] * value
            t += second[i] * value
            u += third[i] * value
            z += fourth[i] * value
        products[k], products[k + 1], products[k + 2], products[k + 3] = s, t, u, z
    for k in range(whole, count):
        products[k] = row_product(q, k, v)
    for k in range(0, whole, 4):
        first, second, third, fourth = q[k], q[k + 1], q[k + 2], q[k + 3]
        s, t, u, z = products[k], products[k + 1], products[k + 2], products[k + 3]
        for i in range(m):
            v[i] -= (s * first[i] + t * second[i]) + (u * third[i] + z * fourth[i])
    for k in range(whole, count):
        first, s = q[k], products[k]
        for i in range(m):
            v[i] -= s * first[i]


@leaf_sums
def back_substitute(upper, count, p):  # type: ignore[no-untyped-def]
    """R⁻¹ p in place of p."""
    for k in range(count - 1, -1, -1):
        column = upper[k]
        value = p[k] / column[k]
        p[k] = value
        for i in range(k):
            p[i] -= value * column[i]


@branch_sums
def leave(factor, count, at):  # type: ignore[no-untyped-def]
    """Take the column at place `at` out of Q and R, by rotations of those after it."""
    q, upper, chosen = factor.q, factor.upper, factor.chosen
    s, g, turns = factor.rest, factor.costs, factor.turns
    for c in range(at, count - 1):
        column, source = upper[c], upper[c + 1]
        for i in range(c + 2):
            column[i] = source[i]
        chosen[c] = chosen[c + 1]
        for i in range(at, c):
            high, low = column[i], column[i + 1]
            column[i] = turns[0, i] * high + turns[1, i] * low
            column[i + 1] = turns[0, i] * low - turns[1, i] * high
        size = np.sqrt(column[c] * column[c] + column[c + 1] * column[c + 1])
        turns[0, c], turns[1, c] = column[c] / size, column[c + 1] / size
        column[c] = size
    for i in range(at, count - 1):
        cosine, sine = turns[0, i], turns[1, i]
        high, low = q[i], q[i + 1]
        for r in range(len(high)):
            a, b = high[r], low[r]
            high[r] = cosine * a + sine * b
            low[r] = cosine * b - sine * a
        a, b = s[i], s[i + 1]
        s[i], s[i + 1] = cosine * a + sine * b, cosine * b - sine * a
        a, b = g[i], g[i + 1]
        g[i], g[i + 1] = cosine * a + sine * b, cosine * b - sine * a


@leaf_sums
def move_residual(factor, first, count, length, residual):  # type: ignore[no-untyped-def]
    """r - length · A_F p.

    A_F p = Q s, as R p = s.
    """
    for k in range(first, count):
        value, row = length * factor.rest[k], factor.q[k]
        if value != 0.0:
            for i in range(len(residual)):
                residual[i] -= value * row[i]
