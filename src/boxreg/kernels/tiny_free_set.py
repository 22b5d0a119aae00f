"""The free columns F of a tiny problem, with a Cholesky factor A_FᵀA_F = LLᵀ and z = L⁻¹A_Fᵀb.

One column enters or leaves at a time. L is stored by rows: those above the place of the change stay as
they are, and so do the entries of z. Everything is spliced into who calls it: with so many arrays a call
takes longer than the arithmetic.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .compiling import leaf, leaf_sums
from .vectors import row_product

FreeSet = namedtuple(
    "FreeSet",
    ["columns", "norms", "chosen", "gram", "factor", "target", "half", "goal", "fit", "kept"],
)
"""All columns of A by rows, and their norms; of the free ones, with room for the most there can be: j,
the Gram matrix from its diagonal on, L with 1 / l_jj on its diagonal, a_jᵀb, z, the best fit, x_j, and
x_j to go back to."""

_INDEPENDENT = 1e-13
"""The share of its squared norm that is new in a column which enters."""


@leaf
def enter(free, count, j, target):  # type: ignore[no-untyped-def]
    """Append column j, or find that it depends on the others: whether it entered."""
    chosen, gram = free.chosen, free.gram
    if count == len(chosen):
        return False
    chosen[count], free.target[count], free.fit[count] = j, target, 0.0
    column = free.columns[j]
    for p in range(count):
        gram[p, count] = row_product(free.columns, chosen[p], column)
    gram[count, count] = free.norms[j] * free.norms[j]
    return _factor(free, count, count + 1, _INDEPENDENT)


@leaf
def move(free, count):  # type: ignore[no-untyped-def]
    """Move towards the best fit as far as x >= 0 allows; what meets 0 leaves, and so on.

    Returns how many stay; -1 where rounding has made L worthless.
    """
    fit, goal = free.fit, free.goal
    while count > 0:
        for i in range(count):
            goal[i] = free.half[i]
        _solve_back(free.factor, count, goal)
        step, out = 1.0, np.int64(-1)
        for i in range(count):
            if goal[i] <= 0.0:
                share = fit[i] / (fit[i] - goal[i]) if fit[i] > goal[i] else 0.0
                if share < step or out < 0:
                    step, out = share, np.int64(i)
        if out < 0:
            for i in range(count):
                fit[i] = goal[i]
            break
        for i in range(count):
            fit[i] = max(fit[i] + step * (goal[i] - fit[i]), 0.0)
        count -= 1
        _leave(free, out, count)
        if not _factor(free, out, count, 0.0):
            return -1
    return count


@leaf_sums
def half_step(free, count, w):  # type: ignore[no-untyped-def]
    """goal = L⁻¹w_F; returns ½||goal||², how far the best fit of F is below this one."""
    goal, total = free.goal, 0.0
    for p in range(count):
        row, value = free.factor[p], w[free.chosen[p]]
        for i in range(p):
            value -= row[i] * goal[i]
        goal[p] = value * row[p]
        total += goal[p] * goal[p]
    return 0.5 * total


@leaf
def refine(free, count, w):  # type: ignore[no-untyped-def]
    """One correction from the gradient w at a fresh residual."""
    half_step(free, count, w)
    _solve_back(free.factor, count, free.goal)
    for i in range(count):
        free.kept[i] = free.fit[i]
        free.fit[i] = max(free.fit[i] + free.goal[i], 0.0)


@leaf
def take_back(free, count):  # type: ignore[no-untyped-def]
    """x as it was before `refine`."""
    for i in range(count):
        free.fit[i] = free.kept[i]


@leaf_sums
def _factor(free, first, count, needed):  # type: ignore[no-untyped-def]
    """Rows first, first + 1, … of L and z; whether more than the share needed of each column is new."""
    gram, factor, half = free.gram, free.factor, free.half
    for q in range(first, count):
        row, new, left = factor[q], gram[q, q], free.target[q]
        for p in range(q):
            above = factor[p]
            value = gram[p, q]
            for i in range(p):
                value -= above[i] * row[i]
            value *= above[p]
            row[p] = value
            new -= value * value
            left -= value * half[p]
        if not new > needed * gram[q, q]:
            return False
        row[q] = 1.0 / np.sqrt(new)
        half[q] = left * row[q]
    return True


@leaf
def _leave(free, out, count):  # type: ignore[no-untyped-def]
    """Close the gap that column `out` of F leaves, but for L and z."""
    gram = free.gram
    for q in range(out, count):
        free.chosen[q], free.target[q] = free.chosen[q + 1], free.target[q + 1]
        free.fit[q] = free.fit[q + 1]
        for p in range(out):
            gram[p, q] = gram[p, q + 1]
        for p in range(out, q + 1):
            gram[p, q] = gram[p + 1, q + 1]


@leaf_sums
def _solve_back(factor, count, out):  # type: ignore[no-untyped-def]
    """out = L⁻ᵀ out."""
    for p in range(count - 1, -1, -1):
        row = factor[p]
        value = out[p] * row[p]
        out[p] = value
        for i in range(p):
            out[i] -= value * row[i]
