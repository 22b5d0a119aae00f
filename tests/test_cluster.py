"""Right-hand sides in dask arrays: lazy, chunked alike, the same answers as in memory."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg import in_threads, losses, solve_many
from boxreg.batch.layout import BLOCK
from cluster_problems import COUNT, NUMBERS, generator, problem, same

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


class Forbidden:
    """An array that must not be read."""

    def __init__(self, *shape: int) -> None:
        self.shape, self.ndim, self.dtype = shape, len(shape), np.dtype(float)

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("read")


def test_nothing_is_imported() -> None:
    code = "import sys, boxreg; print({'dask', 'xarray', 'distributed'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_nothing_is_computed_until_asked() -> None:
    source = da.from_array(Forbidden(14, 10, 20), chunks=(7, 4, 20), asarray=False)
    upper = da.from_array(Forbidden(9, 10, 20), chunks=(3, 10, 20), asarray=False)
    result = solve_many(problem()[0], source, 0.0, upper, return_dual=True)
    assert isinstance(result, boxreg.LazyBatchResult)
    assert result.x.chunks == ((9,), (4, 4, 2), (20,))
    assert result.theta.chunks == ((14,), (4, 4, 2), (20,))
    for name in (*NUMBERS, "relative_gap", "gap_over_objective", "skipped"):
        assert getattr(result, name).chunks == ((4, 4, 2), (20,))
    assert result.statistics.shape == (3, 1)
    assert len(result) == 200
    assert "200 right-hand sides in 3 chunks" in repr(result)
    assert "dask array 9 × 10 × 20, chunks of 9 × 4 × 20" in repr(result)
    with pytest.raises(AssertionError, match="read"):
        result.x.compute(scheduler="synchronous")


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_schedulers(scheduler: str) -> None:
    A, Y = problem()
    lazy = solve_many(A, da.from_array(Y, chunks=(5, 2 * BLOCK)))
    wanted, found = solve_many(A, Y), lazy.compute(scheduler=scheduler, num_workers=2)
    assert same(found, wanted)
    assert found.success
    assert found.settings == wanted.settings
    assert found.verify()
    assert found.seconds == found.statistics["seconds"].sum() > 0.0
    here = any(str(os.getpid()) in worker for worker in found.statistics["worker"])
    assert here == (scheduler != "processes")


@pytest.mark.parametrize(
    ("shape", "axis", "chunks"),
    [
        ((14, 12, 50), 0, (14, 4, 50)),
        ((12, 14, 50), 1, (6, 14, 50)),
        ((30, 9, 14), -1, (14, 9, 7)),
        ((4, 3, 200, 14), 3, (1, 3, 200, 14)),
    ],
)
def test_chunks_of_whole_blocks_give_the_same_bits(
    shape: tuple[int, ...], axis: int, chunks: tuple[int, ...]
) -> None:
    A, rng = problem()[0], generator(2)
    Y = np.abs(rng.standard_normal(shape))
    lazy = solve_many(A, da.from_array(Y, chunks=chunks), 0.0, 0.3, axis=axis, return_dual=True)
    wanted, found = solve_many(A, Y, 0.0, 0.3, axis=axis, return_dual=True), lazy.compute()
    assert same(found, wanted)
    assert np.array_equal(found.theta, wanted.theta)
    assert np.array_equal(lazy.x.compute(), wanted.x)
    assert np.array_equal(lazy.theta.compute(), wanted.theta)


def test_any_chunks_give_the_same_answers() -> None:
    A, rng = problem()[0], generator(3)
    Y = np.abs(rng.standard_normal((14, 17, 23)))
    wanted = solve_many(A, Y)
    for chunks in ((14, 5, 7), (3, 17, 1), (14, (1, 16), (20, 3))):
        found = solve_many(A, da.from_array(Y, chunks=chunks)).compute()
        assert found.success
        assert np.allclose(found.x, wanted.x, rtol=0.0, atol=1e-12)
        assert np.array_equal(found.support, wanted.support)
        assert found.statistics["count"].sum() == 17 * 23
        assert found.verify()


@pytest.mark.parametrize("kind", ["number", "vector", "each", "mixed"])
def test_bounds(kind: str) -> None:
    (A, Y), rng = problem(), generator(4)
    n = A.shape[1]
    upper: Any = {
        "number": 0.4,
        "vector": rng.random(n),
        "each": rng.random((n, COUNT)),
        "mixed": np.where(rng.random((n, COUNT)) < 0.5, np.inf, rng.random((n, COUNT))),
    }[kind]
    lower = -rng.random((n, COUNT)) if kind == "mixed" else 0.0
    wanted = solve_many(A, Y, lower, upper)
    source = da.from_array(Y, chunks=(14, BLOCK))
    given = [(lower, upper)]
    if kind in ("each", "mixed"):
        given.append((lower, da.from_array(upper, chunks=(2, 100))))
    for low, high in given:
        found = solve_many(A, source, low, high).compute(scheduler="synchronous")
        assert found.success
        assert np.allclose(found.x, wanted.x, rtol=0.0, atol=1e-10)
        assert found.verify()


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "kullback_leibler"},
        {"loss": losses.KullbackLeibler(0.5), "upper": 3.0},
        {"ridge": 0.1},
        {"loss": "huber"},
    ],
)
def test_losses_and_terms(options: dict[str, Any]) -> None:
    A = problem()[0]
    Y = generator(5).poisson(A @ np.ones((9, 30)) + 0.2)
    lazy = solve_many(A, da.from_array(Y, chunks=(14, 10)), **options)
    wanted, found = solve_many(A, Y, **options), lazy.compute(scheduler="synchronous")
    assert found.settings == wanted.settings
    assert found.success
    assert np.allclose(found.x, wanted.x, rtol=1e-3, atol=1e-4)
    assert found.verify()


def test_what_is_not_finite() -> None:
    A, Y = problem()
    Y[3, [0, 200, 500]] = np.nan
    source = da.from_array(Y, chunks=(14, BLOCK))
    with pytest.raises(ValueError, match=r"Y: right-hand side 200 contains NaN .* nan='skip'"):
        solve_many(A, source).x[:, 150:300].compute(scheduler="synchronous")
    found = solve_many(A, source, nan="skip").compute()
    assert same(found, solve_many(A, Y, nan="skip"))
    assert np.flatnonzero(found.skipped).tolist() == [0, 200, 500]
    assert found.statistics["solved"].tolist() == [127, 127, 128, 127, 128, 40]
    assert found.verify()


def test_masked_chunks() -> None:
    A, Y = problem(count=40)
    masked = da.ma.masked_equal(da.from_array(Y, chunks=(14, 10)), Y.max())
    found = solve_many(A, masked, nan="skip").compute(scheduler="synchronous")
    assert np.flatnonzero(found.skipped).tolist() == [int(np.argmax(Y.max(axis=0)))]


def test_each_chunk_is_solved_once() -> None:
    A, Y = problem()
    seen: list[int] = []

    def watched(block: np.ndarray) -> np.ndarray:
        seen.append(block.shape[1])
        return block

    meta = np.empty((0, 0))
    source = da.from_array(Y, chunks=(14, BLOCK)).map_blocks(watched, meta=meta)
    lazy = solve_many(A, source)
    assert seen == []
    parts = (lazy.x, lazy.gap, lazy.status, lazy.support, lazy.statistics, lazy.relative_gap, lazy)
    x, gap, status, support, statistics, relative, whole = dask.compute(*parts)
    assert sorted(seen) == [40, *[BLOCK] * 5]
    assert same(whole, solve_many(A, Y))
    assert np.array_equal(x, whole.x)
    assert np.array_equal(gap, whole.gap)
    assert np.array_equal(status, whole.status)
    assert np.array_equal(support, whole.support)
    assert np.array_equal(relative, whole.relative_gap)
    assert statistics.shape == (6,)
    kept = lazy.persist()
    assert len(seen) == 12
    assert same(kept.compute(), whole)
    assert np.array_equal(kept.x.compute(), whole.x)
    assert len(seen) == 12


@pytest.mark.parametrize("loss", ["least_squares", "huber"])
def test_tasks_work_alone(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a task solves it solves in its own thread; the caller's products may take several again."""
    from boxreg.batch.plan import Plan

    for name in in_threads._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(in_threads, "_cores", lambda: 3)
    seen: list[int] = []
    engine = Plan.engine

    def watched(self: Plan, question: Any) -> Any:
        solver = engine(self, question)
        solve = solver.solve
        monkeypatch.setattr(
            solver, "solve", lambda *given: (seen.append(in_threads.allowed()), solve(*given))[1]
        )
        return solver

    monkeypatch.setattr(Plan, "engine", watched)
    A, Y = problem()
    lazy = solve_many(A, da.from_array(Y, chunks=(5, 2 * BLOCK)), loss=loss)
    lazy.compute(scheduler="synchronous")
    assert seen
    assert set(seen) == {1}
    assert in_threads.allowed() == 3


