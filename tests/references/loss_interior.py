"""A primal-dual interior-point method for many stacked problems, to start the references from.

For decreasing μ it minimises the barrier problem

    P(x) / scale + μ (½ |x|² - sum log(x - l) - sum log(u - x)),

whose solution is unique whatever P is. Free coordinates have no logarithm, fixed ones do not move.
Each step is a Newton step of the primal-dual equations, a descent direction of the barrier problem,
with a line search on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from references.loss_batch import Batch

Array: TypeAlias = NDArray[np.float64]

_STEPS = 80
_LAST = 1e-11
_ROUNDING = 1e-13


@dataclass(eq=False)
class _State:
    """Where each problem stands: x, multipliers of its bounds, barrier parameter."""

    x: Array
    z_lower: Array
    z_upper: Array
    barrier: Array

    def take(self, rows: Any) -> _State:
        return _State(self.x[rows], self.z_lower[rows], self.z_upper[rows], self.barrier[rows])

    def put(self, rows: Any, part: _State) -> None:
        for name in ("x", "z_lower", "z_upper", "barrier"):
            getattr(self, name)[rows] = getattr(part, name)


def interior_points(batch: Batch) -> tuple[Array, Array, Array]:
    """(x, z_lower, z_upper), strictly inside and near the solution where all goes well."""
    batch = batch.astype(np.float64)
    x = inside(batch.lower, batch.upper)
    scale = np.maximum(np.abs(batch.slopes(x).gradient).max(axis=1), 1e-6)
    batch = _rescaled(batch, scale)
    has_lower, has_upper = _sides(batch)
    state = _State(x, has_lower * 1.0, has_upper * 1.0, np.full(len(x), 1.0))
    live = np.arange(len(x))
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            part = batch if len(live) == len(batch) else batch.take(live)
            stepped = _step(part, state.take(live))
            state.put(live, stepped)
            live = live[stepped.barrier >= _LAST]
            if not len(live):
                break
    return state.x, state.z_lower * scale[:, None], state.z_upper * scale[:, None]


def inside(lower: Array, upper: Array) -> Array:
    """A point strictly between the bounds: midway, one from the only bound, or 0."""
    both = np.isfinite(lower) & np.isfinite(upper)
    one = np.where(np.isfinite(lower), lower + 1.0, np.where(np.isfinite(upper), upper - 1.0, 0.0))
    with np.errstate(invalid="ignore"):
        return np.where(both, lower / 2 + upper / 2, one)


def _rescaled(batch: Batch, scale: Array) -> Batch:
    return Batch(
        **{
            **batch.__dict__,
            "weight": batch.weight / scale[:, None],
            "linear": batch.linear / scale[:, None],
            "quadratic": batch.quadratic / scale[:, None, None],
        }
    )


def _sides(batch: Batch) -> tuple[Array, Array]:
    moves = batch.lower < batch.upper
    return moves & np.isfinite(batch.lower), moves & np.isfinite(batch.upper)


def _barrier(batch: Batch, x: Array, barrier: Array) -> Array:
    """The barrier objective; +inf outside."""
    has_lower, has_upper = _sides(batch)
    logs = np.log(np.where(has_lower, x - batch.lower, 1.0))
    logs += np.log(np.where(has_upper, batch.upper - x, 1.0))
    moves = batch.lower < batch.upper
    value = batch.objective(x) + barrier * np.sum(np.where(moves, x * x / 2, 0.0) - logs, axis=1)
    return np.where(np.isfinite(value), value, np.inf)


def _step(batch: Batch, state: _State) -> _State:
    """One Newton step, and a smaller barrier parameter where the current problem is solved."""
    x, mu = state.x, state.barrier[:, None]
    moves = batch.lower < batch.upper
    has_lower, has_upper = _sides(batch)
    below = np.where(has_lower, x - batch.lower, 1.0)
    above = np.where(has_upper, batch.upper - x, 1.0)
    gradient = batch.slopes(x).gradient + mu * x
    primal = np.where(moves, gradient - mu * (has_lower / below - has_upper / above), 0.0)
    dx = _newton(batch, state, below, above, primal)
    dz_lower = has_lower * (mu - state.z_lower * (below + dx)) / below
    dz_upper = has_upper * (mu - state.z_upper * (above - dx)) / above

    room = np.where(has_lower, _room(below, dx), 1.0)
    room = np.minimum(room, np.where(has_upper, _room(above, -dx), 1.0)).min(axis=1)
    length = _line_search(batch, state, dx, room, np.sum(primal * dx, axis=1))
    new = _State(x + length[:, None] * dx, state.z_lower, state.z_upper, state.barrier)
    below = np.where(has_lower, new.x - batch.lower, 1.0)
    above = np.where(has_upper, batch.upper - new.x, 1.0)
    dual = np.minimum(_room(state.z_lower, dz_lower), _room(state.z_upper, dz_upper)).min(axis=1)
    for name, change, gap, has in (
        ("z_lower", dz_lower, below, has_lower),
        ("z_upper", dz_upper, above, has_upper),
    ):
        moved = getattr(state, name) + dual[:, None] * change
        centre = mu / gap
        setattr(new, name, np.where(has, np.clip(moved, centre / 1e8, centre * 1e8), 0.0))

    left = batch.slopes(new.x).gradient + mu * new.x - new.z_lower + new.z_upper
    products = np.maximum(
        np.where(has_lower, np.abs(new.z_lower * below - mu), 0.0),
        np.where(has_upper, np.abs(new.z_upper * above - mu), 0.0),
    )
    error = np.maximum(np.where(moves, np.abs(left), 0.0), products).max(axis=1)
    solved = error <= 10.0 * state.barrier
    smaller = np.minimum(0.2 * state.barrier, state.barrier**1.5)
    new.barrier = np.where(solved, smaller, state.barrier)
    return new


def _newton(batch: Batch, state: _State, below: Array, above: Array, primal: Array) -> Array:
    moves = batch.lower < batch.upper
    n = moves.shape[1]
    matrix = np.where(moves[:, :, None] & moves[:, None, :], batch.hessian(state.x), 0.0)
    extra = state.barrier[:, None] + state.z_lower / below + state.z_upper / above
    diagonal = np.where(moves, extra + 1e-14, 1.0)
    matrix[:, np.arange(n), np.arange(n)] += diagonal
    matrix = np.where(np.isfinite(matrix), matrix, 0.0)
    scale = 1.0 / np.sqrt(np.maximum(matrix[:, np.arange(n), np.arange(n)], 1e-300))
    scaled = matrix * scale[:, :, None] * scale[:, None, :]
    scaled[:, np.arange(n), np.arange(n)] += 1e-15
    solved = np.linalg.solve(scaled, (-primal * scale)[:, :, None])[:, :, 0] * scale
    return np.where(np.isfinite(solved), solved, 0.0)


def _room(slack: Array, change: Array) -> Array:
    """The longest step in (0, 1] that leaves half a percent of each slack."""
    return np.where(
        change < 0.0, np.minimum(1.0, -0.995 * slack / np.minimum(change, -1e-300)), 1.0
    )


def _line_search(batch: Batch, state: _State, dx: Array, length: Array, slope: Array) -> Array:
    """Halve each step until the barrier objective falls enough, up to rounding."""
    start = _barrier(batch, state.x, state.barrier)
    slack = _ROUNDING * (1.0 + np.abs(start))
    length = length.copy()
    open_ = np.arange(len(length))
    for _ in range(40):
        part = batch if len(open_) == len(batch) else batch.take(open_)
        trial = state.x[open_] + length[open_, None] * dx[open_]
        value = _barrier(part, trial, state.barrier[open_])
        enough = value <= start[open_] + 1e-4 * length[open_] * slope[open_] + slack[open_]
        open_ = open_[~enough]
        if not len(open_):
            return length
        length[open_] /= 2.0
    length[open_] = 0.0
    return length
