"""One chunk of a dask array solved: a task."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..floating_point import own_errstate
from ..in_threads import alone
from ..settings import within
from .layout import Layout
from .packed import Packed, packed, unpacked
from .plan import Plan
from .result import RhsStatus, shares
from .sinks import Numbers

RECORD = np.dtype(
    [
        ("count", np.int64),
        ("solved", np.int64),
        ("converged", np.int64),
        ("repaired", np.int64),
        ("proved", np.int64),
        ("worst_gap", np.float64),
        ("mean_support", np.float64),
        ("seconds", np.float64),
        ("processor_seconds", np.float64),
        ("worker", "U64"),
    ]
)
"""What is told of a chunk: right-hand sides in it, how many were solved (not skipped), to the gap asked
for, by the general solver, with a gap that is proved; the largest relative gap; the mean support; time;
and who did it."""

KINDS = {
    "gap": np.float64,
    "objective": np.float64,
    "scale": np.float64,
    "target_gap": np.float64,
    "status": np.int8,
    "support": np.int32,
    "repaired": np.bool_,
    "proved": np.bool_,
}
"""The numbers that each right-hand side has."""


@dataclass(frozen=True)
class Bundle:
    """All that was found for a chunk; x, theta, the numbers and the record are cut out of it by name.

    x may be packed, and is when it travels between processes.
    """

    parts: dict[str, Any]
    direction: Array | None
    axis: int

    def __getstate__(self) -> dict[str, Any]:
        x = self.parts["x"]
        light = x if isinstance(x, Packed) else packed(x, self.axis)
        return {**self.__dict__, "parts": {**self.parts, "x": light}}

    def cut(self, part: str) -> Any:
        """One part."""
        return unpacked(self.parts[part])

    def put(self, part: str, place: Array) -> None:
        """Write one part down; x where there are zeros."""
        found = self.parts[part]
        if isinstance(found, Packed):
            found.put(place)
        else:
            place[...] = found

    def __sizeof__(self) -> int:
        """Bytes of the arrays: what a scheduler takes it to weigh."""
        return 500 + sum(int(part.nbytes) for part in self.parts.values())


@own_errstate
def solve_block(
    block: Any,
    *bounds: Any,
    plan: Plan,
    with_lower: bool,
    with_upper: bool,
    pack: bool,
    block_id: tuple[int, ...],
) -> Bundle:
    """Solve a chunk as `solve_many` would, with what the plan has of A; `pack` drops the zeros of x."""
    from .reading import chunk_size, read_chunk

    clock, processor = perf_counter(), thread_time()
    left = list(bounds)
    lower = left.pop(0) if with_lower else None
    upper = left.pop(0) if with_upper else None
    axis = plan.question.layout.axis
    place = tuple(k for at, k in enumerate(block_id) if at != axis)
    question = plan.ask(block, lower, upper, place)
    layout, (m, n) = question.layout, question.design.shape
    solver = plan.engine(question)
    numbers = Numbers.empty(layout.count)
    x = plan.room("x", layout.count, n) if pack else np.empty((layout.count, n))
    theta = np.empty((layout.count if plan.dual else 0, m))
    for first, last in layout.chunks(chunk_size(m, n, solver.memory)):
        rows = slice(first * layout.width, last * layout.width)
        read = plan.room("y", rows.stop - rows.start, m)
        part = read_chunk(question, first, last, solver, x[rows], read)
        with alone(), within(plan.settings):  # other threads have chunks of their own
            answers = solver.solve(part, layout.blocks(first, last))
        numbers.put(rows.start, answers)
        theta[rows] = answers.theta
    parts: dict[str, Any] = {"x": _placed(layout, x), **numbers.shaped(layout.outer_shape)}
    if pack:
        light = packed(parts["x"], axis)
        parts["x"] = light if isinstance(light, Packed) else np.array(light)  # the room is lent
    if plan.dual:
        parts["theta"] = _placed(layout, theta)
    spent = (perf_counter() - clock, thread_time() - processor)
    parts["statistics"] = _record(numbers, layout, spent)
    return Bundle(parts, solver.direction, axis)


def _placed(layout: Layout, rows: Array) -> Array:
    """One row a right-hand side, seen in the shape of Y."""
    return np.moveaxis(rows.reshape(*layout.outer_shape, rows.shape[1]), -1, layout.axis)


def cut(bundle: Any, part: str) -> Any:
    """One part of a bundle; dask wraps it in lists where an axis goes."""
    while isinstance(bundle, list):
        bundle = bundle[0]
    return bundle.cut(part)


def _record(numbers: Numbers, layout: Layout, spent: tuple[float, float]) -> npt.NDArray[np.void]:
    done = numbers.status != RhsStatus.SKIPPED
    relative = shares(numbers.gap[done], numbers.scale[done])
    record = np.zeros((1,) * (len(layout.shape) - 1), dtype=RECORD)
    record[...] = (
        layout.count,
        done.sum(),
        (numbers.status == RhsStatus.CONVERGED).sum(),
        numbers.repaired.sum(),
        numbers.proved.sum(),
        relative.max() if len(relative) else np.nan,
        numbers.support[done].mean() if len(relative) else np.nan,
        *spent,
        worker_name(),
    )
    return record


def worker_name() -> str:
    """The address of a worker of `distributed`; elsewhere host and process."""
    workers = sys.modules.get("distributed.worker")
    if workers is not None:
        try:
            return str(workers.get_worker().address)
        except ValueError:  # not in a worker
            pass
    return f"{socket.gethostname()}:{os.getpid()}"
