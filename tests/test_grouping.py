"""Several chunks a task, answers without their zeros, and memory that is used again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from boxreg import solve_many
from boxreg.batch.layout import BLOCK, Layout
from boxreg.batch.packed import Packed, packed, unpacked
from boxreg.batch.plan import Plan
from boxreg.batch.question import asked
from cluster_problems import generator, problem, same

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from dask.callbacks import Callback  # noqa: E402

from boxreg.batch.grouping import group_size, grouped, threads_of  # noqa: E402

CHUNKS = 81  # groups of 10, the last one of a single chunk
ONE = {"scheduler": "synchronous", "num_workers": 1}


@pytest.mark.parametrize(
    ("chunks", "seconds", "threads", "size"),
    [
        (1000, 0.026, 2, 10),  # a quarter of a second
        (1000, 0.026, 100, 1),  # eight tasks for every thread come first
        (1000, 0.026, 20, 6),
        (1000, 2.0, 2, 1),
        (5, 0.001, 2, 1),
    ],
)
def test_sizes(chunks: int, seconds: float, threads: int, size: int) -> None:
    assert group_size(chunks, seconds, threads) == size


def test_threads() -> None:
    assert threads_of({"num_workers": 3}) == 3
    assert threads_of({}) >= 1


def add(*values: int) -> int:
    return sum(values)


def test_what_goes_along() -> None:
    """Chains that lead to one key; not what others need, nor where several lead to one."""
    graph = {
        "all": 100,
        **{("read", k): (add, k) for k in range(4)},
        **{("wait", k): (add, ("read", k)) for k in range(4)},
        **{("left", k): (add, k) for k in range(2)},
        **{("right", k): (add, k) for k in range(2)},
        **{("solve", k): (add, ("wait", k), "all") for k in range(4)},
        **{("solve", 4 + k): (add, ("left", k), ("right", k), "all") for k in range(2)},
    }
    new, keys = grouped(graph, [("solve", k) for k in range(6)], 2, "some")
    assert keys == [("some", 0), ("some", 1), ("some", 2)]
    sides = {(side, k) for side in ("left", "right") for k in range(2)}
    assert set(new) == {"all", *sides, *keys}
    assert [list(found) for found in dask.get(new, keys)] == [[100, 101], [102, 103], [100, 102]]


class Tasks(Callback):
    """How many tasks are run."""

    def __init__(self) -> None:
        self.count = 0
        super().__init__(pretask=self._add)

    def _add(self, *_: Any) -> None:
        self.count += 1


def lazily(A: np.ndarray, Y: np.ndarray, **options: Any) -> Any:
    source = da.map_blocks(
        lambda block_id: np.array(Y[:, block_id[1] * BLOCK : (block_id[1] + 1) * BLOCK]),
        chunks=((len(Y),), (BLOCK,) * CHUNKS),
        meta=np.empty((0, 0)),
    )
    return solve_many(A, source, **options)


@pytest.mark.parametrize("shift", [-1.0, 3.0], ids=["many zeros", "few zeros"])
def test_few_tasks_and_the_same_answers(shift: float) -> None:
    A = problem()[0]
    rng = generator(31)
    x = np.maximum(rng.standard_normal((9, CHUNKS * BLOCK)) - 1.2 + shift, 0.0)
    Y = A @ x - 0.5 + 0.01 * rng.standard_normal((14, CHUNKS * BLOCK))
    wanted, lazy = solve_many(A, Y, return_dual=True), lazily(A, Y, return_dual=True)
    assert (4 * np.count_nonzero(wanted.x) < wanted.x.size) == (shift < 0.0)  # packed, or not
    with Tasks() as tasks:
        found = lazy.compute(**ONE)
    assert tasks.count == 9  # with what belongs to A in each of them
    assert same(found, wanted)
    assert np.array_equal(found.theta, wanted.theta)
    assert found.statistics.shape == (CHUNKS,)
    kept = lazy.persist(**ONE)
    with Tasks() as tasks:
        x, gap = dask.compute(kept.x, kept.gap, scheduler="synchronous")
    assert np.array_equal(x, wanted.x)
    assert np.array_equal(gap, wanted.gap)
    assert kept.persist() is kept
    assert same(kept.compute(**ONE), wanted)
    assert np.array_equal(lazy.x.compute(**ONE), wanted.x)


def test_memory_is_used_again_unless_it_is_much() -> None:
    A, Y = problem()
    question = asked(A, Y, 0.0, np.inf, "least_squares", 1e-8, 0, "raise", {})
    plan = Plan.of(question, ((0,),), True, False)
    first = plan.room("x", 4, 6)
    assert first.shape == (4, 6)
    assert np.shares_memory(plan.room("x", 2, 3), first)
    assert not np.shares_memory(plan.room("y", 4, 6), first)
    with ThreadPoolExecutor(1) as pool:
        assert not np.shares_memory(pool.submit(plan.room, "x", 4, 6).result(), first)
    large = plan.room("x", 1 << 13, 1 << 10)
    assert not np.shares_memory(plan.room("x", 1 << 13, 1 << 10), large)
    assert np.shares_memory(plan.room("x", 4, 6), first)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
def test_packing(axis: int, share: float) -> None:
    rng = generator(32)
    x = np.where(rng.random((5, 6, 7)) < share, rng.standard_normal((5, 6, 7)), 0.0)
    light = packed(x, axis)
    assert isinstance(light, Packed) == (share < 0.25)
    assert np.array_equal(unpacked(light), x)
    if isinstance(light, Packed):
        assert light.nbytes == 12 * np.count_nonzero(x)
        for order in ((5, 6, 7), (7, 6, 5)):
            there = np.zeros(order) if order == x.shape else np.zeros(order).T
            light.put(there)
            assert np.array_equal(there, x)
    else:
        assert light is x


def test_right_hand_sides_are_used_where_they_lie() -> None:
    rng = generator(33)
    layout, Y = Layout((4, 3, 9), 2), rng.random((4, 3, 9))
    there = layout.lying(Y, 1, 3)
    assert there is not None
    assert np.shares_memory(there, Y)
    assert np.array_equal(there, layout.read(Y, 1, 3)[0])
    fixed = Y.copy()
    fixed.flags.writeable = False  # of another kind, for which kernels would be compiled again
    others = (
        Y.astype(np.float32),
        Y.astype(">f8"),
        np.ma.masked_array(Y),
        fixed,
        Y[::-1],
        Y.tolist(),
    )
    assert all(layout.lying(other, 1, 3) is None for other in others)
    assert Layout((9, 3, 4), 0).lying(np.ascontiguousarray(Y.T), 0, 2) is None


def test_what_is_left_out_stays_as_it_was() -> None:
    A, Y = problem()
    Y = np.ascontiguousarray(Y.T)
    Y[3, 2], Y[7] = np.nan, np.inf
    before = Y.copy()
    found = solve_many(A, Y, axis=1, nan="skip")
    assert np.array_equal(Y, before, equal_nan=True)
    assert np.flatnonzero(found.skipped).tolist() == [3, 7]
    others = np.delete(np.arange(len(Y)), [3, 7])
    assert found.verify()
    assert np.allclose(found.x[others], solve_many(A, Y[others], axis=1).x, rtol=0.0, atol=1e-9)