def test_statistics() -> None:
    A, Y = problem()
    found = solve_many(A, da.from_array(Y, chunks=(14, 2 * BLOCK))).compute()
    told = found.statistics
    assert told.shape == (3,)
    assert told["count"].tolist() == [256, 256, COUNT - 512]
    assert told["solved"].tolist() == told["count"].tolist() == told["converged"].tolist()
    assert told["repaired"].sum() == found.repaired.sum()
    assert told["worst_gap"].max() == found.relative_gap.max()
    assert told["mean_support"][0] == found.support[:256].mean()
    assert np.all(told["seconds"] > 0.0)
    assert np.all(told["processor_seconds"] > 0.0)


def test_the_plan_is_one_node_and_light() -> None:
    A, Y = problem(40, 60)
    lazy = solve_many(A, da.from_array(Y, chunks=(40, 20)))
    graph = dict(lazy.__dask_graph__())
    plans = [key for key in graph if str(key).startswith("boxreg-plan")]
    assert len(plans) == 1
    plan = lazy.__dask_graph__()[plans[0]]
    plan = getattr(plan, "value", plan)
    assert len(pickle.dumps(plan)) < 8 * (40 * 60 + 60 * 60) + 12_000
    arrived = pickle.loads(pickle.dumps(plan))
    for name in ("gram", "rows", "columns", "norms"):
        part = getattr(arrived.shared.model, name)
        assert np.array_equal(part, getattr(plan.shared.model, name))
        assert part.flags.writeable
    large = solve_many(A, da.zeros((40, 10**6), chunks=(40, 100)))
    assert len(pickle.dumps(large.__dask_graph__().layers[large._bundles.name])) < 100_000


