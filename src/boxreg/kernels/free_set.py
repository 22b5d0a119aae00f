"""The free columns of a small problem, their Gram matrix G and its factor G = UᵀU.

Columns enter at the end and leave anywhere; only the columns of U after the first that left are
computed again. U is stored by rows, so that every inner loop but one runs along memory and adds a
multiple of one row to another.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .block_products import correlate_one
from .compiling import branch, branch_sums, inner, inner_sums
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
INDEPENDENT = (1e-13, 1e-3)
"""The share of its squared norm that is new in a column which enters: on its own; in a batch."""
IN_ANY_CASE = (0.0, 0.0)


@inner
def new_set(room, m, most):  # type: ignore[no-untyped-def]
    """Nothing free yet; the tables lie in `room`, of which they take most (m + 2 most) numbers."""
    first, second = most * m, most * (m + most)
    return FreeSet(
        room[:first].reshape((most, m)),
        room[first:second].reshape((most, most)),
        room[second : second + most * most].reshape((most, most)),
        indices(most),
        floats(most),
        floats(most),
        floats(most),
        floats(most),
        flags(most),
    )


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
def enter(free, count, listed, rows, places, entering, norms, products, needed):  # type: ignore[no-untyped-def]
    """Append listed columns that are independent enough; returns the new size.

    Column listed[k] is row places[k] of `rows`. `needed` are the shares of its squared norm that must
    be new in the first of them, and in every other.
    """
    size = min(len(entering), len(free.chosen) - count)
    if size == 0:
        return count
    for e in range(size):
        row, to = rows[places[entering[e]]], free.columns[count + e]
        for i in range(len(row)):
            to[i] = row[i]
    _products(free, count, size)
    for e in range(size):
        j, k = listed[entering[e]], count + e
        free.gram[k, k] = norms[j] * norms[j]
        free.chosen[k], free.target[k], free.fit[k] = j, products[j], 0.0
    return _factor(free, count, size, needed[0], needed[1])


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
def _factor(free, first, size, needed_by_first, needed):  # type: ignore[no-untyped-def]
    """Columns first, first + 1, … of U, where the share needed of ||a_k||² is independent of the rest.

    Columns that fall short are dropped, the others move together; returns the new size of the set.
    """
    gram, factor, end, many = free.gram, free.factor, first + size, size > _FEW
    stay = first
    for k in range(0 if many else first, end):
        row, start = k, first
        if k >= first:
            if not many:
                _fill_column(gram, factor, free.column, k, stay)
            rest = gram[k, k]
            for i in range(stay):
                rest -= factor[i, k] * factor[i, k]
            if not rest > (needed_by_first if k == first else needed) * gram[k, k]:
                if stay == first:
                    break  # where the steepest depends on the free columns, the caller bars it first
                continue
            if stay < k:
                _move(free, k, stay, end)
            factor[stay, stay] = np.sqrt(rest)
            row, start = stay, k + 1
            stay += 1
        if many:
            fill_row(gram, factor, row, start, end)
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


@inner
def _slopes(free, count, w):  # type: ignore[no-untyped-def]
    """The gradients of the free columns."""
    slopes = floats(count)
    for i in range(count):
        slopes[i] = w[free.chosen[i]]
    return slopes


@inner_sums
def decrement(free, count, w):  # type: ignore[no-untyped-def]
    """½ w_Fᵀ G⁻¹ w_F: how far the best fit of the free columns is below this one."""
    z = floats(count)
    _half_fit(free.factor, _slopes(free, count, w), count, z)
    total = 0.0
    for i in range(count):
        total += z[i] * z[i]
    return 0.5 * total


@branch
def _close_up(free, count, leaving):  # type: ignore[no-untyped-def]
    """Take the columns marked `leaving` out, but for U: where the first of them was; how many stay."""
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


@branch
def rest(b, free, count, out):  # type: ignore[no-untyped-def]
    """out = b less the sum of the free columns, each times its coefficient."""
    correlate_one(free.columns[:count], free.fit, 0, len(out), out)
    for i in range(len(out)):
        out[i] = b[i] - out[i]


@branch
def move(free, count, cautious):  # type: ignore[no-untyped-def]
    """Move to the best fit, and again without the columns that it sets below 0, until none is.

    All of those leave at once. If `cautious`, only as far as the first of them meets 0, and that one
    leaves: the objective falls on the way. Returns how many columns stay.
    """
    fit, goal, leaving = free.fit, free.goal, free.leaving
    while count > 0:
        fit_factored(free.factor, free.target, count, goal)
        step = 1.0
        if cautious:
            for i in range(count):
                if goal[i] <= 0.0:
                    step = min(step, fit[i] / (fit[i] - goal[i]) if fit[i] > goal[i] else 0.0)
        some = False
        for i in range(count):
            moved = goal[i] if step == 1.0 else fit[i] + step * (goal[i] - fit[i])
            leaving[i] = goal[i] <= 0.0 and moved <= 1e-15 * fit[i]
            fit[i] = max(moved, 0.0)
            some |= leaving[i]
        if not some:
            break
        first, stay = _close_up(free, count, leaving)
        count = _factor(free, first, stay - first, 0.0, 0.0) if first < stay else stay
    return count


@inner
def refine(free, count, w):  # type: ignore[no-untyped-def]
    """One correction from the gradient w at a fresh residual."""
    step = floats(count)
    fit_factored(free.factor, _slopes(free, count, w), count, step)
    for i in range(count):
        free.fit[i] = max(free.fit[i] + step[i], 0.0)
