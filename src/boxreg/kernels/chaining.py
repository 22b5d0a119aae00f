"""The order in which a block is gone through: neighbours after each other, or the most similar ones."""

from __future__ import annotations

import numpy as np

from .compiling import branch, leaf_sums

_ORDERED = 0.4
"""Where right-hand sides beside each other are this much closer than those far apart, as in images,
their order is left as it is: searching for better ones takes longer than it saves."""


@leaf_sums
def _product(u, v):  # type: ignore[no-untyped-def]
    """uᵀv."""
    total = 0.0
    for i in range(len(v)):
        total += u[i] * v[i]
    return total


@branch
def chain(Y, order, sizes):  # type: ignore[no-untyped-def]
    """Put `order` into an order that goes from each y to the most similar one left.

    Similar means a small angle, for a positive multiple of y has the same support as y where the bounds
    are 0 and inf. `sizes` is room.
    """
    count = len(order)
    for k in range(count):
        y = Y[order[k]]
        size = np.sqrt(_product(y, y))
        sizes[k] = 1.0 / size if size > 0.0 else 0.0
    half, near, far = count // 2, 0.0, 0.0
    for k in range(count - half):
        y = Y[order[k]]
        if k + 1 < count:
            near += 1.0 - _product(y, Y[order[k + 1]]) * sizes[k] * sizes[k + 1]
        far += 1.0 - _product(y, Y[order[k + half]]) * sizes[k] * sizes[k + half]
    if near <= _ORDERED * far:
        return
    for k in range(count - 2):
        y, best, at = Y[order[k]], -np.inf, k + 1
        for c in range(k + 1, count):
            cosine = _product(Y[order[c]], y) * sizes[c]
            if cosine > best:
                best, at = cosine, c
        order[k + 1], order[at] = order[at], order[k + 1]
        sizes[k + 1], sizes[at] = sizes[at], sizes[k + 1]