def test_the_same_call_has_the_same_name() -> None:
    A, Y = problem()
    source = da.from_array(Y, chunks=(14, BLOCK))
    first, again = solve_many(A, source), solve_many(A, source)
    assert first.x.name == again.x.name
    for other in (
        solve_many(2.0 * A, source),
        solve_many(A, source, 0.0, 1.0),
        solve_many(A, source, tol=1e-6),
        solve_many(A, source, 0.0, np.ones((9, COUNT))),
        solve_many(A, source, return_dual=True),
    ):
        assert other.x.name != first.x.name


def test_no_right_hand_side() -> None:
    found = solve_many(np.ones((4, 2)), da.zeros((4, 0))).compute()
    assert found.x.shape == (2, 0)
    assert found.success


def test_read_only_arrays() -> None:
    A, Y = problem()
    wanted = solve_many(A, Y)
    A.flags.writeable = Y.flags.writeable = False
    assert same(solve_many(A, Y), wanted)


BAD = [
    ({"out": np.zeros((9, 20))}, "out: cannot be combined with a dask array; .*to_zarr"),
    ({"journal": "run"}, "journal: cannot be combined with a dask array"),
    ({"chunk": 10}, "chunk: cannot be combined with a dask array; .*rechunk Y"),
    ({"n_jobs": 2}, "n_jobs: cannot be combined with a dask array; the scheduler"),
    ({"progress": True}, "progress: cannot be combined with a dask array; .*ProgressBar"),
    ({"sparse": True}, "sparse: cannot be combined with a dask array"),
    ({"axis": 1}, r"Y: expected 14 entries \(rows of A\) along axis 1"),
    ({"axis": "band"}, "axis: expected a whole number"),
    ({"dim": "mineral"}, "dim: names a dimension of a DataArray, but Y is a Array"),
    ({"upper": np.ones((3, 2))}, r"upper: .* an array of shape \(9, 20\)"),
    ({"lower": 2.0, "upper": 1.0}, "bounds: lower must not exceed upper"),
    ({"loss": "squares"}, "loss: unknown name 'squares'"),
    ({"A": np.full((14, 9), np.nan)}, "A: contains NaN"),
    ({"A": -np.ones((14, 9)), "loss": "kullback_leibler"}, "needs A >= 0"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_arguments(given: dict[str, Any], message: str) -> None:
    asked = {"A": problem()[0], "Y": da.ones((14, 20), chunks=(14, 10)), **given}
    with pytest.raises(ValueError, match=message):
        solve_many(**asked)


def test_arrays_that_cannot_be() -> None:
    A, Y = problem(count=20)
    some = da.from_array(Y, chunks=(14, 10))
    with pytest.raises(ValueError, match=r"Y: expected chunks of known sizes.*compute_chunk_sizes"):
        solve_many(A, some[:, some[0] > 0.0])
    with pytest.raises(TypeError, match="Y: expected real numbers, got dtype complex128"):
        solve_many(A, some.astype(complex))
    with pytest.raises(ValueError, match="bounds: lower must not exceed upper"):
        solve_many(A, some, da.full((9, 20), 2.0), 1.0).compute(scheduler="synchronous")
