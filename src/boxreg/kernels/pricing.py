"""Which columns of a small problem deserve to enter: gradients, their noise, and the steepest."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import OPTIMALITY_MARGIN, SMALLEST_NORM, UNIT_ROUNDOFF
from ..small import GAVE_UP, SOLVED, UNSURE
from .compiling import branch, inner, inner_sums
from .vectors import floats, indices, row_product

Ranking = namedtuple("Ranking", ["found", "scores"])
"""Room for indices, and for what they are ranked by; how many there are is returned by who ranks."""

REFINEMENTS = 2


@inner_sums
def first_pass(columns, b):  # type: ignore[no-untyped-def]
    """x = 0, column norms, Aᵀb, whether no norm is too large or too small, and an entry is below 0."""
    n = len(columns)
    x, norms, products = floats(n), floats(n), floats(n)
    below, regular = 0.0, True
    for j in range(n):
        column = columns[j]
        square, product, excess = 0.0, 0.0, 0.0
        for i in range(len(b)):
            a = column[i]
            square += a * a
            product += a * b[i]
            excess += abs(a) - a
        x[j], norms[j], products[j] = 0.0, np.sqrt(square), product
        below += excess
    for j in range(n):
        regular &= norms[j] == 0.0 or SMALLEST_NORM < norms[j] < 1.0 / SMALLEST_NORM
    return x, norms, products, regular, below > 0.0


@branch
def rounding_noise(free, count, norms, objective):  # type: ignore[no-untyped-def]
    """What rounding may have added to a gradient, over ||a_j||."""
    reach = 0.0
    for i in range(count):
        reach += free.fit[i] * norms[free.chosen[i]]
    m = free.columns.shape[1]
    return UNIT_ROUNDOFF * ((m + 2) * np.sqrt(2.0 * objective) + (count + 2) * reach)


@inner
def new_ranking(size):  # type: ignore[no-untyped-def]
    """Room for the best of so many."""
    return Ranking(indices(size), floats(size))


@branch
def _place(ranking, most, size, j, score):  # type: ignore[no-untyped-def]
    """Keep j among the `most` best so far, in order; returns how many there are."""
    found, scores = ranking.found, ranking.scores
    if size == most and score <= scores[most - 1]:
        return size
    at = size if size < most else most - 1
    while at > 0 and scores[at - 1] < score:
        found[at], scores[at] = found[at - 1], scores[at - 1]
        at -= 1
    found[at], scores[at] = j, score
    return min(size + 1, most)


@branch
def steepest(w, norms, classic, noise, threshold, barred, ranking, most):  # type: ignore[no-untyped-def]
    """Rank the `most` columns with the largest w_j / ||a_j||, or w_j if `classic`, worth following."""
    size, most = np.int64(0), min(most, len(w))
    for j in range(len(w)):
        if not barred[j] and w[j] > max(noise * norms[j], threshold):
            size = _place(ranking, most, size, j, w[j] if classic else w[j] / norms[j])
    return size


@branch
def steepest_listed(columns, residual, listed, norms, noise, threshold, barred, ranking, most):  # type: ignore[no-untyped-def]
    """The same among a shortlist of columns, by w_j / ||a_j||."""
    size, most = np.int64(0), min(most, len(listed))
    for j in listed:
        if not barred[j]:
            w = row_product(columns, j, residual)
            if w > max(noise * norms[j], threshold):
                size = _place(ranking, most, size, j, w / norms[j])
    return size


@branch
def settled(free, count, w, norms, noise):  # type: ignore[no-untyped-def]
    """Whether the gradients of the free columns are 0 up to rounding."""
    within = True
    for i in range(count):
        j = free.chosen[i]
        within &= abs(w[j]) <= noise * norms[j]
    return within


@branch
def judge(x, w, norms, noise, threshold, gain, little, objective):  # type: ignore[no-untyped-def]
    """How an answer with the gradient w ends: GAVE_UP, UNSURE or SOLVED.

    GAVE_UP where, beyond OPTIMALITY_MARGIN times the noise, a gradient points inwards or that of a free
    column is not 0, or where the best fit of the free columns would gain more than `little`. UNSURE
    where noise hides the sign of another gradient; but a threshold hides it anyway, and where the
    objective is no more than `little` there is nothing to gain.
    """
    within, some = gain <= little, False
    for j in range(len(x)):
        doubt = OPTIMALITY_MARGIN * noise * norms[j]
        slope = abs(w[j]) if x[j] > 0.0 else w[j]
        within &= slope <= max(doubt, threshold)
        some |= x[j] == 0.0 and w[j] > -doubt and doubt > 0.0
    if not within:
        return GAVE_UP
    return UNSURE if some and threshold == 0.0 and objective > little else SOLVED
