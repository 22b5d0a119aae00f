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
from ..rounding import SLACK, UNIT_ROUNDOFF, gamma
from .chunk import Chunk
from .device_launch import Launcher, Sets
from .shared import Shared


@dataclass
class Found:
    """Answers on the card; theta has no rows where dual points are not asked for."""

    x: Any
    theta: Any
    gap: Any
    objective: Any
    scale: Any
    target: Any


class DeviceSolver:
    """A on the card, and the kernels that work with it."""

    def __init__(self, shared: Shared, card: Card, tol: float, precision: str, warm: bool) -> None:
        self.card, self.tol, self.single = card, tol, precision == "float32"
        self.rows = card.arrays.asarray(shared.model.rows)
        self.kernels = Launcher(shared, card, warm)

    def solve(self, chunk: Chunk, dual: bool) -> Found:
        """x, gaps and, if asked for, dual points; of right-hand sides that are not valid, anything."""
        from ..kernels.many_least_squares import BEYOND, ENOUGH, REFINEMENTS

        xp, (m, n) = self.card.arrays, self.rows.shape
        Y, lower, upper = (xp.asarray(part) for part in (chunk.rows, chunk.lower, chunk.upper))
        which = xp.asarray(np.flatnonzero(chunk.valid).astype(np.int32))
        base, state = _start(xp, lower, upper)
        sets = Sets(
            slopes=self._residuals(Y, base) @ self.rows,
            base=base,
            lower=lower,
            upper=upper,
            noise=UNIT_ROUNDOFF * (m + 2) * xp.sqrt(xp.sum(Y * Y, axis=1)),
            x=xp.zeros((len(Y), n)),
            state=xp.array(xp.broadcast_to(state, (len(Y), n)), order="C"),
            short=xp.zeros(len(Y), dtype=np.int8),
        )
        if len(which):
            self.kernels.settle(which, sets, resumed=False, single=self.single)
        found = self._certified(Y, sets, dual)
        for attempt in range(1, REFINEMENTS + 1):
            enough = (ENOUGH if attempt <= BEYOND else 1.0) * found.target[which]
            which = which[~(found.gap[which] <= enough)]
            if len(which) == 0:
                break
            self._refine(Y, which, sets, found, dual)
        return found

    def _certified(self, Y: Any, sets: Sets, dual: bool) -> Found:
        residuals = self._residuals(Y, sets.x)
        slopes = residuals @ self.rows
        gap, step = self.kernels.judge(sets.x, residuals, slopes, sets.lower, sets.upper)
        scale, target = self._goal(Y, sets.lower, sets.upper)
        theta = residuals + step[:, None] * self.kernels.t if dual else residuals[:0]
        objective = 0.5 * self.card.arrays.sum(residuals * residuals, axis=1)
        return Found(sets.x, theta, gap, objective, scale, target)

    def _refine(self, Y: Any, which: Any, sets: Sets, found: Found, dual: bool) -> None:
        """Solve some again from their answers and the slopes of fresh residuals; keep what is better."""
        xp, part, base = self.card.arrays, Y[which], found.x[which]
        again = Sets(
            slopes=self._residuals(part, base) @ self.rows,
            base=base,
            lower=sets.lower if len(sets.lower) == 1 else sets.lower[which],
            upper=sets.upper if len(sets.upper) == 1 else sets.upper[which],
            noise=sets.noise[which],
            x=xp.zeros_like(base),
            state=sets.state[which],
            short=xp.zeros(len(which), dtype=np.int8),
        )
        every = xp.arange(len(which), dtype=np.int32)
        self.kernels.settle(every, again, resumed=True, single=False)
        new = self._certified(part, again, dual)
        better = new.gap <= found.gap[which]
        kept = which[better]
        found.x[kept], found.gap[kept] = new.x[better], new.gap[better]
        found.objective[kept] = new.objective[better]
        sets.state[kept] = again.state[better]
        if dual:
            found.theta[kept] = new.theta[better]

    def _residuals(self, Y: Any, X: Any) -> Any:
        """y - A x, a row each; X may have a single row."""
        if len(X) == 1 and not X.any():
            return Y
        return Y - X @ self.rows.T

    def _goal(self, Y: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
        """P₀ and the gap asked for, which is no less than what rounding leaves meaningful."""
        xp = self.card.arrays
        origin = xp.minimum(xp.maximum(0.0, lower), upper)
        rest = self._residuals(Y, origin)
        scale = 0.5 * xp.sum(rest * rest, axis=1)
        terms = xp.count_nonzero(origin, axis=1) + 2.0
        size = xp.abs(origin) @ self.kernels.norms
        drift = gamma(terms) * size * SLACK
        return scale, xp.maximum(self.tol * scale, drift * drift)


def _start(xp: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Every variable at its bound next to 0: x₀ and states; those without bounds at 0."""
    from ..kernels.box_moves import LOWER, UPPER
    from ..kernels.cuda.moves import FIXED

    has_lower, has_upper = xp.isfinite(lower), xp.isfinite(upper)
    at_lower = has_lower & (~has_upper | (xp.abs(lower) <= xp.abs(upper)))
    base = xp.where(at_lower, lower, xp.where(has_upper, upper, 0.0))
    state = xp.where(at_lower | ~has_upper, LOWER, UPPER)
    return base, xp.where(lower == upper, FIXED, state).astype(np.int8)
