"""Right-hand sides on workers of `distributed`: A once to each, a worker that is killed; joblib."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boxreg import solve_many
from boxreg.batch.layout import BLOCK
from cluster_problems import COUNT, image, problem, same
from documented import ROOT, blocks

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes of `distributed`."""
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**settings, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as one,
    ):
        yield one


def test_distributed(client: Any) -> None:
    A, Y = problem()
    wanted = solve_many(A, Y)
    lazy = solve_many(A, da.from_array(Y, chunks=(14, BLOCK)))
    found = lazy.compute()
    assert same(found, wanted)
    assert set(found.statistics["worker"]) <= set(client.scheduler_info()["workers"])
    assert same(client.compute(lazy).result(), wanted)
    kept = lazy.persist()
    assert np.array_equal(kept.x.compute(), wanted.x)
    assert np.array_equal(solve_many(A, image(True), axis="band").x.compute().shape, (10, 12, 9))


def test_right_hand_sides_that_are_there_already(client: Any) -> None:
    A, Y = problem(count=33 * BLOCK)
    wanted = solve_many(A, Y)
    there = da.from_array(Y, chunks=(14, BLOCK)).persist()
    lazy = solve_many(A, there)
    assert same(lazy.compute(), wanted)
    assert np.array_equal(lazy.persist().x.compute(), wanted.x)
    assert np.array_equal(lazy.x.compute(), wanted.x)


def count_plans() -> None:
    """In a worker: from here on count the plans that arrive."""
    from boxreg.batch.plan import Plan

    restore = Plan.__setstate__
    Plan.arrived = 0

    def counted(self: Any, state: Any) -> None:
        Plan.arrived += 1
        restore(self, state)

    Plan.__setstate__ = counted


def plans() -> int:
    from boxreg.batch.plan import Plan

    return int(Plan.arrived)


def test_the_plan_goes_to_each_worker_once(client: Any) -> None:
    A, Y = problem()
    client.run(count_plans)
    found = solve_many(A, da.from_array(Y, chunks=(14, 20))).compute()
    assert len(found.statistics) == 34
    arrived = client.run(plans)
    assert all(arrived[worker] == 1 for worker in set(found.statistics["worker"]))


def wait_there(block: np.ndarray, folder: str, block_id: tuple[int, int]) -> np.ndarray:
    """Chunk 3 tells which process has it, and holds until it may go on."""
    if block_id[1] == 3 and not Path(folder, "go").exists():
        Path(folder, "new").write_text(str(os.getpid()))
        Path(folder, "new").rename(Path(folder, "process"))
        while not Path(folder, "go").exists():
            time.sleep(0.01)
    return block


def test_a_worker_that_is_killed_costs_a_retry(client: Any, tmp_path: Path) -> None:
    A, Y = problem()
    source = da.from_array(Y, chunks=(14, BLOCK)).map_blocks(
        wait_there, folder=str(tmp_path), meta=np.empty((0, 0))
    )
    running = solve_many(A, source).persist()
    note = tmp_path / "process"
    while not note.exists():
        time.sleep(0.01)
    victim = int(note.read_text())
    assert victim in client.run(os.getpid).values()
    os.kill(victim, signal.SIGKILL)
    (tmp_path / "go").touch()
    found = running.compute()
    assert same(found, solve_many(A, Y))
    assert found.verify()
    assert victim not in client.run(os.getpid).values()


def test_the_joblib_example() -> None:
    pytest.importorskip("joblib")
    page = ROOT / "docs" / "cluster.md"
    (example,) = [code for code in blocks(page, "python") if "joblib" in code]
    A, Y = problem()
    space: dict[str, Any] = {"A": A, "Y": Y}
    exec(re.sub(r"n_jobs=-?\d+", "n_jobs=1", example), space)
    assert np.allclose(space["x"], solve_many(A, Y).x, rtol=0.0, atol=1e-12)
    assert space["gap"].shape == (COUNT,)
