"""The active set with candidates from a shortlist between checks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg.solvers import ActiveSet, active_set
from boxreg.solvers import shortlist as shortlists
from boxreg.workloads import bvls_table2, nnls_table1
from judging import assert_certified
from references.problems import FAMILIES, generated


def solved(A: object, y: object, lower: object, upper: object, **options: object) -> boxreg.Result:
    return boxreg.solve(A, y, lower, upper, tol=1e-9, **options)


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_answers(
    family: str, change: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On every family, with lists for small problems too."""
    change(candidates_length=0.7, shortlist_share=0.9)
    used = []
    monkeypatch.setattr(
        active_set, "candidates", lambda *a: used.append(shortlists.candidates(*a)) or used[-1]
    )
    for seed in range(8):
        A, y, lower, upper = generated(family, seed).data
        A = np.asfortranarray(A.toarray() if sparse.issparse(A) else A)
        for held in (A, sparse.csc_array(A)):
            found = solved(held, y, lower, upper, solver="active_set")
            plain = solved(A, y, lower, upper, solver=ActiveSet.plain())
            assert_certified(found)
            allowed = found.gap + plain.gap + 1e-13 * plain.scale
            assert abs(found.objective - plain.objective) <= allowed
    assert any(listed is not None for listed in used) or family == "single_column"


@pytest.mark.parametrize("workload", [nnls_table1(1500, m=500), bvls_table2(1500, m=500)], ids=str)
def test_less_work(workload) -> None:  # type: ignore[no-untyped-def]
    """Far fewer products with all of A, for as many steps or a few more."""
    data = (workload.A, workload.y, workload.lower, workload.upper)
    ours, plain = solved(*data, solver="active_set"), solved(*data, solver=ActiveSet.plain())
    assert ours.work < 0.7 * plain.work
    assert ours.n_iter <= 1.3 * plain.n_iter
    np.testing.assert_allclose(ours.x, plain.x, atol=1e-9)


def test_candidates_leave_out_the_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is as long as ever, however many are free."""
    workload = nnls_table1(900, m=300)
    lists: list[tuple[np.ndarray, np.ndarray]] = []

    def kept(point, free):  # type: ignore[no-untyped-def]
        found = shortlists.candidates(point, free)
        lists.append((free, found))
        return found

    monkeypatch.setattr(active_set, "candidates", kept)
    assert solved(workload.A, workload.y, 0.0, np.inf, solver="active_set", screening=False).success
    assert max(len(free) for free, _ in lists) > 10
    for free, listed in lists:
        assert not np.intersect1d(free, listed).size
        assert 40 <= len(listed) <= 60


def test_checks_are_as_frequent_as_gradients_are_cheap() -> None:
    """Every four steps where every step computes them all: A by rows, few columns, or when told so."""
    workload = nnls_table1(900, m=100)
    rows = np.ascontiguousarray(workload.A)
    for A, solver, often in (
        (workload.A, ActiveSet(), False),
        (rows, ActiveSet(), True),
        (workload.A, ActiveSet.plain(), True),
        (workload.A[:, :50], ActiveSet(), True),
    ):
        result = solved(A, workload.y, 0.0, np.inf, solver=solver, screening=False)
        assert (result.history.iteration[1] == 4) == often
