"""Many right-hand sides however they are stored: axes, chunks, threads, files, runs that go on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from boxreg import solve_many
from boxreg.batch.layout import BLOCK, Layout
from many_problems import generator


def test_axes() -> None:
    rng = generator(9)
    A = np.abs(rng.standard_normal((12, 7)))
    cube = np.abs(rng.standard_normal((12, 9, 31)))
    flat = solve_many(A, cube.reshape(12, -1))
    for axis in (0, 1, 2, -1):
        batch = solve_many(A, np.moveaxis(cube, 0, axis), axis=axis)
        assert batch.gap.shape == (9, 31)
        assert batch.support.shape == (9, 31)
        x = np.moveaxis(batch.x, axis, 0)
        assert np.allclose(x.reshape(7, -1), flat.x, atol=1e-9)
        assert batch.verify()


@pytest.mark.parametrize("loss", ["least_squares", "kullback_leibler"])
def test_independent_of_threads_and_chunks(loss: str) -> None:
    rng = generator(10)
    A = np.abs(rng.standard_normal((14, 9)))
    Y = rng.poisson(A @ np.abs(rng.standard_normal((9, 3 * BLOCK + 17))) * 3.0)
    first = solve_many(A, Y, loss=loss)
    for options in ({"n_jobs": 2}, {"n_jobs": -1}, {"chunk": 1}, {"chunk": 200}, {"chunk": 10_000}):
        again = solve_many(A, Y, loss=loss, **options)
        assert np.array_equal(again.x, first.x)
        assert np.array_equal(again.gap, first.gap)
    cold = solve_many(A, Y, loss=loss, warm_start=False)
    assert cold.success
    assert not cold.repaired.any()
    assert np.allclose(A @ cold.x, A @ first.x, rtol=1e-3, atol=1e-3)


def test_blocks_cover_every_right_hand_side_once() -> None:
    for shape, axis in (
        ((5, 1000), 0),
        ((300, 5), 1),
        ((7, 5, 200), 1),
        ((5, 3, 4, 50), 0),
        ((5, 0), 0),
    ):
        layout = Layout(shape, axis)
        seen, whole = [], []
        for size in (1, 50, 333, 10**6):
            covered: list[int] = []
            starts = set()
            for begin, end in layout.chunks(size):
                base = begin * layout.width
                for a, b in layout.blocks(begin, end):
                    covered += range(base + a, base + b)
                    starts.add((base + a, base + b))
                    assert b - a <= BLOCK
            seen.append(covered)
            whole.append(starts)
        assert all(each == list(range(layout.count)) for each in seen)
        assert all(each == whole[0] for each in whole)


def test_streaming_equals_memory(tmp_path) -> None:
    rng = generator(11)
    A = np.abs(rng.standard_normal((10, 6)))
    Y = np.abs(rng.standard_normal((10, 500))).astype(np.float32)
    np.save(tmp_path / "y.npy", Y)
    on_disk = np.load(tmp_path / "y.npy", mmap_mode="r")
    out = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=float, shape=(6, 500))
    batch = solve_many(A, on_disk, out=out, chunk=BLOCK)
    assert batch.x is out
    assert np.array_equal(np.load(tmp_path / "x.npy"), solve_many(A, Y).x)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.npy", "y.npy"]


class Sliceable:
    """As much of an array as a file format offers: a shape and slices; counts what is read at once."""

    def __init__(self, array: np.ndarray, fail_after: int | None = None) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype
        self.largest, self.reads, self._fail_after = 0, 0, fail_after

    def __getitem__(self, index):
        part = self._array[index]
        self.largest, self.reads = max(self.largest, part.size), self.reads + 1
        if self._fail_after is not None and self.reads > self._fail_after:
            raise KeyboardInterrupt
        return part.copy()

    def __setitem__(self, index, value) -> None:
        self._array[index] = value


def test_reads_a_chunk_at_a_time() -> None:
    rng = generator(12)
    A, Y = np.abs(rng.standard_normal((8, 5))), np.abs(rng.standard_normal((8, 2000)))
    source, target = Sliceable(Y), Sliceable(np.zeros((5, 2000)))
    solve_many(A, source, out=target, chunk=BLOCK)
    assert source.largest == 8 * BLOCK
    assert np.array_equal(target._array, solve_many(A, Y).x)


@pytest.mark.parametrize("stop", [3, 5, 9])
def test_an_interrupted_run_goes_on(tmp_path, stop: int) -> None:
    rng = generator(13)
    A, Y = np.abs(rng.standard_normal((8, 5))), np.abs(rng.standard_normal((8, 10 * BLOCK)))
    name = tmp_path / "x.npy"
    out = np.lib.format.open_memmap(name, mode="w+", dtype=float, shape=(5, 10 * BLOCK))
    with pytest.raises(KeyboardInterrupt):
        solve_many(A, Sliceable(Y, fail_after=stop), out=out, chunk=BLOCK)
    del out
    told = json.loads((tmp_path / "x.npy.journal").read_text())
    assert told["lines"] == stop * BLOCK
    out = np.load(name, mmap_mode="r+")
    source = Sliceable(Y)
    batch = solve_many(A, source, out=out, chunk=3 * BLOCK)
    whole = solve_many(A, Y)
    assert np.array_equal(np.load(name), whole.x)
    for part in ("gap", "status", "support", "scale"):
        assert np.array_equal(getattr(batch, part), getattr(whole, part))
    assert source.reads < 6  # what was done is read once more
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.npy"]


def test_a_journal_of_another_run_is_refused(tmp_path) -> None:
    rng = generator(14)
    A, Y = np.abs(rng.standard_normal((8, 5))), np.abs(rng.standard_normal((8, 4 * BLOCK)))
    out = np.zeros((5, 4 * BLOCK))
    journal = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        solve_many(A, Sliceable(Y, fail_after=2), out=out, journal=journal, chunk=BLOCK)
    with pytest.raises(ValueError, match=r"journal: .* belongs to another run"):
        solve_many(A + 1.0, Y, out=out, journal=journal)
    with pytest.raises(ValueError, match=r"journal: .* belongs to another run"):
        solve_many(A, Y, 0.0, 1.0, out=out, journal=journal)
    solve_many(A, Y, out=out, journal=journal)
    assert np.array_equal(out, solve_many(A, Y).x)
