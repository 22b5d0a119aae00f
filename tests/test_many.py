"""Many right-hand sides: the same answers as one by one, proved, however they are stored."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg import losses, solve, solve_many
from boxreg.batch import many
from boxreg.batch.layout import BLOCK
from judging import exact_objective
from many_problems import generator, objective
from real_data import load
from references.box_problem import BoxProblem
from references.exact import exact_solution

INF = np.inf


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
        assert batch.objective[p] == pytest.approx(
            objective(A, x, Y[:, p]), abs=1e-12 * alone.scale
        )
        if name in ("tall", "signed", "square") and kind == "nonnegative":
            assert np.array_equal(x > 0, alone.x > 0)
        proof = boxreg.verify(A, Y[:, p], x, batch.theta[:, p], low, high, gap=float(batch.gap[p]))
        assert bool(proof) == batch.proved[p], proof.reasons
        assert proof or all("assumption" in reason for reason in proof.reasons)
    assert bool(batch.verify()) == bool(batch.proved.all())
    assert batch.proved.all() or (name, kind) == ("rank_deficient", "mixed")


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
    assert batch.proved.all()
    assert np.all(batch.relative_gap <= 1e-8)
    for p in range(0, 40, 3):
        y = Y[:, p].astype(float)
        alone = solve(A, y, 0.0, upper, loss=loss)
        assert batch.scale[p] == pytest.approx(alone.scale, rel=1e-12)
        q = A @ batch.x[:, p] + background
        value = float(np.sum(loss.values(q - background, y)))
        assert batch.objective[p] == pytest.approx(value, abs=1e-12 * alone.scale)
        assert abs(value - alone.objective) <= alone.gap + batch.gap[p] + 1e-12 * alone.scale
        claim = float(batch.gap[p])
        assert boxreg.verify(
            A, y, batch.x[:, p], batch.theta[:, p], 0.0, upper, loss=loss, gap=claim
        )
    assert batch.verify()


def test_other_losses_with_terms_and_without() -> None:
    rng = generator(6)
    A, Y = rng.standard_normal((25, 8)), rng.standard_normal((25, 5))
    for options in (
        {"loss": "huber"},
        {"loss": "huber", "ridge": 0.3},
        {"loss": "log_cosh", "linear": np.ones(8)},
        {"loss": "log_cosh"},
    ):
        batch = solve_many(A, Y, 0.0, 2.0, **options)
        assert batch.success
        for p in range(5):
            alone = solve(A, Y[:, p], 0.0, 2.0, **options)
            assert np.array_equal(batch.x[:, p], alone.x)
            assert batch.objective[p] == alone.objective
        assert batch.proved.all()
        assert batch.verify()


def test_gaps_that_rest_on_an_assumption_are_not_proved() -> None:
    """Free columns that depend on others up to rounding, and operators; nothing is said of what was
    skipped."""
    rng = generator(21)
    A = rng.standard_normal((12, 3)) @ rng.standard_normal((3, 6))
    Y = rng.standard_normal((12, 5))
    Y[0, 3] = np.nan
    batch = solve_many(A, Y, -INF, INF, nan="skip")
    assert batch.success
    assert not batch.proved.any()
    assert batch.verify().verdict is boxreg.Verdict.NOT_PROVED
    assert "0 of 4 gaps; the others rest on assumptions, or are infinite" in repr(batch)
    norms = np.linalg.norm(A, axis=0)
    operator = solve_many(boxreg.operator(aslinearoperator(A), norms), Y[:, :2], 0.0, 1.0)
    assert operator.success
    assert not operator.proved.any()
    assert operator.verify().verdict is boxreg.Verdict.NOT_PROVED
    box = solve_many(A, Y, 0.0, 1.0, nan="skip")
    assert box.proved.tolist() == [True, True, True, False, True]
    assert box.verify().checked.tolist() == box.proved.tolist()
    assert "every gap, rounding errors included" in repr(box)


def test_claims_below_what_is_proved_are_not_accepted() -> None:
    """With dual points the gaps themselves are judged, without them the gap asked for is enough."""
    rng = generator(22)
    A, Y = np.abs(rng.standard_normal((12, 6))), np.abs(rng.standard_normal((12, 4)))
    batch = solve_many(A, Y, 0.0, 1.0, return_dual=True)
    proof = batch.verify()
    assert proof
    np.testing.assert_array_equal(proof.claim, batch.gap)
    assert np.all(proof.gap <= batch.gap)
    low = replace(batch, gap=np.where(np.arange(4) == 2, 0.5 * proof.gap, batch.gap))
    judged = low.verify()
    assert judged.verdict is boxreg.Verdict.NOT_PROVED
    assert judged.proved.tolist() == [True, True, False, True]
    assert judged.reasons[0].startswith("right-hand side 2: the claimed gap ")
    without = replace(low, theta=None)
    assert without.verify()
    np.testing.assert_allclose(without.verify().claim, 1e-8 * batch.scale)


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
