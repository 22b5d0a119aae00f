"""The compiled path for small problems: right where it answers, silent where it is not sure."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.optimize

import boxreg
from boxreg import small
from boxreg.kernels import small_nnls as by_batches
from boxreg.kernels import tiny_nnls as by_steps
from boxreg.settings import using
from boxreg.small import GAVE_UP, SOLVED, small_nnls
from references.families import FAMILIES, generated


def value(A: np.ndarray, b: np.ndarray, x: np.ndarray) -> float:
    """||b - A x||² with long accumulation."""
    wide = np.longdouble
    rest = b.astype(wide) - A.astype(wide) @ x.astype(wide)
    return float(rest @ rest)


def general(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The answer of the general solver."""
    with using(small_entries=0):
        return boxreg.nnls(A, b)[0]


Called = tuple[np.ndarray, float, int]


def called(A: np.ndarray, b: np.ndarray, rounds: int) -> Called:
    """The compiled function that takes batches; all its memory is not a number."""
    k = min(A.shape)
    tables = tuple(np.full((k, size), np.nan) for size in (len(A), k, k))
    return by_batches.solve(np.ascontiguousarray(A.T), b, 0.0, rounds, tables)[:3]


def stepped(A: np.ndarray, b: np.ndarray, rounds: int) -> Called:
    """The compiled function that takes single steps."""
    return by_steps.solve(A.ravel("K"), not A.flags.c_contiguous, A.shape[1], b, 0.0, rounds)[:3]


BOTH = pytest.mark.parametrize("call", [called, stepped])


def only(change: Callable[..., object], way: str) -> None:
    """Whatever its size, a problem is solved in batches, or by single steps as long as these answer."""
    largest = 0 if way == "batches" else 10**9
    change(tiny_entries=largest, tiny_wide_entries=largest)


WAYS = pytest.mark.parametrize("way", ["batches", "steps"])


@WAYS
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("family", FAMILIES)
def test_agrees_with_the_general_solver(
    family: str, order: str, way: str, change: Callable[..., object]
) -> None:
    """On every family of generated problems, taken with x >= 0."""
    only(change, way)
    answered = 0
    for seed in range(25):
        problem = generated(family, seed)
        A, b = np.array(problem.A, dtype=float, order=order), np.array(problem.y, dtype=float)
        if not A.size:
            continue
        held_A, held_b = A.copy(), b.copy()
        short = small_nnls(A, b, 0.0, None)
        np.testing.assert_array_equal(A, held_A)
        np.testing.assert_array_equal(b, held_b)
        if short is None:
            continue
        answered += 1
        x, rnorm = short
        assert np.all(x >= 0.0)
        floor = 1e-14 * float(b @ b) + 1e-300
        assert value(A, b, x) <= value(A, b, general(A, b)) + floor
        size = np.linalg.norm(b) + np.linalg.norm(A, axis=0) @ x
        assert rnorm == pytest.approx(np.linalg.norm(b - A @ x), rel=1e-12, abs=1e-13 * size)
    assert answered >= 5


@BOTH
@pytest.mark.parametrize("rows", [40, 300])
def test_columns_that_turn_negative_leave_and_a_failed_batch_is_taken_back(
    rows: int, call: Callable[..., Called]
) -> None:
    """Smooth, nearly dependent columns, on which batches fail: single steps take over, or come first
    where products with A are cheap."""
    t = np.linspace(0.0, 1.0, rows)
    A = np.exp(-np.outer(t, np.geomspace(0.5, 40.0, 60)))
    rng = np.random.default_rng(0)
    for _ in range(20):
        b = A[:, [10, 40]] @ rng.random(2) + 1e-3 * rng.standard_normal(rows)
        x, _, status = call(A, b, 1000)
        assert status == SOLVED
        w = A.T @ (b - A @ x)
        assert w.max() <= 1e-12
        assert np.abs(w[x > 0]).max() <= 1e-12


@WAYS
def test_single_steps_from_the_start_are_fewer_on_decays(
    way: str, change: Callable[..., object]
) -> None:
    """Twenty rounds do, where batches that are taken back need 24 to 48."""
    only(change, way)
    decays = np.exp(-np.linspace(10.0, 560.0, 56)[:, None] / np.geomspace(10.0, 2000.0, 100))
    A = np.asfortranarray(decays)
    for seed in (2, 4, 5, 6, 10, 11):
        rng = np.random.default_rng(seed)
        b = A[:, [20, 60, 85]] @ rng.uniform(0.5, 2.0, 3) + 0.01 * rng.standard_normal(56)
        assert small_nnls(A, b, 0.0, 20) is not None


