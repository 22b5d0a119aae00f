"""The order in which a block is gone through: from each right-hand side to the most similar one left."""

from __future__ import annotations

import numpy as np

from .compiling import branch, leaf_sums


@leaf_sums
def _cosine(u, v):  # type: ignore[no-untyped-def]
    """uᵀv."""
    total = 0.0
    for i in range(len(v)):
        total += u[i] * v[i]
    return total


@branch
def chain(Y, order, sizes):  # type: ignore[no-untyped-def]
    """Put `order` into such an order; similar means a small angle, for a positive multiple of y has the
    same support as y where bounds are 0 and inf. `sizes` is room."""
    count = len(order)
    for k in range(count):
        y = Y[order[k]]
        size = np.sqrt(_cosine(y, y))
        sizes[k] = 1.0 / size if size > 0.0 else 0.0
    for k in range(count - 2):
        y, best, at = Y[order[k]], -np.inf, k + 1
        for c in range(k + 1, count):
            cosine = _cosine(Y[order[c]], y) * sizes[c]
            if cosine > best:
                best, at = cosine, c
        order[k + 1], order[at] = order[at], order[k + 1]
        sizes[k + 1], sizes[at] = sizes[at], sizes[k + 1]
