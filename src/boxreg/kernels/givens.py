"""Restoring a triangular factor after a column has been taken out."""

from __future__ import annotations

import math

from .compiling import compiled


@compiled
def remove_column(q_rows, r, size, position):  # type: ignore[no-untyped-def]
    """Delete column `position` of Q R (size columns) by Givens rotations, in place.

    Row i of `q_rows` is column i of Q. Afterwards the leading size - 1 columns hold the factors.
    """
    m = q_rows.shape[1]
    for k in range(position, size - 1):
        for i in range(k + 2):
            r[i, k] = r[i, k + 1]
        a, b = r[k, k], r[k + 1, k]
        length = math.hypot(a, b)
        if length == 0.0:
            continue
        c, s = a / length, b / length
        r[k, k], r[k + 1, k] = length, 0.0
        for j in range(k + 2, size):
            top, bottom = r[k, j], r[k + 1, j]
            r[k, j] = c * top + s * bottom
            r[k + 1, j] = c * bottom - s * top
        for i in range(m):
            top, bottom = q_rows[k, i], q_rows[k + 1, i]
            q_rows[k, i] = c * top + s * bottom
            q_rows[k + 1, i] = c * bottom - s * top
