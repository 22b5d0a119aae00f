"""What coordinates at a bound could gain whose gradients are lost in rounding."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from .arrays import Array

_COPY = 1e-14
"""A column is a combination of others where less than this share of it is its own, times their
condition: to take rounding in the data for more would end in x of 1e15."""


def hidden_gain(free: Array, hidden: Array, slopes: Array) -> float:
    """The largest ½ (w_j / d_j)², for columns `hidden` with gradients w_j of at most `slopes`.

    d_j is the distance of a column from the span of the `free` ones. Where it is small a gradient lost
    in the noise may be worth much; columns that are copies of others have nothing to gain.
    """
    norms, share = np.linalg.norm(hidden, axis=0), 1.0
    if free.shape[1]:
        q, r = qr(free, mode="economic")
        sizes = np.abs(np.diagonal(r))
        if sizes.max() > 0.0:
            share = float(sizes.min() / sizes.max())  # one over their condition; 0 if they depend
        for _ in range(2):
            hidden = hidden - q @ (q.T @ hidden)
    distances = np.linalg.norm(hidden, axis=0)
    real = share * distances > _COPY * norms
    return float(np.max(0.5 * (slopes[real] / distances[real]) ** 2, initial=0.0))
