"""The gaps of `boxreg.kernels.box_certificates`, a block of threads for each right-hand side.

The same sums of non-negative terms, with the same allowances for rounding: they hold for any order of
summation, so for that of a block, and for products that a library computed in float64.
"""

from __future__ import annotations

import math
from collections import namedtuple

from numba import cuda, float64

from ...rounding import AGAIN, COMBINATION, MARGIN, SLACK, TINY, UNDERFLOW, UNIT_ROUNDOFF
from .active_set import THREADS
from .compiling import block, kernel, within
from .reductions import largest, total

Pair = namedtuple("Pair", ["X", "residuals", "slopes", "lower", "upper", "norms"])
"""x, y - A x and Aᵀ(y - A x), a row each; bounds (one row, or one each); ||a_j||."""


@kernel
def judge(pair, way, gaps, steps):  # type: ignore[no-untyped-def]
    """Gaps of (x, ρ + s t), with the smallest s that makes it feasible; inf where none does.

    `way` is that of `boxreg.kernels.box_certificates`, with t = 0 where there is no direction.
    """
    room = cuda.shared.array(THREADS, float64)
    for p in range(cuda.blockIdx.x, len(gaps), cuda.gridDim.x):
        lower = pair.lower[p if len(pair.lower) > 1 else 0]
        upper = pair.upper[p if len(pair.upper) > 1 else 0]
        gap, step = _gap(
            pair.X[p], pair.residuals[p], pair.slopes[p], lower, upper, pair.norms, way, room
        )
        if cuda.threadIdx.x == 0:
            gaps[p], steps[p] = gap, step


@within
def gamma(terms):  # type: ignore[no-untyped-def]
    """Worst relative error of a sum of products."""
    return terms * UNIT_ROUNDOFF / (1.0 - terms * UNIT_ROUNDOFF)


@block
def size_of(v, room):  # type: ignore[no-untyped-def]
    """||v||; larger where squares underflow."""
    value, top = 0.0, 0.0
    for i in range(cuda.threadIdx.x, len(v), cuda.blockDim.x):
        value += v[i] * v[i]
        top = max(top, abs(v[i]))
    size = math.sqrt(total(value, room))
    if size >= UNDERFLOW:
        return size
    return math.sqrt(float64(len(v))) * largest(top, room)


@block
def prediction_error(x, norms, room):  # type: ignore[no-untyped-def]
    """Bound on the rounding error of A x, in norm."""
    value, count = 0.0, 0.0
    for j in range(cuda.threadIdx.x, len(x), cuda.blockDim.x):
        value += abs(x[j]) * norms[j]
        if x[j] != 0.0:
            count += 1.0
    return gamma(total(count, room) + 2.0) * total(value, room) * SLACK


@block
def _reach(w, step, norms, way, error, room):  # type: ignore[no-untyped-def]
    """How far a dual point that is exactly orthogonal to the free columns may be, in their metric."""
    value = 0.0
    for k in range(cuda.threadIdx.x, len(way.free), cuda.blockDim.x):
        j = way.free[k]
        off = (abs(w[j] + step * way.products[j]) + error * norms[j]) / way.scale[k]
        value += off * off
    return math.sqrt(total(value, room)) / way.least * SLACK


@within
def _side(low, high):  # type: ignore[no-untyped-def]
    """1 where w_j <= 0 is asked of a dual point, -1 where w_j >= 0 is, 0 elsewhere."""
    if low > -math.inf and not high < math.inf:
        return 1.0
    return -1.0 if high < math.inf and not low > -math.inf else 0.0


@block
def _step(w, lower, upper, norms, way, doubt, room):  # type: ignore[no-untyped-def]
    """How far to go along t for feasibility; inf where no step is far enough."""
    spare = MARGIN * (way.error + COMBINATION * way.size)
    step = 0.0
    for j in range(cuda.threadIdx.x, len(w), cuda.blockDim.x):
        side = _side(lower[j], upper[j])
        excess = side * w[j] + doubt * norms[j]
        if side != 0.0 and not excess <= 0.0:
            slope = -side * way.products[j] - spare * norms[j]
            step = max(step, excess / slope) if slope > 0.0 else math.inf
    return largest(step, room)


@block
def _box_terms(x, w, step, lower, upper, norms, way, error, charged, room):  # type: ignore[no-untyped-def]
    """sum (u_j - x_j) w_j⁺ + (x_j - l_j) w_j⁻, each w_j at its worst; inf where not feasible."""
    value, orthogonal = 0.0, len(way.free) > 0
    for j in range(cuda.threadIdx.x, len(x), cuda.blockDim.x):
        moved = w[j] + step * way.products[j]
        doubt, cost = error * norms[j], charged * norms[j]
        rising, falling = max(moved + doubt, 0.0), max(doubt - moved, 0.0)
        above, below = upper[j] < math.inf, lower[j] > -math.inf
        if not (above or below or not orthogonal):
            continue
        if above:
            value += (upper[j] - x[j]) * max(moved + cost, 0.0)
        elif rising > 0.0:
            value = math.inf
        if below:
            value += (x[j] - lower[j]) * max(cost - moved, 0.0)
        elif falling > 0.0:
            value = math.inf
    return total(value, room) * (1.0 + gamma(len(x) + 4.0))


@block
def _gap(x, residual, w, lower, upper, norms, way, room):  # type: ignore[no-untyped-def]
    m, size = len(residual), size_of(residual, room)
    drift = prediction_error(x, norms, room)
    error = gamma(m + 2.0) * size * SLACK
    rounding, orthogonal = error + COMBINATION * size, len(way.free) > 0
    if orthogonal:
        rounding += _reach(w, 0.0, norms, way, error, room) * size_of(way.rows, room)
    step = _step(w, lower, upper, norms, way, MARGIN * rounding, room)
    if not step < math.inf:
        return math.inf, 0.0
    if step > 0.0:
        error += step * way.error + COMBINATION * (size + step * way.size)
    moved, charged = 0.0, AGAIN * error
    if orthogonal:
        rows = size_of(way.rows, room)
        moved = _reach(w, step, norms, way, charged, room)
        charged += moved * rows
        error += _reach(w, step, norms, way, error, room) * rows
    sums = _box_terms(x, w, step, lower, upper, norms, way, error, charged, room)
    apart, length = 0.0, 0.0
    for i in range(cuda.threadIdx.x, m, cuda.blockDim.x):
        theta = residual[i] + step * way.t[i] if step > 0.0 else residual[i]
        away = abs(theta - residual[i])
        if orthogonal:
            away += moved * way.rows[i]
        apart += away * away
        length += theta * theta
    apart, length = math.sqrt(total(apart, room)), math.sqrt(total(length, room))
    distance = apart + UNIT_ROUNDOFF * (size + apart + length)
    bracket = max(0.5 * distance * distance * SLACK, TINY)
    drift = AGAIN * drift + 4.0 * UNIT_ROUNDOFF * size
    bracket += (apart + 2.0 * UNIT_ROUNDOFF * size) * drift + 0.5 * drift * drift
    return (bracket + sums) * SLACK * SLACK, step  # once more for another order of summation
