"""The free columns of a small problem, their Gram matrix G and its factor G = UᵀU.

Columns enter at the end and leave anywhere; only the columns of U after the first that left are
computed again. U is stored by rows, so that every inner loop but one runs along memory and adds a
multiple of one row to another.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .compiling import inner, inner_sums
from .vectors import correlate, cross, flags, floats, indices, table

FreeSet = namedtuple("FreeSet", ["columns", "gram", "factor", "chosen", "target", "fit"])
"""Arrays with room for the most columns there can be: a_j by rows, G, U, j, a_jᵀb and x_j."""

_FEW = 8
"""Up to this many new columns of U are computed one by one, more of them row by row."""
_DISTINCT = 1e-3
"""A column joins a batch if this share of its squared norm, or more, is new."""
_INDEPENDENT = 1e-13
"""A column enters on its own if this share of its squared norm, or more, is."""


@inner
def new_set(m, room):  # type: ignore[no-untyped-def]
    """Nothing free yet."""
    return FreeSet(
        table(room, m),
        table(room, room),
        table(room, room),
        indices(room),
        floats(room),
        floats(room),
    )


@inner
def remember(free, count, kept):  # type: ignore[no-untyped-def]
    """Note which columns are free and their coefficients, to be able to go back."""
    for i in range(count):
        kept.chosen[i], kept.fit[i] = free.chosen[i], free.fit[i]


@inner
def enter(free, count, listed, shortlist, entering, norms, products):  # type: ignore[no-untyped-def]
    """Append listed columns that are independent enough; returns the new size."""
    first, columns = count, free.columns
    size = min(len(entering), len(free.chosen) - count)
    if size == 0:
        return count
    for e in range(size):
        row = shortlist[entering[e]]
        for i in range(len(row)):
            columns[first + e, i] = row[i]
    block = cross(columns, first, first + size)
    for e in range(size):
        j, k = listed[entering[e]], first + e
        for i in range(k):
            free.gram[i, k] = block[e, i]
        free.gram[k, k] = norms[j] * norms[j]
        free.chosen[k], free.target[k], free.fit[k] = j, products[j], 0.0
    return _factor(free, first, size, _INDEPENDENT, _DISTINCT)


@inner
def restore(free, count, A, kept, size, norms, products):  # type: ignore[no-untyped-def]
    """Put a set back that was factored before; what is in place already stays."""
    same = 0
    while same < min(count, size) and free.chosen[same] == kept.chosen[same]:
        same += 1
    for k in range(same, size):
        j = kept.chosen[k]
        for i in range(A.shape[0]):
            free.columns[k, i] = A[i, j]
        free.chosen[k], free.target[k] = j, products[j]
    block = cross(free.columns, same, size)
    for k in range(same, size):
        for i in range(k):
            free.gram[i, k] = block[k - same, i]
        free.gram[k, k] = norms[kept.chosen[k]] ** 2
    for k in range(size):
        free.fit[k] = kept.fit[k]
    return _factor(free, same, size - same, 0.0, 0.0)


@inner
def _factor(free, first, size, needed_by_first, needed):  # type: ignore[no-untyped-def]
    """Columns first, first + 1, … of U, where the share needed of ||a_k||² is independent of the rest.

    Columns that fall short are dropped, the others move together; returns the new size of the set.
    """
    gram, factor, end = free.gram, free.factor, first + size
    if size > _FEW:
        for i in range(first):
            _fill_row(gram, factor, i, first, end)
    stay = first
    for k in range(first, end):
        if size <= _FEW:
            _fill_column(gram, factor, k, stay)
        rest = gram[k, k]
        for i in range(stay):
            rest -= factor[i, k] * factor[i, k]
        if rest > (needed_by_first if k == first else needed) * gram[k, k]:
            if stay < k:
                _move(free, k, stay, end)
            factor[stay, stay] = np.sqrt(rest)
            if size > _FEW:
                _fill_row(gram, factor, stay, k + 1, end)
            stay += 1
        elif stay == first:
            break  # where the steepest depends on the free columns, the caller bars it first
    return stay


@inner_sums
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


@inner_sums
def _fill_column(gram, factor, k, count):  # type: ignore[no-untyped-def]
    """The first `count` entries of column k of U."""
    column = floats(count)
    for i in range(count):
        column[i] = gram[i, k]
    for i in range(count):
        row = factor[i]
        value = column[i] / row[i]
        for p in range(i + 1, count):
            column[p] -= value * row[p]
        row[k] = value


@inner
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


@inner_sums
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


@inner_sums
def _fit(factor, target, count, out):  # type: ignore[no-untyped-def]
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


@inner
def _drop(free, count, leaving):  # type: ignore[no-untyped-def]
    """Take the columns marked `leaving` out; returns the new size."""
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
    return _factor(free, first, stay - first, 0.0, 0.0) if first < stay else stay


@inner
def rest(b, free, count):  # type: ignore[no-untyped-def]
    """b less the sum of the free columns, each times its coefficient."""
    out = b.copy()
    if count:
        prediction = correlate(free.columns[:count], free.fit[:count])
        for i in range(len(out)):
            out[i] -= prediction[i]
    return out


@inner
def move(free, count, cautious):  # type: ignore[no-untyped-def]
    """Move to the best fit, and again without the columns that it sets below 0, until none is.

    All of those leave at once. If `cautious`, only as far as the first of them meets 0, and that one
    leaves: the objective falls on the way. Returns how many columns stay.
    """
    fit, goal, leaving = free.fit, floats(count), flags(count)
    while count > 0:
        _fit(free.factor, free.target, count, goal)
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
        count = _drop(free, count, leaving)
    return count


@inner
def refine(free, count, w):  # type: ignore[no-untyped-def]
    """One correction from the gradient w at a fresh residual."""
    step = floats(count)
    _fit(free.factor, _slopes(free, count, w), count, step)
    for i in range(count):
        free.fit[i] = max(free.fit[i] + step[i], 0.0)
