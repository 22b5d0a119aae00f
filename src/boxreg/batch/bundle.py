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
from .layout import Layout
from .plan import Plan
from .result import RhsStatus
from .sinks import Numbers

RECORD = np.dtype(
    [
        ("count", np.int64),
        ("solved", np.int64),
        ("converged", np.int64),
        ("repaired", np.int64),
        ("worst_gap", np.float64),
        ("mean_support", np.float64),
        ("seconds", np.float64),
        ("processor_seconds", np.float64),
        ("worker", "U64"),
    ]
)
"""What is told of a chunk: right-hand sides in it, how many were solved (not skipped), to the gap asked
for, by the general solver; the largest relative gap; the mean support; time; and who did it."""

KINDS = {
    "gap": np.float64,
    "scale": np.float64,
    "target_gap": np.float64,
    "status": np.int8,
    "support": np.int32,
    "repaired": np.bool_,
}
"""The numbers that each right-hand side has."""


_LEAN = 4
"""x is packed where at most one entry in so many is not 0."""


@dataclass(frozen=True)
class Bundle:
    """All that was found for a chunk; x, theta, the numbers and the record are cut out of it by name.

    Between processes x travels without its zeros where there are many: they are nine tenths of it often.
    """

    parts: dict[str, Any]
    direction: Array | None
    axis: int

    def __getstate__(self) -> dict[str, Any]:
        x = np.moveaxis(self.parts["x"], self.axis, -1)
        where = np.flatnonzero(x)
        if _LEAN * len(where) > x.size or x.size > np.iinfo(np.int32).max:
            return self.__dict__
        packed = (x.shape, where.astype(np.int32), x.reshape(-1)[where])
        return {**self.__dict__, "parts": {**self.parts, "x": packed}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self.parts["x"], tuple):
            shape, where, values = self.parts["x"]
            x = np.zeros(shape)
            x.reshape(-1)[where] = values
            self.parts["x"] = np.moveaxis(x, -1, self.axis)

    def __sizeof__(self) -> int:
        """Bytes of the arrays: what a scheduler takes it to weigh."""
        return 500 + sum(int(part.nbytes) for part in self.parts.values())


def solve_block(
    block: Any,
    *bounds: Any,
    plan: Plan,
    with_lower: bool,
    with_upper: bool,
    block_id: tuple[int, ...],
) -> Bundle:
    """Solve a chunk as `solve_many` would, with what the plan has of A."""
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
    numbers, found = Numbers.empty(layout.count), []
    for first, last in layout.chunks(chunk_size(m, n, solver.memory)):
        part = read_chunk(question, first, last, solver)
        answers = solver.solve(part, layout.blocks(first, last))
        numbers.put(first * layout.width, answers)
        found.append((answers.x, answers.theta))
    parts = {"x": _placed(layout, n, [x for x, _ in found]), **numbers.shaped(layout.outer_shape)}
    if plan.dual:
        parts["theta"] = _placed(layout, m, [theta for _, theta in found])
    spent = (perf_counter() - clock, thread_time() - processor)
    parts["statistics"] = _record(numbers, layout, spent)
    return Bundle(parts, solver.direction, axis)


def _placed(layout: Layout, length: int, rows: list[Array]) -> Array:
    """One row a right-hand side, seen in the shape of Y: not copied if they came at once."""
    whole = rows[0] if len(rows) == 1 else np.concatenate([np.empty((0, length)), *rows])
    return np.moveaxis(whole.reshape(*layout.outer_shape, length), -1, layout.axis)


def cut(bundle: Any, part: str) -> Any:
    """One part of a bundle; dask wraps it in lists where an axis goes."""
    while isinstance(bundle, list):
        bundle = bundle[0]
    return bundle.parts[part]


def _record(numbers: Numbers, layout: Layout, spent: tuple[float, float]) -> npt.NDArray[np.void]:
    done = numbers.status != RhsStatus.SKIPPED
    gap, scale = numbers.gap[done], numbers.scale[done]
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where((gap == 0.0) & (scale == 0.0), 0.0, gap / scale)
    record = np.zeros((1,) * (len(layout.shape) - 1), dtype=RECORD)
    record[...] = (
        layout.count,
        done.sum(),
        (numbers.status == RhsStatus.CONVERGED).sum(),
        numbers.repaired.sum(),
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
