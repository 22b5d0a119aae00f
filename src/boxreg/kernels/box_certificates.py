"""What a pair (x, theta) proves about one right-hand side: `boxreg.duality`, compiled.

The same sums of non-negative terms with the same allowances for rounding: w_j = a_jᵀtheta is off by at
most γ(m + 2) ||a_j|| ||theta||, the prediction by γ(k + 2) sum |x_j| ||a_j||, k the size of the support.
As in `boxreg.certificate`, gaps have room for a second computation: every error is charged three times,
but signs are proved with errors as they are.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import (
    AGAIN,
    COMBINATION,
    LEAST,
    MARGIN,
    SLACK,
    TINY,
    UNDERFLOW,
    UNIT_ROUNDOFF,
)
from .compiling import inner, leaf, leaf_sums
from .vectors import floats

Way = namedtuple("Way", ["t", "products", "size", "error", "free", "scale", "least", "rows"])
"""A direction t strictly inside the dual cone with Aᵀt, ||t|| and the error of the products (all of
length or value 0 where there is none); the free coordinates and their `EqualityMetric`."""

Box = namedtuple("Box", ["side", "has_upper", "has_lower", "high", "low", "soft", "doubt"])
"""1 where w_j <= 0 is asked of a dual point, -1 where w_j >= 0 is, 0 elsewhere; whether there are
bounds, as numbers; the bounds, 0 where there are none; 1 / (2 μ_j) where a ridge term makes every sign
of w_j feasible, 0 elsewhere; how far w_j may be off besides the error of a_jᵀtheta."""

TERMS = COMBINATION + 4.0 * UNIT_ROUNDOFF
"""What costs and a ridge term add to the error of w_j = a_jᵀtheta - c_j - μ_j x_j, relative to
|c_j| + μ_j |x_j|: a product, a sum and a difference, and those of a step along a direction."""


@inner
def new_box(n):  # type: ignore[no-untyped-def]
    """Not filled."""
    return Box(
        floats(n), floats(n), floats(n), floats(n), floats(n), floats(n), floats(n),
    )  # fmt: skip


@leaf
def describe(lower, upper, box):  # type: ignore[no-untyped-def]
    """Bounds in a form that needs no branches, for slopes without other terms."""
    for j in range(len(lower)):
        box.soft[j], box.doubt[j] = 0.0, 0.0
        above, below = upper[j] < np.inf, lower[j] > -np.inf
        box.has_upper[j], box.has_lower[j] = 1.0 if above else 0.0, 1.0 if below else 0.0
        box.high[j], box.low[j] = upper[j] if above else 0.0, lower[j] if below else 0.0
        box.side[j] = box.has_lower[j] - box.has_upper[j]


@leaf
def soften(soft, box):  # type: ignore[no-untyped-def]
    """With 1 / (2 μ_j) of a ridge term: no sign of w_j is asked where that is not 0.

    The term with its bounds, g(t) = ½ μ t² on [l_j, u_j], has a conjugate that is finite everywhere, and

        g(x_j) + g*(v) - x_j v <= max over t in [l_j, u_j] of (t - x_j) w,  and  <= w² / (2 μ),

    with w = v - μ x_j: theta's own entries -μ x_j need not be moved to make theta feasible.
    """
    for j in range(len(soft)):
        box.soft[j] = soft[j]
        if soft[j] > 0.0:
            box.side[j] = 0.0


@leaf
def gamma(terms):  # type: ignore[no-untyped-def]
    """Worst relative error of a sum of products."""
    return terms * UNIT_ROUNDOFF / (1.0 - terms * UNIT_ROUNDOFF)


@leaf_sums
def size_of(v):  # type: ignore[no-untyped-def]
    """||v||; larger where squares underflow."""
    total = 0.0
    for i in range(len(v)):
        total += v[i] * v[i]
    size = np.sqrt(total)
    if size >= UNDERFLOW:
        return size
    largest = 0.0
    for i in range(len(v)):
        largest = max(largest, abs(v[i]))
    return np.sqrt(float(len(v))) * largest


@leaf_sums
def prediction_error(x, norms):  # type: ignore[no-untyped-def]
    """Bound on the rounding error of A x, in norm, 0 only where every product is; and how many x_j are
    not 0."""
    total, count, some = 0.0, 0, False
    for j in range(len(x)):
        total += abs(x[j]) * norms[j]
        count += x[j] != 0.0
        some |= x[j] != 0.0 and norms[j] > 0.0
    return max(gamma(count + 2) * total * SLACK, LEAST if some else 0.0), count


@leaf_sums
def push(w, theta, norms, box, way, error):  # type: ignore[no-untyped-def]
    """Move theta, and w with it, along t as far as feasibility asks; the new error of w.

    -1 where it asks for a direction and there is none.
    """
    size = size_of(theta)
    rounding = error + shift_of_free(w, norms, box, way, error) + COMBINATION * size
    spare = MARGIN * (way.error + COMBINATION * way.size)
    doubt, step, known = MARGIN * rounding, 0.0, len(way.t) > 0
    for j in range(len(w)):
        side = box.side[j]
        excess = side * w[j] + doubt * norms[j] + MARGIN * box.doubt[j]
        if excess > 0.0 and side != 0.0:
            if not known:
                return -1.0
            slope = -side * way.products[j] - spare * norms[j]
            if not slope > 0.0:
                return -1.0
            if excess > step * slope:
                step = excess / slope
    if step == 0.0:
        return error
    for i in range(len(theta)):
        theta[i] += step * way.t[i]
    for j in range(len(w)):
        w[j] += step * way.products[j]
    return error + step * way.error + COMBINATION * (size + step * way.size)


@leaf_sums
def shift_of_free(w, norms, box, way, error):  # type: ignore[no-untyped-def]
    """How far, at most, a theta with w_j = 0 exactly on the free columns is away, in norm."""
    if len(way.free) == 0:
        return 0.0
    return reach_of_free(w, norms, box, way, error, 1.0) * size_of(way.rows)


@leaf_sums
def reach_of_free(w, norms, box, way, error, times):  # type: ignore[no-untyped-def]
    """How far that is, as a multiple of `Way.rows`, `box.doubt` being charged so many times; 0 where no
    column is free."""
    total = 0.0
    if len(way.free) == 0:
        return 0.0
    for k in range(len(way.free)):
        j = way.free[k]
        off = (abs(w[j]) + error * norms[j] + times * box.doubt[j]) / way.scale[k]
        total += off * off
    return np.sqrt(total) / way.least * SLACK


@leaf_sums
def box_terms(x, w, norms, box, error, charged, orthogonal):  # type: ignore[no-untyped-def]
    """sum (u_j - x_j) w_j⁺ + (x_j - l_j) w_j⁻, each w_j at its worst; inf where not feasible.

    w_j is off by `error` · ||a_j||, and charged with `charged` · ||a_j||; `box.doubt` comes on top.
    `orthogonal`: free coordinates are dealt with by the caller. Where `box.soft` is not 0, w_j² times it
    takes the place of an infinite term.
    """
    total, wrong = 0.0, 0.0
    for j in range(len(x)):
        doubt, cost = error * norms[j] + box.doubt[j], charged * norms[j] + AGAIN * box.doubt[j]
        up, down = max(w[j] + cost, 0.0), max(cost - w[j], 0.0)
        rising, falling = max(w[j] + doubt, 0.0), max(doubt - w[j], 0.0)
        total += box.has_upper[j] * (box.high[j] - x[j]) * up
        total += box.has_lower[j] * (x[j] - box.low[j]) * down
        one = box.has_upper[j] + box.has_lower[j] if orthogonal else 1.0
        open_up, open_down = 1.0 - box.has_upper[j], 1.0 - box.has_lower[j]
        up, down = max(up, UNDERFLOW), max(down, UNDERFLOW)  # squares do not underflow
        total += box.soft[j] * (open_up * up * up + open_down * down * down)
        one = one if box.soft[j] == 0.0 else 0.0
        wrong += one * (open_up * rising + open_down * falling)
    return total * (1.0 + gamma(len(x) + 4)) if wrong == 0.0 else np.inf


@leaf_sums
def terms_nearby(x, w, norms, box, way, error):  # type: ignore[no-untyped-def]
    """How far a theta' with w_j = 0 on free columns is, in units of `Way.rows`, and its `box_terms`.

    `error` · ||a_j|| is the error of w_j; it is charged as `boxreg.rounding.AGAIN` asks.
    """
    moved, charged = 0.0, AGAIN * error
    if len(way.free):
        rows = size_of(way.rows)
        moved = reach_of_free(w, norms, box, way, charged, AGAIN)
        charged += moved * rows
        error += reach_of_free(w, norms, box, way, error, 1.0) * rows
    return moved, box_terms(x, w, norms, box, error, charged, len(way.free) > 0)


@leaf_sums
def least_squares_gap(x, w, theta, residual, norms, box, way, error, drift):  # type: ignore[no-untyped-def]
    """Upper bound on P(x) - D(theta); `error` is that of w, `drift` that of the prediction."""
    moved, sums = terms_nearby(x, w, norms, box, way, error)
    if not sums < np.inf:
        return np.inf
    apart, size = 0.0, size_of(residual)
    for i in range(len(theta)):
        away = abs(theta[i] - residual[i])
        if moved > 0.0:
            away += moved * way.rows[i]
        apart += away * away
    apart = np.sqrt(apart)
    distance = apart + UNIT_ROUNDOFF * (size + apart + (size_of(theta) if moved > 0.0 else 0.0))
    bracket = bracket_of(apart, distance, size, drift)
    return (bracket + sums) * SLACK * SLACK  # once more for another order of summation


@leaf
def bracket_of(apart, distance, size, drift):  # type: ignore[no-untyped-def]
    """Upper bound on ½ ||theta - ρ||² for the true ρ: `apart` is the computed norm, `distance` with its
    rounding, `size` that of the computed ρ."""
    bracket = max(0.5 * distance * distance * SLACK, TINY) if distance > 0.0 else 0.0
    if drift > 0.0:
        drift = AGAIN * drift + 4.0 * UNIT_ROUNDOFF * size
        bracket += (apart + 2.0 * UNIT_ROUNDOFF * size) * drift + 0.5 * drift * drift + TINY
    return bracket
