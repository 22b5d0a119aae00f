"""The free columns of a small problem, their Gram matrix G and its factor G = UᵀU.

Columns enter at the end and leave anywhere; only the columns of U after the first that left are
computed again. U is stored by rows, so that every inner loop but one runs along memory and adds a
multiple of one row to another.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .compiling import branch, branch_sums, inner
from .vectors import cross, flags, floats, indices, row_product

FreeSet = namedtuple(
    "FreeSet", ["columns", "gram", "factor", "chosen", "target", "fit", "column", "goal", "leaving"]
)
"""Arrays with room for the most columns there can be: a_j by rows, G, U, j, a_jᵀb, x_j; and room for a
column of U, the fit that is moved to, and which columns leave."""

Choice = namedtuple("Choice", ["chosen", "fit"])
"""j and x_j of a set to go back to."""

_FEW = 8
"""Up to this many new columns of U are computed one by one, more of them row by row."""
INDEPENDENT, NEW_IN_A_BATCH = 1e-13, 1e-3
"""The share of its squared norm that is new in a column which enters: on its own; in a batch."""


@inner
def new_set(tables):  # type: ignore[no-untyped-def]
    """Nothing free yet; `tables` are room for the columns, G and U."""
    columns, gram, factor = tables
    most = len(columns)
    vectors = floats(most), floats(most), floats(most), floats(most)
    return FreeSet(columns, gram, factor, indices(most), *vectors, flags(most))


@inner
def new_choice(most):  # type: ignore[no-untyped-def]
    """Nothing chosen yet."""
    return Choice(indices(most), floats(most))


@branch
def remember(free, count, kept):  # type: ignore[no-untyped-def]
    """Note which columns are free and their coefficients, to be able to go back."""
    for i in range(count):
        kept.chosen[i], kept.fit[i] = free.chosen[i], free.fit[i]


@inner
def append(free, count, columns, entering, norms, products):  # type: ignore[no-untyped-def]
    """Put columns at the end, with their products, but for U; returns how many there was room for."""
    size = min(len(entering), len(free.chosen) - count)
    for e in range(size):
        j, k = entering[e], count + e
        column, to = columns[j], free.columns[k]
        for i in range(len(column)):
            to[i] = column[i]
        free.gram[k, k] = norms[j] * norms[j]
        free.chosen[k], free.target[k], free.fit[k] = j, products[j], 0.0
    if size > 0:
        _products(free, count, size)
    return size


@inner
def _products(free, count, size):  # type: ignore[no-untyped-def]
    """Columns count, count + 1, … of G, but for the diagonal; by BLAS, unless there is one only."""
    if size == 1:
        for i in range(count):
            free.gram[i, count] = row_product(free.columns, i, free.columns[count])
        return
    block = cross(free.columns, count, count + size)
    for e in range(size):
        for i in range(count + e):
            free.gram[i, count + e] = block[e, i]


@branch
def factor(free, first, size, needed_by_first, needed):  # type: ignore[no-untyped-def]
    """Columns first, first + 1, … of U, where the share needed of ||a_k||² is independent of the rest.

    Columns that fall short are dropped, the others move together; returns the new size of the set.
    """
    gram, upper, end, many = free.gram, free.factor, first + size, size > _FEW
    stay = first
    for k in range(0 if many else first, end):
        row, start = k, first
        if k >= first:
            if not many:
                _fill_column(gram, upper, free.column, k, stay)
            rest = gram[k, k]
            for i in range(stay):
                rest -= upper[i, k] * upper[i, k]
            if not rest > (needed_by_first if k == first else needed) * gram[k, k]:
                if stay == first:
                    break  # where the steepest depends on the free columns, the caller bars it first
                continue
            if stay < k:
                _move(free, k, stay, end)
            upper[stay, stay] = np.sqrt(rest)
            row, start = stay, k + 1
            stay += 1
        if many:
            fill_row(gram, upper, row, start, end)
    return stay


@branch_sums
def fill_row(gram, factor, r, start, stop):  # type: ignore[no-untyped-def]
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
def _fill_column(gram, factor, column, k, count):  # type: ignore[no-untyped-def]
    """The first `count` entries of column k of U; `column` is room for them."""
    for i in range(count):
        column[i] = gram[i, k]
    for i in range(count):
        row = factor[i]
        value = column[i] / row[i]
        for p in range(i + 1, count):
            column[p] -= value * row[p]
        row[k] = value


@branch
def _move(free, k, to, end):  # type: ignore[no-untyped-def]
    """Column k takes the place `to` of one that was dropped."""
    for i in range(free.columns.shape[1]):
        free.columns[to, i] = free.columns[k, i]
    free.chosen[to], free.target[to], free.fit[to] = free.chosen[k], free.target[k], free.fit[k]
    for i in range(to):
        free.gram[i, to], free.factor[i, to] = free.gram[i, k], free.factor[i, k]
    free.gram[to, to] = free.gram[k, k]
    for c in range(k + 1, end):
        free.gram[to, c] = free.gram[k, c]


@branch_sums
def _half_fit(factor, target, count, out):  # type: ignore[no-untyped-def]
    """Solve Uᵀ out = target."""
    for i in range(count):
        out[i] = target[i]
    for i in range(count):
        row = factor[i]
        value = out[i] / row[i]
        out[i] = value
        for p in range(i + 1, count):
            out[p] -= value * row[p]


@branch_sums
def fit_factored(factor, target, count, out):  # type: ignore[no-untyped-def]
    """Solve UᵀU out = target."""
    _half_fit(factor, target, count, out)
    for i in range(count - 1, -1, -1):
        row = factor[i]
        total = out[i]
        for p in range(i + 1, count):
            total -= row[p] * out[p]
        out[i] = total / row[i]


@branch_sums
def decrement(free, count, w):  # type: ignore[no-untyped-def]
    """½ w_Fᵀ G⁻¹ w_F: how far the best fit of the free columns is below this one."""
    _slopes(free, count, w)
    _half_fit(free.factor, free.column, count, free.goal)
    total = 0.0
    for i in range(count):
        total += free.goal[i] * free.goal[i]
    return 0.5 * total


@branch
def refine(free, count, w):  # type: ignore[no-untyped-def]
    """One correction from the gradient w at a fresh residual."""
    _slopes(free, count, w)
    fit_factored(free.factor, free.column, count, free.goal)
    for i in range(count):
        free.fit[i] = max(free.fit[i] + free.goal[i], 0.0)


@branch
def _slopes(free, count, w):  # type: ignore[no-untyped-def]
    """The gradients of the free columns, where there is room for a column."""
    for i in range(count):
        free.column[i] = w[free.chosen[i]]


@branch
def move(free, count, cautious):  # type: ignore[no-untyped-def]
    """Move to the best fit; the columns that it sets below 0 leave, all at once, but for U.

    If `cautious`, only as far as the first of them meets 0, and that one leaves: the objective falls on
    the way. Returns where the first was that left, and how many stay.
    """
    fit, goal, leaving = free.fit, free.goal, free.leaving
    fit_factored(free.factor, free.target, count, goal)
    step = 1.0
    if cautious:
        for i in range(count):
            if goal[i] <= 0.0:
                step = min(step, fit[i] / (fit[i] - goal[i]) if fit[i] > goal[i] else 0.0)
    for i in range(count):
        moved = goal[i] if step == 1.0 else fit[i] + step * (goal[i] - fit[i])
        leaving[i] = goal[i] <= 0.0 and moved <= 1e-15 * fit[i]
        fit[i] = max(moved, 0.0)
    return _close_up(free, count, leaving)


@branch
def _close_up(free, count, leaving):  # type: ignore[no-untyped-def]
    """Take the columns marked `leaving` out: where the first of them was; how many stay."""
    stay, first = 0, count
    for k in range(count):
        if leaving[k]:
            first = min(first, k)
            continue
        if stay < k:
            for i in range(free.columns.shape[1]):
                free.columns[stay, i] = free.columns[k, i]
            free.chosen[stay], free.target[stay] = free.chosen[k], free.target[k]
            free.fit[stay] = free.fit[k]
            row = 0
            for i in range(k + 1):
                if not leaving[i]:
                    free.gram[row, stay] = free.gram[i, k]
                    row += 1
        stay += 1
    return first, stay
