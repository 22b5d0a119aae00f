"""Where the variables of a small box problem are, how steep it is there, and who may move.

The pull w₀ - G_B d_B is kept up to date as variables are held at d_B; slopes are w = pull - G_F d_F,
from G or, where there is none, from products with A.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .compiling import branch, branch_sums, inner, leaf, leaf_sums
from .vectors import flags, floats, indices

LOWER, FREE, UPPER = -1, 0, 1

BATCH = 6
"""The most variables that become free at a time."""
_STEEP = 0.3
"""Slopes of this share of the steepest, over ||a_j||, join its batch."""

Moves = namedtuple(
    "Moves",
    [
        "state",
        "shift",
        "pull",
        "slopes",
        "facing",
        "scores",
        "goal",
        "leaving",
        "found",
        "fit",
        "old",
    ],
)
"""Per variable: state, d, w₀ - G_B d_B, w = w₀ - G d, ±1 / √g_jj where a slope of that sign points
inwards, how far it does; for F: the goal, who leaves; room for choices and for A_F d_F."""

Kept = namedtuple("Kept", ["chosen", "shift", "state", "slopes", "facing"])
"""A set to go back to."""


@inner
def new_moves(n, room, m):  # type: ignore[no-untyped-def]
    """Everything at its lower bound."""
    state = np.empty(n, dtype=np.int8)
    for j in range(n):
        state[j] = LOWER
    kept = Kept(indices(room), floats(n), np.empty(n, dtype=np.int8), floats(n), floats(n))
    return Moves(
        state,
        floats(n),
        floats(n),
        floats(n),
        floats(n),
        floats(n),
        floats(room),
        flags(room),
        indices(BATCH),
        floats(m),
        kept,
    )


@branch
def face(model, moves, lower, upper):  # type: ignore[no-untyped-def]
    """Note which way each held variable may move, over √g_jj; nothing is barred any more."""
    facing, state, inverse = moves.facing, moves.state, model.inverse
    for j in range(len(state)):
        facing[j] = 0.0
        if state[j] != FREE and lower[j] < upper[j]:
            facing[j] = -state[j] * inverse[j]


@branch_sums
def hold(model, moves, j, d):  # type: ignore[no-untyped-def]
    """Variable j, not in F, moves to d_j = d: the pull on the others changes."""
    change = d - moves.shift[j]
    moves.shift[j] = d
    if change == 0.0:
        return
    pull = moves.pull
    if len(model.ridge):
        pull[j] -= change * model.ridge[j]
    if len(model.gram):
        row = model.gram[j]
        for i in range(len(pull)):
            pull[i] -= change * row[i]
        return
    weighted, column = len(model.roots) > 0, model.columns[j]
    for r in range(len(column)):
        h = model.roots[r] * model.roots[r] if weighted else 1.0
        value, row = change * h * column[r], model.rows[r]
        if value != 0.0:
            for i in range(len(pull)):
                pull[i] -= value * row[i]


@leaf_sums
def refresh_slopes(model, factor, moves, count):  # type: ignore[no-untyped-def]
    """w = pull - G_F d_F."""
    _data_slopes(model, factor, moves, count)
    if len(model.ridge):
        for k in range(count):
            j = factor.chosen[k]
            moves.slopes[j] -= model.ridge[j] * moves.shift[j]


@leaf_sums
def _data_slopes(model, factor, moves, count):  # type: ignore[no-untyped-def]
    """The same without the ridge term."""
    slopes, pull, shift = moves.slopes, moves.pull, moves.shift
    n = len(slopes)
    if not len(model.gram):
        for j in range(n):
            slopes[j] = pull[j]
        _product_slopes(model, factor, moves, count)
        return
    whole = count - count % 4
    if whole == 0:
        for j in range(n):
            slopes[j] = pull[j]
    else:
        a, b = factor.chosen[0], factor.chosen[1]
        c, d = factor.chosen[2], factor.chosen[3]
        p, q, r, s = shift[a], shift[b], shift[c], shift[d]
        first, second, third, fourth = model.gram[a], model.gram[b], model.gram[c], model.gram[d]
        for j in range(n):
            slopes[j] = pull[j] - ((p * first[j] + q * second[j]) + (r * third[j] + s * fourth[j]))
    for k in range(4, whole, 4):
        a, b = factor.chosen[k], factor.chosen[k + 1]
        c, d = factor.chosen[k + 2], factor.chosen[k + 3]
        p, q, r, s = shift[a], shift[b], shift[c], shift[d]
        first, second, third, fourth = model.gram[a], model.gram[b], model.gram[c], model.gram[d]
        for j in range(n):
            slopes[j] -= (p * first[j] + q * second[j]) + (r * third[j] + s * fourth[j])
    for k in range(whole, count):
        p, first = shift[factor.chosen[k]], model.gram[factor.chosen[k]]
        for j in range(n):
            slopes[j] -= p * first[j]


@branch_sums
def _product_slopes(model, factor, moves, count):  # type: ignore[no-untyped-def]
    """The same through A: w = pull - Aᵀ H A_F d_F."""
    m, slopes = len(model.rows), moves.slopes
    fit = moves.fit
    for r in range(m):
        fit[r] = 0.0
    for k in range(count):
        value, held = moves.shift[factor.chosen[k]], factor.held[k]
        for r in range(m):
            fit[r] += value * held[r]
    weighted = len(model.roots) > 0
    for r in range(m):
        value, row = fit[r] * model.roots[r] if weighted else fit[r], model.rows[r]
        for j in range(len(slopes)):
            slopes[j] -= value * row[j]


@leaf_sums
def value_of(moves, start):  # type: ignore[no-untyped-def]
    """½ dᵀG d - w₀ᵀd = -½ dᵀ(w₀ + w)."""
    total = 0.0
    for j in range(len(start)):
        total += moves.shift[j] * (start[j] + moves.slopes[j])
    return -0.5 * total


@leaf
def steepest(moves, noise, most):  # type: ignore[no-untyped-def]
    """How many variables are to become free, the steepest first.

    Of neighbours in A, which are often alike, only the steepest. `noise` is over √g_jj.
    """
    facing, slopes, scores = moves.facing, moves.slopes, moves.scores
    n, found, size, least = len(facing), moves.found, 0, noise
    for j in range(n):
        scores[j] = facing[j] * slopes[j]
    for j in range(n):
        score = scores[j]
        if score <= least or (j > 0 and scores[j - 1] > score):
            continue
        if j + 1 < n and scores[j + 1] >= score:
            continue
        at = size if size < most else most - 1
        while at > 0 and scores[found[at - 1]] < score:
            found[at] = found[at - 1]
            at -= 1
        found[at] = j
        size = min(size + 1, most)
        least = max(least, _STEEP * scores[found[0]])
        if size == most:
            least = max(least, scores[found[size - 1]])
    while size > 1 and scores[found[size - 1]] < _STEEP * scores[found[0]]:
        size -= 1
    return size
