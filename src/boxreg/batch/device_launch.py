"""Launches of the kernels for GPUs, for one A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..devices import Card
from ..settings import current
from .shared import Shared


@dataclass
class Sets:
    """Active sets to be found: slopes at a base, the bounds, what rounding may leave of a slope; and
    where x, states, and whether there was too little room, go. One row a right-hand side, but for the
    base and bounds that all of them share."""

    slopes: Any
    base: Any
    lower: Any
    upper: Any
    noise: Any
    x: Any
    state: Any
    short: Any


class Launcher:
    """G, norms and the direction on the card, and the kernels that read them."""

    def __init__(self, shared: Shared, card: Card, warm: bool) -> None:
        from ..kernels.box_certificates import Way

        self.card, self.warm, way = card, warm, shared.way
        put, wrap = card.arrays.asarray, self._wrap
        m, n = shared.model.rows.shape
        self.most = min(m, n)
        self.gram, self.norms = put(shared.model.gram), put(shared.model.norms)
        self.narrow_gram: Any = None
        with np.errstate(divide="ignore"):
            self.inverse_norms = wrap(
                np.where(shared.model.norms > 0.0, 1.0 / shared.model.norms, 0.0)
            )
        self.unbounded = wrap(np.asarray(shared.unbounded, dtype=np.int32))
        known = len(way.t) > 0
        self.t = put(way.t if known else np.zeros(m))
        self.way = Way(
            wrap(self.t),
            wrap(way.products if known else np.zeros(n)),
            float(way.size),
            float(way.error),
            wrap(way.free),
            wrap(way.scale),
            float(way.least),
            wrap(way.rows),
        )

    def settle(self, which: Any, sets: Sets, *, resumed: bool, single: bool) -> None:
        """Active sets in shared memory; those with too many free variables in the card's own.

        `resumed`: from the states that are there; else all but the first of a run of right-hand sides
        start from those of the one before, where bounds are the same for all.
        """
        from ..kernels.cuda import active_set as kernels

        card, room, n = self.card, min(self.most, current().device_free), len(self.norms)
        warm = self.warm and not resumed and len(sets.lower) == 1 and len(sets.upper) == 1
        kind = np.dtype(np.float32 if single else np.float64)
        blocks = min(card.blocks, len(which))
        run = max(1, min(current().device_run, len(which) // (2 * blocks))) if warm else 1
        kernel = kernels.settle_single if single else kernels.settle_shared
        kernel[blocks, card.threads, 0, kind.itemsize * kernels.memory_needed(room)](
            self._gram(single),
            self.inverse_norms,
            self._task(which, run, sets),
            kernels.Found(*(self._wrap(part) for part in (sets.x, sets.state, sets.short))),
            card.arrays.empty((blocks, n), dtype=kind),
            room,
            warm,
        )
        left = which[sets.short[which] != 0] if room < self.most else which[:0]
        if len(left):
            self._settle_wide(left, sets)

    def _settle_wide(self, which: Any, sets: Sets) -> None:
        from ..kernels.cuda import active_set as kernels

        arrays, need = self.card.arrays, kernels.memory_needed(self.most)
        fit = current().device_bytes // (8 * need)
        blocks = int(max(1, min(self.card.blocks, len(which), fit)))
        kernels.settle_wide[blocks, self.card.threads](
            self.gram,
            self.inverse_norms,
            self._task(which, 1, sets),
            kernels.Found(*(self._wrap(part) for part in (sets.x, sets.state, sets.short))),
            arrays.empty((blocks, len(self.norms))),
            arrays.empty((blocks, need)),
            arrays.empty((blocks, self.most), dtype=np.int32),
            self.most,
        )

    def judge(self, x: Any, residuals: Any, slopes: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
        """Gaps, and how far along t the dual points lie that prove them."""
        from ..kernels.cuda.certificates import Pair, judge

        arrays, count = self.card.arrays, len(x)
        gap, step = arrays.empty(count), arrays.empty(count)
        pair = Pair(
            *(self._wrap(part) for part in (x, residuals, slopes, lower, upper, self.norms))
        )
        judge[min(count, 2 * self.card.blocks), self.card.threads](pair, self.way, gap, step)
        return gap, step

    def _task(self, which: Any, run: int, sets: Sets) -> Any:
        from ..kernels.cuda.active_set import Task

        wrap = self._wrap
        return Task(
            wrap(which),
            run,
            wrap(sets.slopes),
            wrap(sets.base),
            wrap(sets.lower),
            wrap(sets.upper),
            wrap(sets.noise),
            self.unbounded,
        )

    def _gram(self, single: bool) -> Any:
        if not single:
            return self.gram
        if self.narrow_gram is None:
            self.narrow_gram = self.gram.astype(np.float32)
        return self.narrow_gram

    def _wrap(self, array: Any) -> Any:
        return self.card.for_kernels(self.card.arrays.asarray(array))