@WAYS
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("off", "answered"), [(0.0, True), (1e-4, True), (1e-12, False)])
def test_a_gradient_lost_in_rounding_matters_where_columns_are_nearly_the_same(
    off: float, answered: bool, order: str, way: str, change: Callable[..., object]
) -> None:
    """A copy of a free column can gain nothing; one that is off by 1e-12 may, and nobody can see it."""
    only(change, way)
    rng = np.random.default_rng(8)
    for _ in range(20):
        A = rng.random((30, 6))
        A[:, 5] = A[:, 0] + off * rng.standard_normal(30)
        b = A[:, 0] + 1e-5 * rng.random(30)
        assert (small_nnls(np.array(A, order=order), b, 0.0, None) is not None) == answered


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200, 1e-200])
def test_declines_what_it_cannot_judge(bad: float, call: Callable[..., Called]) -> None:
    """NaN, inf, and norms whose squares leave the range of float64."""
    A = np.random.default_rng(1).random((6, 4))
    A[:, 2] = bad
    assert call(A, np.ones(6), 100)[2] == GAVE_UP


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_declines_such_right_hand_sides(bad: float, call: Callable[..., Called]) -> None:
    """Where ||b||² is not a finite number."""
    b = np.ones(6)
    b[1] = bad
    assert call(np.ones((6, 2)), b, 100)[2] == GAVE_UP


def test_steps_follow_gradients_that_single_precision_hardly_sees() -> None:
    """A gradient of 1e-7 times the residual, of either sign; a tenth of it could not be followed."""
    rng = np.random.default_rng(4)
    for slope in (1e-6, -1e-6) * 20:
        Q = np.linalg.qr(rng.standard_normal((40, 3)))[0]
        A, b = Q[:, :2].copy(), Q @ [1.0, slope, 10.0]
        x, norm, status = stepped(A, b, 100)
        assert status == SOLVED
        np.testing.assert_allclose(x, [1.0, max(slope, 0.0)], rtol=1e-7, atol=0)
        assert norm == pytest.approx(10.0, rel=1e-13)


@pytest.mark.parametrize("scale", [1e-29, 1e29])
def test_steps_take_norms_to_the_edge_of_single_precision(scale: float) -> None:
    """Norms from 1e-30 to 1e30, and b of any size; beyond, batches answer."""
    rng = np.random.default_rng(5)
    A, b = rng.random((12, 6)), rng.random(12)
    expected = stepped(A, b, 100)[0]
    for size in (1e-100, 1e100):
        x, _, status = stepped(scale * A, size * b, 100)
        assert status == SOLVED
        np.testing.assert_allclose(x * (scale / size), expected, rtol=1e-12)
    assert stepped(1e-32 * A, b, 100)[2] == GAVE_UP
    assert small_nnls(1e-32 * A, b, 0.0, None) is not None


