"""Cyclic coordinate descent for a smooth loss over a box.

The kernels are made for one scalar derivative f'(p, y) each, and compiled when first asked for: once
for all k where it is `partial(f, k)`, once for all functions with the same code and the same values
in and around it. Rows from `split` on, those of a ridge term, are squares.
Nothing here feeds a bound: every check recomputes its residual and products outside these loops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from types import FunctionType
from typing import Any

import numpy as np

from .compiling import inner, uncached

Derivative = Callable[[float, float], float]
Family = Callable[[float, float, float], float]
"""f'(k, p, y)."""


def dense_epochs(derivative: Derivative) -> Any:
    """Epochs over `order`; row j of `columns` is a_j, `rates` are the r_j². Returns the updates made."""
    family, k = _family_of(derivative)
    return partial(_dense_epochs(family), k)


def csc_epochs(derivative: Derivative) -> Any:
    """The same over the stored entries (data, indices, indptr)."""
    family, k = _family_of(derivative)
    return partial(_csc_epochs(family), k)


def _family_of(derivative: Derivative) -> tuple[Family, float]:
    """f'(k, ·, ·) as it was first seen, and k."""
    if isinstance(derivative, partial) and len(derivative.args) == 1 and not derivative.keywords:
        return _first_seen(derivative.func), float(derivative.args[0])
    return _without_parameter(_first_seen(derivative)), 0.0


_SEEN: dict[Any, Any] = {}


def _first_seen(function: Any) -> Any:
    """A function with this code, defaults and values around it: a lambda is a new object every time."""
    if not isinstance(function, FunctionType):
        return function
    around = tuple(cell.cell_contents for cell in function.__closure__ or ())
    named = tuple(sorted((function.__kwdefaults__ or {}).items()))
    key = (function.__code__, id(function.__globals__), function.__defaults__, named, around)
    try:
        return _SEEN.setdefault(key, function)
    except TypeError:  # values that have no hash
        return function


@cache
def _without_parameter(derivative: Derivative) -> Family:
    slope = inner(derivative)
    return lambda k, p, y: slope(p, y)


@cache
def _dense_epochs(family: Family) -> Any:
    slope = inner(family)

    @uncached
    def epochs(k, columns, x, prediction, residual, rows, box, rates, order, count):  # type: ignore[no-untyped-def]
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
                                residual[i] = -weights[i] * slope(k, prediction[i], target[i])
                            else:
                                residual[i] = weights[i] * (target[i] - prediction[i])
                    updates += 1
        return updates

    return epochs


@cache
def _csc_epochs(family: Family) -> Any:
    slope = inner(family)

    @uncached
    def epochs(k, csc, x, prediction, residual, rows, box, rates, order, count):  # type: ignore[no-untyped-def]
        data, indices, indptr = csc
        target, weights, split = rows
        lower, upper, cost = box
        updates = 0
        for _ in range(count):
            for j in order:
                values, places = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
                pull = -cost[j]
                for e in range(len(values)):
                    pull += values[e] * residual[np.uintp(places[e])]
                moved = min(max(x[j] + pull / rates[j], lower[j]), upper[j])
                step = moved - x[j]
                if step != 0.0:
                    x[j] = moved
                    for e in range(len(values)):
                        i = np.uintp(places[e])
                        prediction[i] += step * values[e]
                        if i < split:
                            residual[i] = -weights[i] * slope(k, prediction[i], target[i])
                        else:
                            residual[i] = weights[i] * (target[i] - prediction[i])
                    updates += 1
        return updates

    return epochs
