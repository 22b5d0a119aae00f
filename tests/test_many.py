"""Many right-hand sides: the same answers as one by one, proved, however they are stored."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import RhsStatus, losses, solve, solve_many
from boxreg.batch import many
from boxreg.batch.layout import BLOCK, Layout
from judging import exact_objective
from real_data import load
from references.box_problem import BoxProblem
from references.exact import exact_solution

INF = np.inf


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng([20_260, *seed])


def designs() -> dict[str, np.ndarray]:
    rng = generator(1)
    square = np.abs(rng.standard_normal((20, 20)))
    twins = np.abs(rng.standard_normal((25, 12)))
    return {
        "tall": np.abs(rng.standard_normal((40, 15))),
        "signed": rng.standard_normal((40, 15)),
        "wide": np.abs(rng.standard_normal((15, 40))),
        "square": square,
        "rank_deficient": np.hstack([twins, twins[:, :6], twins[:, 6:] @ np.ones((6, 2))]),
        "zero_column": np.hstack([np.abs(rng.standard_normal((20, 6))), np.zeros((20, 2))]),
        "scaled": np.abs(rng.standard_normal((30, 12))) * np.logspace(-6, 6, 12),
        "one_column": np.abs(rng.standard_normal((8, 1))),
        "one_row": np.abs(rng.standard_normal((1, 5))),
    }


def box(kind: str, n: int, count: int, rng: np.random.Generator) -> tuple[object, object]:
    low = -rng.random(n)
    return {
        "nonnegative": (0.0, INF),
        "unit": (0.0, 1.0),
        "signed_box": (-0.3, 0.4),
        "vectors": (low, low + rng.random(n)),
        "no_lower": (-INF, 0.5),
        "mixed": (np.where(np.arange(n) % 2, -INF, 0.0), np.where(np.arange(n) % 2, 0.7, INF)),
        "fixed": (np.where(np.arange(n) % 3, 0.0, 0.25), np.where(np.arange(n) % 3, INF, 0.25)),
        "above_zero": (0.2, INF),
        "each": (0.0, 0.1 + rng.random((n, count))),
        "each_lower": (-rng.random((n, count)), INF),
    }[kind]


KINDS = (
    "nonnegative", "unit", "signed_box", "vectors", "no_lower", "mixed", "fixed", "above_zero", "each",
    "each_lower",
)  # fmt: skip


def column(bound: object, p: int) -> object:
    array = np.asarray(bound)
    return array[:, p] if array.ndim == 2 else array


def objective(A: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    return 0.5 * float(np.sum((y - np.asarray(A, dtype=float) @ x) ** 2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", designs())
def test_as_one_by_one(name: str, kind: str) -> None:
    A, rng = designs()[name], generator(2, KINDS.index(kind))
    m, n = A.shape
    Y = np.abs(rng.standard_normal((m, 7))) @ np.abs(rng.standard_normal((7, 9)))
    lower, upper = box(kind, n, 9, rng)
    batch = solve_many(A, Y, lower, upper, return_dual=True)
    assert batch.success
    assert batch.x.shape == (n, 9)
    for p in range(9):
        low, high = column(lower, p), column(upper, p)
        x = batch.x[:, p]
        assert np.all(x >= low)
        assert np.all(x <= high)
        alone = solve(A, Y[:, p], low, high)
        assert batch.scale[p] == pytest.approx(alone.scale, rel=1e-12)
        apart = objective(A, x, Y[:, p]) - alone.objective
        assert apart <= batch.gap[p] + 1e-12 * alone.scale
        assert apart >= -alone.gap - 1e-12 * alone.scale
        if name in ("tall", "signed", "square") and kind == "nonnegative":
            assert np.array_equal(x > 0, alone.x > 0)
        proof = boxreg.verify(A, Y[:, p], x, batch.theta[:, p], low, high, gap=float(batch.gap[p]))
        assert proof, proof.remarks
    assert batch.verify()


@pytest.mark.parametrize("name", ["tall", "wide", "rank_deficient", "signed"])
def test_without_bounds_on_some(name: str) -> None:
    A, rng = designs()[name], generator(3)
    m, n = A.shape
    Y = rng.standard_normal((m, 6))
    lower = np.where(np.arange(n) < 2, -INF, 0.0)
    batch = solve_many(A, Y, lower, return_dual=True)
    assert batch.success
    for p in range(6):
        alone = solve(A, Y[:, p], lower)
        assert objective(A, batch.x[:, p], Y[:, p]) <= alone.objective + batch.gap[p] + 1e-12


def test_gaps_bound_the_exact_excess() -> None:
    rng = generator(4)
    for case in range(12):
        m, n = int(rng.integers(2, 6)), int(rng.integers(2, 6))
        A = np.abs(rng.integers(-3, 4, (m, n))).astype(float) + 0.125
        Y = rng.integers(-4, 9, (m, 5)).astype(float)
        upper = INF if case % 2 else 1.0
        batch = solve_many(A, Y, 0.0, upper, tol=1e-12)
        for p in range(5):
            problem = BoxProblem("small", A, Y[:, p], np.zeros(n), np.full(n, upper))
            best = exact_solution(*problem.data).objective
            excess = exact_objective(problem, batch.x[:, p]) - best
            assert 0 <= excess <= Fraction(float(batch.gap[p]))


@pytest.mark.parametrize("background", [0.0, 0.7])
@pytest.mark.parametrize("upper", [INF, 6.0])
def test_counts(background: float, upper: float) -> None:
    rng = generator(5)
    A = np.abs(rng.standard_normal((30, 12)))
    Y = rng.poisson(
        A @ (np.abs(rng.standard_normal((12, 40))) * (rng.random((12, 40)) < 0.4)) + 0.2
    )
    Y[:, 3] = 0
    loss = losses.KullbackLeibler(background)
    batch = solve_many(A, Y, 0.0, upper, loss=loss, return_dual=True)
    assert batch.success
    assert not batch.repaired.any()
    assert np.all(batch.relative_gap <= 1e-8)
    for p in range(0, 40, 3):
        y = Y[:, p].astype(float)
        alone = solve(A, y, 0.0, upper, loss=loss)
        assert batch.scale[p] == pytest.approx(alone.scale, rel=1e-12)
        q = A @ batch.x[:, p] + background
        value = float(np.sum(loss.values(q - background, y)))
        assert abs(value - alone.objective) <= alone.gap + batch.gap[p] + 1e-12 * alone.scale
        claim = float(batch.gap[p])
        assert boxreg.verify(
            A, y, batch.x[:, p], batch.theta[:, p], 0.0, upper, loss=loss, gap=claim
        )
    assert batch.verify()


def test_other_losses_and_terms() -> None:
    rng = generator(6)
    A, Y = rng.standard_normal((25, 8)), rng.standard_normal((25, 5))
    for options in (
        {"loss": "huber"},
        {"ridge": 0.3},
        {"linear": np.ones(8)},
        {"loss": "log_cosh"},
    ):
        batch = solve_many(A, Y, 0.0, 2.0, **options)
        assert batch.success
        for p in range(5):
            alone = solve(A, Y[:, p], 0.0, 2.0, **options)
            assert np.array_equal(batch.x[:, p], alone.x)
        assert batch.verify()


def test_other_losses_in_processes() -> None:
    rng = generator(7)
    A, Y = rng.standard_normal((20, 6)), rng.standard_normal((20, 4))
    one, two = (solve_many(A, Y, 0.0, 1.0, loss="huber", n_jobs=k) for k in (1, 2))
    assert np.array_equal(one.x, two.x)
    assert np.array_equal(one.gap, two.gap)


def test_dense_sparse_and_single_precision() -> None:
    rng = generator(8)
    A = np.abs(rng.standard_normal((30, 10))) * (rng.random((30, 10)) < 0.5)
    A = A.astype(np.float32).astype(float)
    Y = np.abs(rng.standard_normal((30, 20)))
    plain = solve_many(A, Y)
    for other in (sparse.csr_matrix(A), A.astype(np.float32), np.asfortranarray(A)):
        assert np.array_equal(solve_many(other, Y).x, plain.x)
    assert np.array_equal(solve_many(A, Y.astype(np.float32)).x.shape, plain.x.shape)
    compact = solve_many(A, Y, sparse=True)
    assert sparse.issparse(compact.x)
    assert np.array_equal(compact.x.toarray(), plain.x)
    assert np.array_equal(solve_many(A, Y.T, axis=1, sparse=True).x.toarray(), plain.x.T)
    assert compact.verify()


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
    assert told["lines"] == (stop - 2) * BLOCK
    out = np.load(name, mmap_mode="r+")
    source = Sliceable(Y)
    batch = solve_many(A, source, out=out, chunk=3 * BLOCK)
    whole = solve_many(A, Y)
    assert np.array_equal(np.load(name), whole.x)
    for part in ("gap", "status", "support", "scale"):
        assert np.array_equal(getattr(batch, part), getattr(whole, part))
    assert source.reads < 2 + 5
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.npy"]


def test_a_journal_of_another_run_is_refused(tmp_path) -> None:
    rng = generator(14)
    A, Y = np.abs(rng.standard_normal((8, 5))), np.abs(rng.standard_normal((8, 4 * BLOCK)))
    out = np.zeros((5, 4 * BLOCK))
    journal = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        solve_many(A, Sliceable(Y, fail_after=4), out=out, journal=journal, chunk=BLOCK)
    with pytest.raises(ValueError, match=r"journal: .* belongs to another run"):
        solve_many(A + 1.0, Y, out=out, journal=journal)
    with pytest.raises(ValueError, match=r"journal: .* belongs to another run"):
        solve_many(A, Y, 0.0, 1.0, out=out, journal=journal)
    solve_many(A, Y, out=out, journal=journal)
    assert np.array_equal(out, solve_many(A, Y).x)


@pytest.mark.parametrize("bad", [np.nan, INF, -INF])
def test_what_is_not_finite(bad: float) -> None:
    rng = generator(15)
    A, Y = np.abs(rng.standard_normal((8, 5))), np.abs(rng.standard_normal((8, 300)))
    clean = solve_many(A, Y, warm_start=False)
    spoilt = Y.copy()
    spoilt[3, [0, 7, 130, 299]] = bad
    with pytest.raises(ValueError, match=r"Y: right-hand side 0 contains .* nan='skip'"):
        solve_many(A, spoilt)
    batch = solve_many(A, spoilt, nan="skip", warm_start=False, return_dual=True)
    hit = np.zeros(300, dtype=bool)
    hit[[0, 7, 130, 299]] = True
    assert np.array_equal(batch.status == RhsStatus.SKIPPED, hit)
    assert np.isnan(batch.x[:, hit]).all()
    assert np.isnan(batch.gap[hit]).all()
    assert np.array_equal(batch.x[:, ~hit], clean.x[:, ~hit])
    assert batch.success
    assert batch.verify()
    assert "4 × Not solved" in repr(batch)


def test_masked_right_hand_sides() -> None:
    rng = generator(16)
    A, Y = np.abs(rng.standard_normal((8, 5))), np.abs(rng.standard_normal((8, 20)))
    masked = np.ma.masked_array(Y, mask=np.zeros(Y.shape, dtype=bool))
    masked.mask[2, 4] = True
    with pytest.raises(ValueError, match="right-hand side 4 has masked entries"):
        solve_many(A, masked)
    batch = solve_many(A, masked, nan="skip")
    assert np.flatnonzero(batch.skipped).tolist() == [4]


def test_counts_that_cannot_be() -> None:
    A = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 0.5]])
    Y = np.array([[3.0, 1.0, -1.0], [0.0, 2.0, 0.0], [1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="right-hand side 1 has entries > 0 in rows"):
        solve_many(A, Y, loss="kullback_leibler")
    batch = solve_many(A, Y, loss="kullback_leibler", nan="skip")
    assert batch.skipped.tolist() == [False, True, True]
    assert batch.verify()


def test_verify_finds_what_was_changed() -> None:
    rng = generator(17)
    A, Y = np.abs(rng.standard_normal((12, 6))), np.abs(rng.standard_normal((12, 30)))
    batch = solve_many(A, Y)
    assert batch.verify()
    batch.x[:, 11] *= 1.01
    found = batch.verify()
    assert not found
    assert np.flatnonzero(~found.valid).tolist() == [11]
    assert "NOT valid for 1, the first at [11]" in str(found)
    batch.x[2, 11] = -1e-3
    assert np.isinf(batch.verify().gap[11])


def test_extreme_data() -> None:
    rng = generator(18)
    A = np.abs(rng.standard_normal((10, 6)))
    Y = np.abs(rng.standard_normal((10, 8)))
    Y[:, 1] = 0.0
    Y[:, 2] *= 1e100
    Y[:, 3] *= 1e-100
    Y[:, 4] *= -1.0
    Y[:, 5] = A[:, 2]
    batch = solve_many(A, Y)
    assert batch.success
    assert not batch.x[:, [1, 4]].any()
    assert batch.gap[1] == 0.0
    assert batch.verify()
    assert np.all(batch.relative_gap <= 1e-8)


def test_huge_entries_do_not_harm_their_neighbours() -> None:
    rng = generator(19)
    A, Y = np.abs(rng.standard_normal((10, 6))), np.abs(rng.standard_normal((10, 8)))
    clean = solve_many(A, Y, warm_start=False)
    Y[:, 3] *= 1e200
    batch = solve_many(A, Y, warm_start=False)
    others = np.arange(8) != 3
    assert np.array_equal(batch.x[:, others], clean.x[:, others])


def test_no_right_hand_side() -> None:
    batch = solve_many(np.ones((4, 2)), np.zeros((4, 0)))
    assert batch.x.shape == (2, 0)
    assert batch.success
    assert "0 of 0" in repr(batch)


def test_many_columns_without_a_gram_matrix() -> None:
    rng = generator(20)
    A = np.abs(rng.standard_normal((20, 400)))
    Y = np.abs(rng.standard_normal((20, 6)))
    batch = solve_many(A, Y)
    assert batch.settings["method"] == "active sets"
    assert batch.success
    for p in range(6):
        assert objective(A, batch.x[:, p], Y[:, p]) <= solve(A, Y[:, p]).objective + 1e-10


BAD = [
    ({"Y": np.ones(4)}, ValueError, "Y: expected at least 2 dimensions"),
    ({"Y": np.ones((5, 3))}, ValueError, r"Y: expected 4 entries \(rows of A\) along axis 0"),
    ({"Y": np.ones((4, 3), dtype=complex)}, TypeError, "Y: expected real numbers"),
    ({"axis": 2}, ValueError, "axis: expected a whole number that names an axis"),
    ({"axis": "0"}, ValueError, "axis: expected a whole number"),
    ({"lower": [0.0]}, ValueError, "lower: expected a number, a vector with 2 entries"),
    ({"upper": np.ones((3, 2))}, ValueError, r"upper: .* an array of shape \(2, 3\)"),
    ({"lower": 2.0, "upper": 1.0}, ValueError, "bounds: lower must not exceed upper"),
    (
        {"lower": np.full((2, 3), 2.0), "upper": 1.0},
        ValueError,
        "bounds: lower must not exceed upper",
    ),
    ({"nan": "ignore"}, ValueError, "nan: expected 'raise' or 'skip'"),
    ({"n_jobs": 0}, ValueError, "n_jobs: expected a whole number >= 1, or -1"),
    ({"chunk": 0}, ValueError, "chunk: expected a whole number >= 1"),
    ({"tol": -1.0}, ValueError, "tol: expected a finite number >= 0"),
    ({"loss": "squares"}, ValueError, "loss: unknown name 'squares'"),
    ({"out": np.zeros((2, 2))}, ValueError, r"out: expected an array of shape \(2, 3\)"),
    ({"out": np.zeros((2, 3), dtype=int)}, TypeError, "out: expected a floating-point array"),
    ({"out": np.zeros((2, 3)), "sparse": True}, ValueError, "out: cannot be combined with sparse"),
    ({"journal": "run"}, ValueError, "journal: belongs to a run to `out`"),
    ({"loss": "kullback_leibler", "lower": -1.0}, ValueError, "needs lower >= 0"),
    ({"A": -np.ones((4, 2)), "loss": "kullback_leibler"}, ValueError, "needs A >= 0"),
    ({"A": np.full((4, 2), np.nan)}, ValueError, "A: contains NaN"),
]


@pytest.mark.parametrize(("given", "error", "message"), BAD)
def test_bad_arguments(given: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        solve_many(**{"A": np.ones((4, 2)), "Y": np.ones((4, 3)), **given})


def test_a_bar_on_a_terminal_only(monkeypatch, capsys) -> None:
    A, Y = np.ones((3, 2)), np.ones((3, 400))
    solve_many(A, Y, progress=True, chunk=BLOCK)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("boxreg.batch.bar._PERIOD", 0.0)
    solve_many(A, Y, progress=True, chunk=BLOCK)
    assert "400/400" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "key", "images", "loss"),
    [
        ("cuprite_usgs", "A", "Y_int16", "least_squares"),
        ("mri_t2_decay", "A_exp", "Y", "least_squares"),
        ("mutational_signatures", "A_cosmic_v34", "Y_pcawg", "kullback_leibler"),
    ],
)
def test_real_data(name: str, key: str, images: str, loss: str) -> None:
    data = load(name)
    batch = solve_many(data[key], data[images][:, ::25], loss=loss)
    assert batch.success
    assert np.all(batch.relative_gap <= 1e-8)
    assert batch.verify()


def test_the_module_is_what_is_exported() -> None:
    assert boxreg.solve_many is many.solve_many
