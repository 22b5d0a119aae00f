"""Many right-hand sides, some of them not numbers, masked, extreme; arguments that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from boxreg import RhsStatus, solve, solve_many
from many_problems import generator, objective

INF = np.inf


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
    assert np.flatnonzero(found.checked & ~found.proved).tolist() == [11]
    assert str(found).startswith("REFUTED: 29 of 30 gaps proved, 1 refuted; largest gap ")
    assert found.reasons[0].startswith("right-hand side 11: the claimed gap ")
    batch.x[2, 11] = -1e-3
    found = batch.verify()
    assert np.isinf(found.gap[11])
    assert found.refuted[11]
    assert found.reasons[0].startswith("right-hand side 11: x is not feasible: x[2] = -0.001")


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
    with pytest.raises(
        ValueError, match=r"Y: right-hand side 3 has an entry above 1e\+140 in size"
    ):
        solve_many(A, Y)
    batch = solve_many(A, Y, warm_start=False, nan="skip")
    assert np.flatnonzero(batch.skipped).tolist() == [3]
    others = np.arange(8) != 3
    assert np.array_equal(batch.x[:, others], clean.x[:, others])


WIDE = {
    "least squares": {},
    "least squares, return_dual": {"return_dual": True},
    "least squares, sparse": {"sparse": True},
    "Kullback-Leibler": {"loss": "kullback_leibler"},
    "huber": {"loss": "huber"},
    "ridge": {"ridge": 0.1},
}


@pytest.mark.parametrize("case", WIDE)
def test_what_has_an_answer_is_not_called_skipped(case: str) -> None:
    """Bounds so wide that rounding hides the gap: x of a kernel may be the best there is."""
    options = WIDE[case]
    rng = np.random.default_rng(0)
    A, Y = rng.standard_normal((12, 8)), rng.standard_normal((12, 20))
    if options.get("loss") == "kullback_leibler":
        A, Y = np.abs(A), np.abs(Y)
    Y[3, 5] = np.nan
    batch = solve_many(A, Y, 0.0, 2.0**40, nan="skip", **options)
    assert np.flatnonzero(batch.skipped).tolist() == [5]
    x = batch.x.toarray() if options.get("sparse") else batch.x
    solved = np.arange(20) != 5
    assert np.array_equal(batch.support[solved], np.count_nonzero(x[:, solved], axis=0))
    assert np.isfinite(batch.gap[solved]).all()
    reached = batch.gap[solved] <= batch.target_gap[solved]
    assert np.array_equal(batch.status[solved] == RhsStatus.CONVERGED, reached)
    found = batch.verify()
    assert found
    assert np.array_equal(found.checked, solved)


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
    ({"nan": "ignore"}, ValueError, "nan: expected one of 'raise', 'skip'"),
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
