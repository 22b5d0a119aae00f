"""Many right-hand sides on dask: two worker processes against one process, and what a chunk costs.

    BOXREG_DATA=... python -m benchmarks.cluster --out out/cluster

Pixels of cuprite, repeated with noise, in a file that every process maps; in chunks. Overhead:
processor time of all processes (workers, scheduler, client) beside that of the solves, reading included,
as a share of the plain call's. Speed-up: in seconds on the clock, the best of some passes; on a busy
machine it means nothing, so the load is told too. Answers stay where they were computed; `compute`
fetches all of x to the client too.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import dask
import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait

import boxreg
from benchmarks.race.environment import environment

QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.active-memory-manager.start": False,
}
"""Less looking at workers while they work: five idle processes take a tenth of a core otherwise."""

TUNED = QUIET | {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 27,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 25,
}
"""And workers keep memory that they have freed; the default gives it back, page by page."""


@dataclass(frozen=True)
class Row:
    """One way to run: milliseconds a chunk on the processor, beside the solves, and on the clock."""

    way: str
    processor_ms: float
    beside_ms: float
    overhead: float
    clock_ms: float
    speedup: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=Path("out/cluster"))
    parser.add_argument("--chunks", type=int, default=128)
    parser.add_argument("--size", type=int, default=1000, help="pixels a chunk")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    folder = os.environ.get("BOXREG_DATA")
    if not folder:
        raise SystemExit("set BOXREG_DATA to the folder of real data sets")
    with tempfile.TemporaryDirectory() as scratch:
        A, file = pixels(Path(folder), Path(scratch), given.chunks, given.size)
        load = os.getloadavg()[0]
        rows = measure(A, file, given.size, given.passes, given.workers)
    given.out.mkdir(parents=True, exist_ok=True)
    record = {
        "environment": environment(),
        "load": load,
        "workers": given.workers,
        "size": given.size,
        "rows": [asdict(row) for row in rows],
    }
    (given.out / "cluster.json").write_text(json.dumps(record, indent=1, default=str))
    text = markdown(rows) + f"\nLoad at the start: {load:.1f} on {os.cpu_count()} cores.\n"
    (given.out / "cluster.md").write_text(text)
    print(text)


def pixels(folder: Path, scratch: Path, chunks: int, size: int) -> tuple[np.ndarray, Path]:
    """A, and a file with one pixel a line."""
    with np.load(folder / "cuprite_usgs.npz") as file:
        A, Y = file["A"].astype(float), file["Y_int16"].T * float(file["Y_scale"])
    rng, name = np.random.default_rng(7), scratch / "pixels.npy"
    shape = (chunks * size, Y.shape[1])
    out = np.lib.format.open_memmap(name, mode="w+", dtype=float, shape=shape)
    for k in range(chunks):
        some = Y[(k * size + np.arange(size)) % len(Y)]
        out[k * size : (k + 1) * size] = some * (1.0 + 0.01 * rng.standard_normal(some.shape))
    out.flush()
    return A, name


def lines(file: str, size: int, block_id: tuple[int, int]) -> np.ndarray:
    """The pixels of a chunk, as they are mapped."""
    return mapped(file)[block_id[0] * size : (block_id[0] + 1) * size]


@cache
def mapped(file: str) -> np.ndarray:
    """The file, mapped once by every process."""
    return np.asarray(np.load(file, mmap_mode="r"))


def measure(A: np.ndarray, file: Path, size: int, passes: int, workers: int) -> list[Row]:
    Y = np.load(file, mmap_mode="r")
    chunks = len(Y) // size
    source = da.map_blocks(
        lines,
        file=str(file),
        size=size,
        chunks=((size,) * chunks, (Y.shape[1],)),
        meta=np.empty((0, 0)),
    )
    lazy = boxreg.solve_many(A, source, axis=1)

    def plain() -> None:
        boxreg.solve_many(A, Y, axis=1)

    def stay() -> Any:
        kept = lazy.persist()
        wait(kept)
        return kept

    def threads() -> Any:
        return lazy.persist(scheduler="threads", num_workers=1)

    inside = {
        "processes": False
    }  # an argument of LocalCluster; its workers are not profiled either
    ways: dict[str, tuple[Callable[[], Any], dict[str, Any] | None]] = {
        "plain call": (plain, None),
        "a call each chunk": (lambda: each(A, Y, size), None),
        "threads, 1": (threads, None),
        "distributed": (stay, {}),
        "distributed, tuned": (stay, TUNED),
        "distributed, tuned, compute": (lazy.compute, TUNED),
        "distributed, workers in this process": (stay, inside),
        "distributed, workers in this process, compute": (lazy.compute, inside),
    }
    check(lazy, boxreg.solve_many(A, Y, axis=1))
    best = dict.fromkeys(ways, (np.inf,) * 3)
    for name, (run, settings) in ways.items():
        if settings is None:
            best[name] = timed(run, passes)
            continue
        options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        options |= settings if settings is inside else {}
        with (
            dask.config.set(QUIET if settings is inside else settings),
            LocalCluster(**options) as cluster,
            Client(cluster),
        ):
            run()
            best[name] = timed(run, passes)
            again = timed(plain, 2)  # in turn: the machine may have become slower or faster
            best["plain call"] = tuple(np.fmin(best["plain call"], again))
    base = best["plain call"]
    return [
        Row(
            name,
            1e3 * processor / chunks,
            1e3 * beside / chunks,
            beside / base[0],
            1e3 * clock / chunks,
            base[2] / clock,
        )
        for name, (processor, beside, clock) in best.items()
    ]


def each(A: np.ndarray, Y: np.ndarray, size: int) -> None:
    for k in range(0, len(Y), size):
        boxreg.solve_many(A, Y[k : k + size], axis=1)


def check(lazy: Any, plain: Any) -> None:
    """The answers are those of the plain call, and proved."""
    found = lazy.compute(scheduler="synchronous")
    if not (found.success and np.allclose(found.x, plain.x, rtol=0.0, atol=1e-9)):
        raise SystemExit("the lazy answers differ")


def timed(run: Callable[[], Any], passes: int) -> tuple[float, ...]:
    """Least processor time of this process and its children, of it beside the solves, and on the clock.

    `run` returns a result with records of chunks, or None.
    """
    found = []
    for _ in range(passes):
        start, clock = processor_time(), time.perf_counter()
        result = run()
        spent, clock = processor_time() - start, time.perf_counter() - clock
        found.append((spent, spent - solves(result), clock))
        del result
        time.sleep(0.3)  # results are given up in the background
    return tuple(np.min(found, axis=0).tolist())


def solves(result: Any) -> float:
    """Processor time within the tasks that solve."""
    if result is None:
        return np.nan
    (records,) = dask.compute(result.statistics)
    return float(records["processor_seconds"].sum())


def processor_time() -> float:
    me = psutil.Process()
    return sum(sum(p.cpu_times()[:2]) for p in (me, *me.children(recursive=True)))


def told(value: float, form: str, unit: str = "") -> str:
    return "" if np.isnan(value) else f"{value:{form}}{unit}"


def markdown(rows: list[Row]) -> str:
    text = [
        "| way | processor, ms a chunk | beside the solves | of the plain call | clock, ms a chunk "
        "| speed-up |",
        "|---|---|---|---|---|---|",
    ]
    text += [
        f"| {row.way} | {row.processor_ms:.1f} | {told(row.beside_ms, '.1f')} "
        f"| {told(100.0 * row.overhead, '.1f', ' %')} | {row.clock_ms:.1f} | {row.speedup:.2f}× |"
        for row in rows
    ]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    main()
