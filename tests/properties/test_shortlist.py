"""Shortlists save products with A and change nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg.point import Point
from boxreg.settings import Settings
from boxreg.solvers import growing_set, working_set
from boxreg.solvers import shortlist as shortlists
from boxreg.workloads import bvls_table2, nnls_table1
from building import point, reduced
from judging import assert_certified
from references.problems import FAMILIES, generated


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long the shortlists were that have been made."""
    lengths: list[int] = []

    def counted(held: Point, working: np.ndarray) -> np.ndarray | None:
        found = shortlists.shortlist(held, working)
        if found is not None:
            lengths.append(len(found))
        return found

    monkeypatch.setattr(working_set, "shortlist", counted)
    return lengths


@pytest.fixture
def eager(change: Callable[..., object]) -> None:
    """Shortlists for small problems too."""
    change(shortlist_length=1.0, shortlist_per_working=2, shortlist_share=0.9, first_working_set=1)


def test_by_hand(change: Callable[..., object]) -> None:
    """Slopes over norms, towards the inside: what is inside or in the working set comes first."""
    change(shortlist_share=1.0, shortlist_length=5 / 3)
    A = np.asfortranarray(np.diag([1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]))
    y = np.array([3.0, 8.0, 0.5, -1.0, 9.0, -9.0, -2.0, -7.0, 5.0])
    x = np.array([0.0, 0.0, 0.2, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    held = point(A, y, x, 0.0, np.array([1.0] * 8 + [0.0]))
    # At 0: slopes 3, 8 (over a norm of 2 or 4), -1, -2, -7. At 1: y - 1 = 8, stays; -10, leaves.
    assert shortlists.shortlist(held, np.array([7])).tolist() == [0, 1, 2, 5, 7]
    assert shortlists.shortlist(held, np.array([], dtype=int)).tolist() == [0, 1, 2, 3, 5]


def test_none_where_it_does_not_pay() -> None:
    """Where A lies by rows, is small, or half of it would be listed."""
    rng = np.random.default_rng(4)
    A, y = np.abs(rng.standard_normal((30, 900))), np.abs(rng.standard_normal(30))
    none, many = np.array([], dtype=int), np.arange(60)
    for held, expected in ((np.asfortranarray(A), 180), (sparse.csc_array(A), 180), (A, None)):
        found = shortlists.shortlist(point(held, y, np.zeros(900)), none)
        assert (None if found is None else len(found)) == expected
    held = point(np.asfortranarray(A), y, np.zeros(900))
    assert shortlists.shortlist(held, many) is None
    small = point(np.asfortranarray(A[:, :500]), y, np.zeros(500))
    assert shortlists.shortlist(small, none) is None


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.usefixtures("eager")
def test_the_same_answers(family: str, made: list[int]) -> None:
    """Whatever the problem: certified, and no worse than without."""
    for seed in range(8):
        problem = generated(family, seed)
        A, y, lower, upper = problem.data
        A = np.asfortranarray(A.toarray() if sparse.issparse(A) else A)
        for held in (A, sparse.csc_array(A)):
            found = boxreg.solve(held, y, lower, upper, solver="working_set", tol=1e-9)
            by_rows = np.ascontiguousarray(A)
            plain = boxreg.solve(by_rows, y, lower, upper, solver="working_set", tol=1e-9)
            assert_certified(found)
            assert found.status == plain.status
            allowed = found.gap + plain.gap + 1e-13 * plain.scale
            assert abs(found.objective - plain.objective) <= allowed
    assert made or family == "single_column"


@pytest.mark.parametrize("extra", [{}, {"ridge": 0.1}, {"linear": np.full(3000, 0.01)}], ids=list)
def test_fewer_products(extra: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """One check instead of two, less work, the same solution."""
    workload = nnls_table1(3000, m=1000)
    data = (workload.A, workload.y, workload.lower, workload.upper)
    ours = boxreg.solve(*data, **extra)
    monkeypatch.setattr(working_set, "shortlist", lambda point, working: None)
    plain = boxreg.solve(*data, **extra)
    assert ours.n_iter < plain.n_iter
    assert ours.work < plain.work
    np.testing.assert_allclose(ours.x, plain.x, atol=1e-10)


def test_coordinates_at_their_upper_bound_may_come_back() -> None:
    """The first working sets of this problem end at 1, and many of them too early."""
    workload = bvls_table2(3000)
    ours = boxreg.solve(workload.A, workload.y, workload.lower, workload.upper)
    assert ours.n_iter <= 3


def test_no_more_lists_where_they_mislead(made: list[int]) -> None:
    """Where nearly all columns want to enter, the first gradients tell nothing of the last ones."""
    workload = nnls_table1(2000, variant="printed")
    result = boxreg.solve(workload.A, workload.y)
    assert result.success
    assert len(made) == Settings.shortlist_failures < result.n_iter


def test_a_list_that_leads_nowhere_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pivoting fails on it, the step is made as ever."""
    workload = nnls_table1(1000, m=400)
    plain = boxreg.solve(workload.A, workload.y)
    monkeypatch.setattr(growing_set, "block_pivoting", lambda *args: None)
    by_factors = boxreg.solve(workload.A, workload.y)
    assert by_factors.success
    np.testing.assert_allclose(by_factors.x, plain.x, atol=1e-9)


def test_part_of_a_problem() -> None:
    """All others held still: the same prediction and slopes, and back again."""
    rng = np.random.default_rng(9)
    A, y = np.asfortranarray(rng.standard_normal((12, 9))), rng.standard_normal(12)
    x = np.array([0.0, 1.0, 0.3, 0.0, 0.7, 1.0, 0.0, 0.2, 0.0])
    held, used = point(A, y, x, 0.0, 1.0), np.array([1, 2, 3, 8])
    for copy in (True, False):
        part = working_set.within(held, used, copy=copy)
        np.testing.assert_array_equal(part.x, x[used])
        np.testing.assert_allclose(part.prediction, A @ x, atol=1e-14)
        np.testing.assert_allclose(part.correlation, A[:, used].T @ (y - A @ x), atol=1e-13)
        moved = working_set.whole(held, used, type(part)(part.problem, np.full(4, 0.5)))
        expected = x.copy()
        expected[used] = 0.5
        np.testing.assert_array_equal(moved.x, expected)
        np.testing.assert_allclose(moved.prediction, A @ expected, atol=1e-14)
        assert moved.problem is held.problem
    assert reduced(A, y, 0.0, 1.0).design.columns_apart