def test_steps_bar_a_column_that_depends_on_the_free_ones() -> None:
    """Steeper than what is to come, a sum of free columns up to 1e-8 is passed over, not given up on."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        A = rng.random((12, 5))
        b = A @ np.array([1.0, 2.0, 0.5, 0.0, 0.1])
        A[:, 3] = A[:, 0] + A[:, 1] + 1e-8 * rng.standard_normal(12)
        _, norm, status = stepped(A, b, 100)
        assert status == SOLVED
        assert norm**2 <= 1e-15 * (b @ b)


def test_as_many_columns_as_rows_and_no_more() -> None:
    """With m independent columns nothing is left to fit; one more would not fit into their tables."""
    rng = np.random.default_rng(7)
    for m, n in ((3, 40), (8, 200), (1, 5)):
        for draw in (rng.random, rng.standard_normal):
            A, b = draw((m, n)), draw(m)
            x, norm, status = stepped(A, b, 1000)
            if status == SOLVED:
                assert np.count_nonzero(x) <= m
                assert norm == pytest.approx(float(scipy.optimize.nnls(A, b)[1]), abs=1e-12)


def test_batches_answer_where_single_steps_decline() -> None:
    """Here because of norms beyond single precision."""
    rng = np.random.default_rng(9)
    A, b = 1e35 * rng.random((30, 10)), rng.random(30)
    assert stepped(A, b, 100)[2] == GAVE_UP
    expected = called(A, b, 100)
    assert expected[2] == SOLVED
    for order in "CF":
        x, norm = boxreg.nnls(np.array(A, order=order), b)
        np.testing.assert_allclose(x, expected[0], rtol=1e-12)
        assert norm == pytest.approx(expected[1], rel=1e-13)


@pytest.mark.parametrize("shape", [(30, 60), (20, 100), (56, 100)])
def test_of_many_solutions_the_one_that_scipy_finds(shape: tuple[int, int]) -> None:
    """A wide and signed: both by the largest gradient."""
    rng = np.random.default_rng(10)
    for _ in range(10):
        A, b = rng.standard_normal(shape), rng.standard_normal(shape[0])
        x, _, status = stepped(A, b, 1000)
        assert status == SOLVED
        np.testing.assert_allclose(x, scipy.optimize.nnls(A, b)[0], rtol=1e-7, atol=1e-9)


def test_too_few_rounds_are_declined_and_then_reported() -> None:
    """A tall problem that needs several rounds."""
    rng = np.random.default_rng(2)
    A, b = rng.random((80, 60)), rng.random(80)
    assert small_nnls(A, b, 0.0, 1) is None
    with pytest.warns(boxreg.ConvergenceWarning, match="maxiter: 1 steps"):
        boxreg.nnls(A, b, maxiter=1)
    assert small_nnls(A, b, 0.0, None) is not None


@pytest.mark.parametrize(
    ("A", "b"),
    [
        ([[1.0]], [1.0]),
        (np.ones((3, 2), dtype=np.float32), np.ones(3)),
        (np.ones((3, 2)), np.ones((3, 1))),
        (np.ones((3, 2)), np.ones(4)),
        (np.ones((6, 4))[::2, ::2], np.ones(3)),
        (np.ones((0, 2)), np.ones(0)),
        (np.ones((3, 2), dtype=int), np.ones(3)),
        (np.ma.masked_array(np.ones((3, 2))), np.ones(3)),
    ],
)
def test_everything_unusual_goes_the_general_way(A: object, b: object) -> None:
    """Only plain contiguous float64 arrays of matching shapes are for this path."""
    assert small_nnls(A, b, 0.0, None) is None


def test_read_only_and_strided_right_hand_sides() -> None:
    """b may be any column of a matrix."""
    rng = np.random.default_rng(3)
    A, B = rng.random((30, 8)), rng.random((30, 3))
    B.flags.writeable = False
    for k in range(3):
        np.testing.assert_allclose(
            boxreg.nnls(A, B[:, k])[0], boxreg.nnls(A, B[:, k].copy())[0], rtol=0, atol=0
        )


def test_the_threshold_keeps_columns_out() -> None:
    """A gradient below atol does not free its column."""
    A, b = np.eye(3), np.array([1.0, 0.1, -1.0])
    np.testing.assert_array_equal(boxreg.nnls(A, b, atol=0.5)[0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(boxreg.nnls(A, b)[0], [1.0, 0.1, 0.0])


def test_solve_starts_from_the_short_answer() -> None:
    """The first check of a small problem proves it; a limit on steps is a limit on everything."""
    rng = np.random.default_rng(4)
    for A in (rng.random((40, 20)), rng.standard_normal((40, 20))):
        result = boxreg.solve(A, rng.random(40), tol=1e-10)
        assert result.success
        assert 0 < result.n_iter <= 3 * 20 + 30
        assert result.settings["solver"] == "compiled_active_set"
        assert result.certificate.rigorous
        assert np.count_nonzero(result.screened) > 0
    with pytest.warns(boxreg.ConvergenceWarning):
        assert not boxreg.solve(A, np.ones(40), max_iter=0).success


def test_memory_is_reused_in_a_thread_and_not_shared_between_threads() -> None:
    """Calls that overlap in time do not write to the same memory; the answers are each call's own."""
    rng = np.random.default_rng(8)
    problems = [(rng.random((100, k)), rng.random(100)) for k in (90, 45, 90, 60)]
    alone = [small_nnls(A, b, 0.0, None) for A, b in problems]
    here = small._room(1)
    assert all(np.shares_memory(table, here) for table in small._tables(100, 60))
    assert small._tables(100, 60) is small._tables(100, 60)
    with ThreadPoolExecutor(4) as pool:
        rooms = list(pool.map(lambda _: (time.sleep(0.02), small._room(1))[1], range(4)))
        again = list(pool.map(lambda p: small_nnls(*p, 0.0, None), problems * 50))
    assert len({id(room) for room in [here, *rooms]}) > 1
    assert all(room is not here for room in rooms)
    for index, found in enumerate(again):
        expected = alone[index % 4]
        assert found is not None
        assert expected is not None
        np.testing.assert_array_equal(found[0], expected[0])
