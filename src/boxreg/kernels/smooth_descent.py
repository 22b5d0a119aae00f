"""Cyclic coordinate descent for a smooth loss over a box.

The kernels are made for one scalar derivative f'(p, y) each, and compiled when first asked for. Rows
from `split` on, those of a ridge term, are squares.
Nothing here feeds a bound: every check recomputes its residual and products outside these loops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from .compiling import inner

_njit: Any = njit


@cache
def dense_epochs(derivative: Callable[[float, float], float]) -> Any:
    """Epochs over `order`; row j of `columns` is a_j, `rates` are the r_j². Returns the updates made."""
    slope = inner(derivative)

    @_njit(nogil=True, error_model="numpy")
    def epochs(columns, x, prediction, residual, rows, box, rates, order, count):  # type: ignore[no-untyped-def]
        target, weights, split = rows
        lower, upper, cost = box
        m = residual.shape[0]
        updates = 0
        for _ in range(count):
            for j in order:
                column = columns[j]
                pull = -cost[j]
                for i in range(m):
                    pull += column[i] * residual[i]
                moved = min(max(x[j] + pull / rates[j], lower[j]), upper[j])
                step = moved - x[j]
                if step != 0.0:
                    x[j] = moved
                    for i in range(m):
                        if column[i] != 0.0:
                            prediction[i] += step * column[i]
                            if i < split:
                                residual[i] = -weights[i] * slope(prediction[i], target[i])
                            else:
                                residual[i] = weights[i] * (target[i] - prediction[i])
                    updates += 1
        return updates

    return epochs


@cache
def csc_epochs(derivative: Callable[[float, float], float]) -> Any:
    """The same over the stored entries (data, indices, indptr)."""
    slope = inner(derivative)

    @_njit(nogil=True, error_model="numpy")
    def epochs(csc, x, prediction, residual, rows, box, rates, order, count):  # type: ignore[no-untyped-def]
        data, indices, indptr = csc
        target, weights, split = rows
        lower, upper, cost = box
        updates = 0
        for _ in range(count):
            for j in order:
                values, places = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
                pull = -cost[j]
                for k in range(len(values)):
                    pull += values[k] * residual[np.uintp(places[k])]
                moved = min(max(x[j] + pull / rates[j], lower[j]), upper[j])
                step = moved - x[j]
                if step != 0.0:
                    x[j] = moved
                    for k in range(len(values)):
                        i = np.uintp(places[k])
                        prediction[i] += step * values[k]
                        if i < split:
                            residual[i] = -weights[i] * slope(prediction[i], target[i])
                        else:
                            residual[i] = weights[i] * (target[i] - prediction[i])
                    updates += 1
        return updates

    return epochs
