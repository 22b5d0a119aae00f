"""Right-hand sides as they are read, a chunk at a time."""

from __future__ import annotations

import numpy as np

from .. import validate
from ..arrays import Array, Mask
from ..devices import host, module_of
from .chunk import Chunk
from .engines import Engine
from .question import Question


def chunk_size(m: int, n: int, memory: float) -> int:
    """Right-hand sides that take so many bytes, with their answers, about."""
    return max(1, int(memory / (8.0 * (2 * m + n + 8))))


def read_chunk(
    question: Question,
    first: int,
    last: int,
    solver: Engine,
    room: Array | None = None,
    into: Array | None = None,
) -> Chunk:
    """Some lines with their bounds; what is not finite, or not for this loss, is not valid.

    `room` is where x may be written, `into` where right-hand sides may be copied to.
    """
    layout, count = question.layout, (last - first) * question.layout.width
    there = layout.lying(question.Y, first, last)
    place = into if there is None else there
    rows = module_of(question.Y).empty((count, layout.rows)) if place is None else place
    masked, valid = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)

    def read(begin: int, end: int) -> None:
        part = slice((begin - first) * layout.width, (end - first) * layout.width)
        if there is None:
            layout.read_into(question.Y, begin, end, rows[part], masked[part])
        valid[part] = question.solvable(rows[part], masked[part])

    if isinstance(question.Y, np.ndarray):
        solver.spread(read, first, last)
    else:  # who knows what else can be read from two threads
        read(first, last)
    if not valid.all():
        if not question.skip:
            raise ValueError(_complaint(question, host(rows), masked, valid, first))
        if there is not None:
            rows = np.array(there)
        rows[~valid] = 0.0
    lower = question.lower.rows(layout, first, last)
    upper = question.upper.rows(layout, first, last)
    levels = None
    if question.levels is not None:
        levels = question.levels[first * layout.width : last * layout.width]
    return Chunk(rows, valid, lower, upper, room, levels)


def _complaint(question: Question, rows: Array, masked: Mask, valid: Mask, first: int) -> str:
    p = int(np.flatnonzero(~valid)[0])
    where = question.layout.position(first, p)
    at = where[0] if len(where) == 1 else where
    if masked[p]:
        what = "has masked entries"
    elif np.isfinite(rows[p]).all() and np.max(np.abs(rows[p]), initial=0.0) > validate.LARGEST:
        what = f"has an entry above {validate.LARGEST:g} in size, whose square would overflow"
    elif np.isfinite(rows[p]).all():
        below = bool((rows[p] < 0.0).any())
        what = (
            "entries below 0" if below else "entries > 0 in rows where A cannot make a prediction"
        )
        what = f"has {what}, which loss {question.loss.name!r} does not allow"
    else:
        what = "contains NaN" if np.isnan(rows[p]).any() else "contains inf"
    return (
        f"Y: right-hand side {at} {what} ({int((~valid).sum())} such in this chunk); nan='skip' leaves "
        "them out"
    )
