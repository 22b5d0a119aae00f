"""Least squares for many right-hand sides on a GPU: products by a library, active sets by kernels.

The loop of `boxreg.kernels.many_least_squares`: solve on the Gram matrix, certify with a fresh residual,
and where that disagrees solve again from there. With `precision='float32'` the first solve is in single
precision; residuals, certificates and what is solved again are in double.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..devices import Card
from ..rounding import SLACK
from .chunk import Chunk
from .shared import Shared

_UNIT = 2.0**-53
_REFINEMENTS = 4
_BEYOND = 2
_ENOUGH = 1e-4
_RUN = 32
"""Right-hand sides that a block of threads takes one after the other, at most."""
_ROOM = 40
"""Free variables that shared memory has room for. More of them leave room for fewer blocks; the few
right-hand sides that have more are solved again in memory of the card."""
_WORK = 2e9
"""Bytes on the card for those that have more."""


@dataclass
class Found:
    """Answers on the card."""

    x: Any
    theta: Any
    gap: Any
    scale: Any
    target: Any


class DeviceSolver:
    """A on the card, and the kernels that work with it."""

    def __init__(self, shared: Shared, card: Card, tol: float, precision: str, warm: bool) -> None:
        from ..kernels.cuda.certificates import Way

        self.card, self.tol, self.warm, self.single = card, tol, warm, precision == "float32"
        self.room = _ROOM
        put, way = card.arrays.asarray, shared.way
        self.rows, self.gram = put(shared.model.rows), put(shared.model.gram)
        self.norms = put(shared.model.norms)
        m, n = self.rows.shape
        with np.errstate(divide="ignore"):
            inverse = np.where(shared.model.norms > 0.0, 1.0 / shared.model.norms, 0.0)
        self.inverse_norms = put(inverse)
        self.narrow_gram = self.gram.astype(np.float32) if self.single else self.gram
        known, give = len(way.t) > 0, self._give
        self.t = put(way.t if known else np.zeros(m))
        self.way = Way(
            card.for_kernels(self.t),
            give(way.products if known else np.zeros(n)),
            float(way.size),
            float(way.error),
            give(way.free),
            give(way.scale),
            float(way.least),
            give(way.rows),
        )
        self.unbounded = give(np.asarray(shared.unbounded, dtype=np.int32))

    def _give(self, array: Any) -> Any:
        return self.card.for_kernels(self.card.arrays.asarray(array))

    def solve(self, chunk: Chunk, dual: bool) -> Found:
        """x, gaps and, if asked for, dual points of the right-hand sides that are valid."""
        xp, (m, n) = self.card.arrays, self.rows.shape
        Y, low, high = (xp.asarray(part) for part in (chunk.rows, chunk.lower, chunk.upper))
        count = len(Y)
        base, state = _start(xp, low, high)
        state = xp.array(xp.broadcast_to(state, (count, n)))
        X = xp.empty((count, n))
        noise = _UNIT * (m + 2) * xp.sqrt(xp.sum(Y * Y, axis=1))
        scale, target = self._goal(Y, low, high)
        which = xp.asarray(np.flatnonzero(chunk.valid).astype(np.int32))
        start = self._residuals(Y, base) @ self.rows
        short = xp.zeros(count, dtype=np.int8)
        task = (which, start, base, low, high, noise)
        self._settle(task, (X, state, short), first=True)
        residuals = self._residuals(Y, X)
        slopes = residuals @ self.rows
        gap, step = self._judge(X, residuals, slopes, low, high)
        found = Found(X, self._dual(residuals, step, dual), gap, scale, target)
        for attempt in range(1, _REFINEMENTS + 1):
            enough = (_ENOUGH if attempt <= _BEYOND else 1.0) * target[which]
            which = which[~(found.gap[which] <= enough)]
            if not len(which):
                break
            self._refine(Y, which, slopes, noise, state, (low, high), found, dual)
        return found

    def _refine(
        self, Y: Any, which: Any, slopes: Any, noise: Any, state: Any, box: Any, found: Found, dual: bool
    ) -> None:
        """Solve some again from their answers and the slopes of fresh residuals; keep what is better."""
        xp, low, high = self.card.arrays, *box
        base = found.x[which]
        part = Y[which]
        some = xp.arange(len(which), dtype=np.int32)
        low, high = (b if len(b) == 1 else b[which] for b in (low, high))
        X, states = xp.empty_like(base), state[which]
        fresh = self._residuals(part, base) @ self.rows
        task = (some, fresh, base, low, high, noise[which])
        self._settle(task, (X, states, xp.zeros(len(which), dtype=np.int8)), first=False)
        residuals = self._residuals(part, X)
        gap, step = self._judge(X, residuals, residuals @ self.rows, low, high)
        better = gap <= found.gap[which]
        kept = which[better]
        found.x[kept], found.gap[kept], state[kept] = X[better], gap[better], states[better]
        if dual:
            found.theta[kept] = self._dual(residuals, step, dual)[better]

    def _residuals(self, Y: Any, X: Any) -> Any:
        """y - A x, a row each; X may have a single row."""
        if len(X) == 1 and not X.any():
            return Y
        return Y - X @ self.rows.T

    def _goal(self, Y: Any, low: Any, high: Any) -> tuple[Any, Any]:
        """P₀ and the gap asked for, which is no less than what rounding leaves meaningful."""
        xp = self.card.arrays
        origin = xp.minimum(xp.maximum(0.0, low), high)
        rest = self._residuals(Y, origin)
        scale = 0.5 * xp.sum(rest * rest, axis=1)
        terms = xp.count_nonzero(origin, axis=1) + 2.0
        drift = terms * _UNIT / (1.0 - terms * _UNIT) * (xp.abs(origin) @ self.norms) * SLACK
        return scale, xp.maximum(self.tol * scale, drift * drift)

    def _dual(self, residuals: Any, step: Any, wanted: bool) -> Any:
        if not wanted:
            return self.card.arrays.empty((0, residuals.shape[1]))
        return residuals + step[:, None] * self.t

    def _judge(self, X: Any, residuals: Any, slopes: Any, low: Any, high: Any) -> tuple[Any, Any]:
        from ..kernels.cuda.certificates import Pair, judge

        xp, count = self.card.arrays, len(X)
        gap, step = xp.empty(count), xp.empty(count)
        wrap = self.card.for_kernels
        pair = Pair(*(wrap(part) for part in (X, residuals, slopes, low, high, self.norms)))
        if count:
            grid = min(count, 2 * self.card.blocks)
            judge[grid, self.card.threads](
                xp.arange(count, dtype=np.int32), pair, self.way, gap, step
            )
        return gap, step

    def _settle(self, task: tuple[Any, ...], found: tuple[Any, ...], first: bool) -> None:
        """Active sets in shared memory; those with too many free variables in the card's own."""
        from ..kernels.cuda import active_set as kernels

        xp, (m, n), which = self.card.arrays, self.rows.shape, task[0]
        single = self.single and first
        room = min(m, n, self.room)
        kernel = kernels.settle_single if single else kernels.settle_shared
        gram = self.narrow_gram if single else self.gram
        kind = np.dtype(np.float32 if single else np.float64)
        warm = self.warm and first and len(task[3]) == 1 and len(task[4]) == 1
        wrapped = [self.card.for_kernels(part) for part in task]
        goes_to = kernels.Found(*(self.card.for_kernels(part) for part in found))
        if len(which):
            blocks = min(self.card.blocks, len(which))
            run = max(1, min(_RUN, len(which) // (2 * blocks))) if warm else 1
            kernel[blocks, self.card.threads, 0, kind.itemsize * kernels.memory_needed(room)](
                gram,
                self.inverse_norms,
                kernels.Task(wrapped[0], run, *wrapped[1:], self.unbounded),
                goes_to,
                xp.empty((blocks, n), dtype=kind),
                room,
                warm,
            )
            which = which[found[2][which] != 0]
        most = min(m, n)
        if len(which) == 0 or room == most:
            return
        need = kernels.memory_needed(most)
        blocks = int(max(1, min(self.card.blocks, len(which), _WORK // (8 * need))))
        kernels.settle_wide[blocks, self.card.threads](
            self.gram,
            self.inverse_norms,
            kernels.Task(self.card.for_kernels(which), 1, *wrapped[1:], self.unbounded),
            goes_to,
            xp.empty((blocks, n)),
            xp.empty((blocks, need)),
            xp.empty((blocks, most), dtype=np.int32),
            most,
        )


def _start(xp: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Every variable at its bound next to 0: x₀ and states; those without bounds at 0."""
    from ..kernels.cuda.moves import FIXED, LOWER, UPPER

    has_low, has_high = xp.isfinite(low), xp.isfinite(high)
    at_low = has_low & (~has_high | (xp.abs(low) <= xp.abs(high)))
    base = xp.where(at_low, low, xp.where(has_high, high, 0.0))
    state = xp.where(at_low | ~has_high, LOWER, UPPER)
    return base, xp.where(low == high, FIXED, state).astype(np.int8)
