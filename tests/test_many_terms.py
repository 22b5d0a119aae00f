"""Weights, costs and ridge terms of many right-hand sides, on the compiled path and off it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import solve, solve_many
from boxreg.batch import RhsStatus
from boxreg.settings import using
from many_problems import generator

INF = np.inf
COMPILED = ("active sets", "active sets on the Gram matrix")


def drawn(seed: int, m: int = 14, n: int = 9, count: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(77, seed)
    A = np.abs(rng.standard_normal((m, n)))
    X = rng.random((n, count)) * (rng.random((n, count)) < 0.4)
    return A, A @ X + 0.3 * rng.standard_normal((m, count))


def boxes(n: int) -> dict[str, tuple[Any, Any]]:
    mixed = np.zeros(n), np.full(n, INF)
    mixed[0][0], mixed[0][1], mixed[1][2] = -INF, -0.5, 0.4
    return {"nonnegative": (0.0, INF), "box": (-1.0, 0.3), "mixed": mixed, "free": (-INF, INF)}


def terms(kind: str, m: int, n: int) -> dict[str, Any]:
    rng = generator(78)
    weights = 10.0 ** rng.uniform(-2.0, 2.0, m)
    weights[2] = 0.0
    some = np.where(np.arange(n) % 3 == 0, 0.0, np.linspace(0.1, 2.0, n))
    second = np.diff(np.eye(n), 2, axis=0)
    return {
        "weights": {"sample_weight": weights},
        "costs": {"linear": np.linspace(0.01, 0.4, n)},
        "one cost": {"linear": 0.25},
        "ridge": {"ridge": 0.7},
        "faint ridge": {"ridge": 1e-15},
        "some ridge": {"ridge": some},
        "matrix": {"ridge": second},
        "sparse matrix": {"ridge": sparse.csr_array(second), "sample_weight": weights},
        "everything": {"sample_weight": weights, "linear": 0.1, "ridge": some + 0.1},
    }[kind]


KINDS = (
    "weights", "costs", "one cost", "ridge", "faint ridge", "some ridge", "matrix",
    "sparse matrix", "everything",
)  # fmt: skip


@pytest.mark.parametrize("gram", [True, False])
@pytest.mark.parametrize("box", ["nonnegative", "box", "mixed", "free"])
@pytest.mark.parametrize("kind", KINDS)
def test_against_single_solves(kind: str, box: str, gram: bool) -> None:
    A, Y = drawn(1)
    m, n = A.shape
    if box == "free" and "cost" in kind:
        A = A[:, :5]
        n = 5
    given, (low, high) = terms(kind, m, n), boxes(n)[box]
    with using(batch_gram_columns=5000 if gram else 0):
        many = solve_many(A, Y, low, high, return_dual=True, **given)
    assert many.settings["method"] in COMPILED
    assert many.success
    assert many.proved.all()
    assert not many.repaired.any()
    assert many.verify()
    for p in range(0, Y.shape[1], 5):
        alone = solve(A, Y[:, p], low, high, **given)
        size = 1e-9 * alone.scale
        assert many.objective[p] == pytest.approx(alone.objective, abs=size)
        assert many.scale[p] == pytest.approx(alone.scale, rel=1e-12)
        np.testing.assert_allclose(many.x[:, p], alone.x, atol=1e-6 * np.max(np.abs(alone.x)))
        np.testing.assert_allclose(
            many.theta[:, p], alone.theta[:m], atol=1e-6 * np.max(np.abs(alone.theta))
        )


def test_by_hand() -> None:
    """min ω/2 (2 - x)² + μ/2 x² + c x over x >= 0 has x = (2 ω - c)⁺ / (ω + μ)."""
    A, Y = np.ones((1, 1)), np.array([[2.0, 0.25]])
    found = solve_many(A, Y, sample_weight=[3.0], ridge=1.0, linear=2.0)
    np.testing.assert_allclose(found.x, [[1.0, 0.0]], rtol=1e-15)
    np.testing.assert_allclose(found.objective, [1.5 + 0.5 + 2.0, 1.5 * 0.0625], rtol=1e-15)
    np.testing.assert_allclose(found.scale, [6.0, 1.5 * 0.0625], rtol=1e-15)
    zero = solve_many(np.zeros((2, 2)), np.ones((2, 3)), ridge=2.0, linear=[-4.0, 1.0])
    np.testing.assert_allclose(zero.x[:, 0], [2.0, 0.0], rtol=1e-15)
    assert zero.success
    assert not zero.repaired.any()


@pytest.mark.parametrize("gram", [True, False])
@pytest.mark.parametrize("box", ["nonnegative", "mixed"])
def test_a_ridge_term_for_each(box: str, gram: bool) -> None:
    A, Y = drawn(2, 8, 12, 40)
    n, count = A.shape[1], Y.shape[1]
    scale = 10.0 ** generator(3).uniform(-3.0, 3.0, count)
    low, high = boxes(n)[box]
    for ridge, others in ((None, {}), (np.linspace(0.5, 1.0, n), {"linear": 0.1})):
        given = {**others, **({} if ridge is None else {"ridge": ridge})}
        with using(batch_gram_columns=5000 if gram else 0):
            many = solve_many(A, Y, low, high, ridge_scale=scale, **given)
            one = solve_many(A, Y, low, high, ridge_scale=scale, warm_start=False, **given)
        assert many.settings["method"] in COMPILED
        assert many.success
        assert not many.repaired.any()
        assert many.verify()
        np.testing.assert_allclose(one.x, many.x, atol=1e-9)
        for p in range(0, count, 3):
            mu = scale[p] * (1.0 if ridge is None else ridge)
            alone = solve(A, Y[:, p], low, high, ridge=mu, **others)
            np.testing.assert_allclose(many.x[:, p], alone.x, atol=1e-9)
            assert many.objective[p] == pytest.approx(alone.objective, rel=1e-12)
        with using(batch_entries=0.0):
            apart = solve_many(A, Y, low, high, ridge_scale=scale, **given)
        np.testing.assert_allclose(apart.x, many.x, atol=1e-9)


def test_some_right_hand_sides_without_a_ridge_term() -> None:
    """λ = 0 for some: signs of w_j are needed there, and a direction into the cone."""
    A, Y = drawn(4)
    scale = np.where(np.arange(Y.shape[1]) % 4 == 1, 0.0, 0.5)
    many = solve_many(A, Y, ridge_scale=scale)
    assert many.success
    assert many.proved.all()
    assert not many.repaired.any()
    for p in (1, 2, 5):
        alone = solve(A, Y[:, p], ridge=scale[p])
        excess = many.objective[p] - alone.objective
        assert excess <= many.gap[p] + 1e-13 * alone.scale
        np.testing.assert_allclose(many.x[:, p], alone.x, atol=1e-9)
        assert np.isfinite(many.gap[p])


def test_images_threads_and_a_number_for_each_pixel() -> None:
    A, Y = drawn(5, 10, 6, 300)
    image = Y.T.reshape(20, 15, 10)
    scale = generator(6).random((20, 15)) + 0.1
    given = {"axis": -1, "ridge_scale": scale, "sample_weight": np.arange(10.0)}
    found = solve_many(A, image, n_jobs=2, **given)
    assert np.array_equal(found.x, solve_many(A, image, **given).x)
    flat = solve_many(A, Y, ridge_scale=scale.ravel(), sample_weight=np.arange(10.0))
    np.testing.assert_allclose(found.x.reshape(300, 6).T, flat.x, atol=1e-12)
    assert found.gap.shape == (20, 15)


def test_signed_matrices_need_no_direction_with_a_ridge_term() -> None:
    """No direction leads into the cone of A, -A; every sign is feasible with μ > 0."""
    rng = generator(7)
    A = rng.standard_normal((6, 4))
    A, Y = np.hstack([A, -A]), rng.standard_normal((6, 20))
    for ridge in (1e-3, 1e-14):
        many = solve_many(A, Y, ridge=ridge)
        assert many.success
        assert many.verify()
    assert not solve_many(A, Y, ridge=1e-3).repaired.any()


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_scales(scale: float) -> None:
    """Units of A, weights, and columns that are far apart."""
    A, Y = drawn(8)
    plain = solve_many(A, Y, ridge=0.5, linear=0.1)
    weighed = solve_many(
        A, Y, ridge=0.5 * scale, linear=0.1 * scale, sample_weight=np.full(len(A), scale)
    )
    np.testing.assert_allclose(weighed.x, plain.x, atol=1e-12)
    assert weighed.success
    columns = solve_many(A * scale, Y, ridge=0.5 * scale**2, linear=0.1 * scale)
    np.testing.assert_allclose(columns.x * scale, plain.x, atol=1e-12)
    assert columns.success


def test_weights_that_leave_no_norms() -> None:
    """√ω ‖a_j‖ below 1e-140: left to the general solver."""
    A, Y = drawn(9, 6, 3, 2)
    found = solve_many(1e-5 * A, Y, sample_weight=np.full(6, 1e-279))
    assert found.settings["method"] not in COMPILED
    np.testing.assert_allclose(found.x, solve_many(1e-5 * A, Y).x, rtol=1e-9)


def test_costs_without_a_minimum() -> None:
    A, Y = drawn(10, 5, 4, 3)
    found = solve_many(np.hstack([A, -A]), Y, linear=-1.0)
    assert set(found.status.tolist()) == {int(RhsStatus.UNBOUNDED)}
    assert not found.success


def test_a_vector_and_a_number_for_solve() -> None:
    A, Y = drawn(11)
    y, n = Y[:, 0], A.shape[1]
    mu = np.linspace(0.0, 2.0, n)
    some = solve(A, y, ridge=mu)
    np.testing.assert_allclose(some.x, solve(A, y, ridge=np.diag(np.sqrt(mu))).x, atol=1e-10)
    assert some.certificate
    assert boxreg.verify(A, y, some.x, some.theta, ridge=mu, gap=some.gap)
    alike = solve(A, y, ridge=np.full(n, 0.3)).x, solve(A, y, ridge=0.3).x  # on different paths
    np.testing.assert_allclose(*alike, rtol=1e-12, atol=1e-14)
    assert np.array_equal(solve(A, y, linear=0.3).x, solve(A, y, linear=np.full(n, 0.3)).x)
    counts = solve(A, np.abs(y), loss="kullback_leibler", ridge=mu, linear=0.1)
    assert counts.certificate


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ridge_scale": np.ones(3)}, r"ridge_scale: expected one number for each .* \(30,\)"),
        ({"ridge_scale": -np.ones(30)}, "ridge_scale: expected 0 or numbers from"),
        ({"ridge_scale": np.full(30, np.nan)}, "ridge_scale"),
        ({"ridge_scale": np.ones(30), "ridge": np.eye(9)}, "ridge_scale: needs a ridge that is a"),
        ({"ridge": np.ones(4)}, r"ridge: expected a vector with 9 entries"),
        ({"ridge": -np.ones(9)}, "ridge"),
        ({"linear": np.ones(4)}, "linear: expected a vector with 9 entries"),
        ({"sample_weight": np.ones(4)}, "sample_weight: expected a vector with 14 entries"),
        ({"sample_weight": -np.ones(14)}, "sample_weight: expected numbers >= 0"),
    ],
)
def test_what_is_refused(given: dict[str, Any], message: str) -> None:
    A, Y = drawn(12)
    with pytest.raises(ValueError, match=message):
        solve_many(A, Y, **given)


@pytest.mark.parametrize("kind", ["weights", "everything"])
def test_any_kind_of_array(kind: str) -> None:
    """float32, integers, strides, other orders, read-only."""
    A, Y = drawn(13)
    A, Y = np.round(4.0 * A), np.round(8.0 * Y)
    given = terms(kind, *A.shape)
    wanted = solve_many(A, Y, **given)
    locked = np.array(Y)
    locked.flags.writeable = False
    for matrix, targets in (
        (A.astype(np.float32), Y.astype(np.float32)),
        (A.astype(np.int16), np.asfortranarray(Y.astype(np.int64))),
        (np.repeat(A, 2, axis=1)[:, ::2], np.repeat(Y, 2, axis=0)[::2]),
        (sparse.csr_array(A), locked),
    ):
        assert np.array_equal(solve_many(matrix, targets, **given).x, wanted.x)
