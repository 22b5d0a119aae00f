"""Least squares with every kind of bound, on matrices of every shape and rank."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg.point import Point
from building import reduced
from judging import assert_confirmed

Array = np.ndarray[Any, np.dtype[Any]]
Rng = np.random.Generator
INF = np.inf


def _free(rng: Rng, n: int) -> tuple[Array, Array]:
    return np.full(n, -INF), np.full(n, INF)


def _upper_only(rng: Rng, n: int) -> tuple[Array, Array]:
    return np.full(n, -INF), 0.3 * rng.standard_normal(n)


def _box(rng: Rng, n: int) -> tuple[Array, Array]:
    lower = 0.5 * rng.standard_normal(n)
    return lower, lower + rng.uniform(0.05, 1.0, n)


def _intercept(rng: Rng, n: int) -> tuple[Array, Array]:
    return np.where(np.arange(n) == 0, -INF, 0.0), np.full(n, INF)


def _half_free(rng: Rng, n: int) -> tuple[Array, Array]:
    return np.where(rng.random(n) < 0.5, -INF, 0.1), np.full(n, INF)


def _free_and_boxed(rng: Rng, n: int) -> tuple[Array, Array]:
    free = rng.random(n) < 0.5
    return np.where(free, -INF, -0.2), np.where(free, INF, 0.2)


def _fixed(rng: Rng, n: int) -> tuple[Array, Array]:
    value = rng.standard_normal(n)
    return value, value.copy()


def _every_kind(rng: Rng, n: int) -> tuple[Array, Array]:
    """Free, one bound, two, and equal ones."""
    kind, centre = rng.integers(0, 5, n), 0.5 * rng.standard_normal(n)
    lower = np.where(np.isin(kind, (1, 3, 4)), centre, -INF)
    upper = np.where(np.isin(kind, (2, 4)), centre, np.where(kind == 3, centre + 0.5, INF))
    return lower, upper


BOUNDS: dict[str, Callable[[Rng, int], tuple[Array, Array]]] = {
    "free": _free,
    "non-negative": lambda rng, n: (np.zeros(n), np.full(n, INF)),
    "upper only": _upper_only,
    "box": _box,
    "intercept": _intercept,
    "half free": _half_free,
    "free and boxed": _free_and_boxed,
    "fixed": _fixed,
    "every kind": _every_kind,
}


def _repeated(rng: Rng) -> Array:
    half = rng.standard_normal((30, 6))
    return np.hstack([half, -half[:, :3], 2.0 * half[:, 3:]])


def _with_zeros(rng: Rng) -> Array:
    A = rng.standard_normal((20, 8))
    A[:, [1, 4]] = 0.0
    A[5:9] = 0.0
    return A


MATRICES: dict[str, Callable[[Rng], Array]] = {
    "tall": lambda rng: rng.standard_normal((30, 8)),
    "square": lambda rng: rng.standard_normal((12, 12)),
    "wide": lambda rng: rng.standard_normal((6, 15)),
    "very wide": lambda rng: rng.standard_normal((2, 20)),
    "repeated columns": _repeated,
    "low rank": lambda rng: rng.standard_normal((25, 3)) @ rng.standard_normal((3, 10)),
    "zero columns and rows": _with_zeros,
    "zero": lambda rng: np.zeros((5, 4)),
    "no rows": lambda rng: np.zeros((0, 4)),
    "no columns": lambda rng: np.zeros((5, 0)),
    "single entry": lambda rng: rng.standard_normal((1, 1)),
    "integers": lambda rng: rng.integers(-2, 3, (8, 8)),
    "single precision": lambda rng: rng.standard_normal((20, 8)).astype(np.float32),
    "middle": lambda rng: rng.standard_normal((200, 60)),
}

DEPENDENT = ("wide", "very wide", "repeated columns", "low rank", "integers")
"""Where free columns may depend on others, which leaves certificates to an assumption."""


def _case(bounds: str, matrix: str, seed: int) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng([seed, list(BOUNDS).index(bounds), list(MATRICES).index(matrix)])
    A = MATRICES[matrix](rng)
    m, n = A.shape
    lower, upper = BOUNDS[bounds](rng, n)
    y = rng.standard_normal(m)
    if seed % 2:
        y = 0.01 * y + A @ np.clip(rng.standard_normal(n), lower, upper)
    return A, y, lower, upper


def _reference(A: Array, y: Array, lower: Array, upper: Array) -> float:
    """The least objective that SciPy's two methods and NumPy find."""
    A = A.astype(np.float64)
    moving = lower < upper
    x = np.where(moving, 0.0, lower)
    rest, B = y - A @ x, A[:, moving]
    if not B.size:
        return 0.5 * float(rest @ rest)
    low, high = lower[moving], upper[moving]
    plain = np.linalg.lstsq(B, rest, rcond=None)[0]
    found = [plain] if np.all((plain >= low) & (plain <= high)) else []
    for method in ("bvls", "trf"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = optimize.lsq_linear(B, rest, (low, high), method, tol=1e-14, max_iter=1000)
        found.append(np.clip(fit.x, low, high))
    # In a singular problem 'trf' may wander to 1e14, where residuals are rounding errors.
    found = [z for z in found if np.all(np.abs(z) <= 1e6)]
    return min(0.5 * float(np.sum((B @ z - rest) ** 2)) for z in found)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("bounds", BOUNDS)
def test_least_squares_agrees_with_scipy_and_is_certified(
    bounds: str, matrix: str, seed: int
) -> None:
    """The objective to 1e-9, the gap asked for, and a certificate that stands on its own."""
    A, y, lower, upper = _case(bounds, matrix, seed)
    best = _reference(A, y, lower, upper)
    for form in (A, sparse.csr_array(A)):
        result = boxreg.solve(form, y, lower, upper)
        assert np.all((result.x >= lower) & (result.x <= upper))
        assert result.success
        objective = 0.5 * float(np.sum((A.astype(np.float64) @ result.x - y) ** 2))
        assert objective <= best * (1.0 + 1e-9) + 1e-12 * float(y @ y)
        assert best - objective >= -result.gap - 1e-12 * float(y @ y)
        again = boxreg.verify(form, y, result.x, result.theta, lower, upper, gap=result.gap)
        assert_confirmed(again, result)
        assert result.certificate.rigorous or matrix in DEPENDENT


@pytest.mark.filterwarnings("ignore::boxreg.PerformanceWarning")
@pytest.mark.parametrize("matrix", ["tall", "wide", "repeated columns", "zero columns and rows"])
@pytest.mark.parametrize("bounds", ["free", "intercept", "free and boxed"])
def test_operators_agree_with_matrices(bounds: str, matrix: str) -> None:
    """To the gap asked for."""
    A, y, lower, upper = _case(bounds, matrix, 0)
    result = boxreg.solve(aslinearoperator(A), y, lower, upper)
    exact = boxreg.solve(A, y, lower, upper)
    assert result.success
    assert result.objective <= exact.objective + result.gap + 1e-12
    pair = (result.x, result.theta)
    again = boxreg.verify(aslinearoperator(A), y, *pair, lower, upper, gap=result.gap)
    assert_confirmed(again, result)
    assert "operator" in again.reasons[-1]


@pytest.mark.parametrize("solver", ["working_set", "active_set", "coordinate_descent"])
def test_free_columns_of_any_scale(solver: str) -> None:
    """Column norms between 1e-8 and 1e8: the least-squares fit, with a proof."""
    rng = np.random.default_rng(5)
    scales = 10.0 ** rng.uniform(-8.0, 8.0, 8)
    A, y = rng.standard_normal((20, 8)) * scales, rng.standard_normal(20)
    result = boxreg.solve(A, y, -INF, INF, solver=solver)
    expected = np.linalg.lstsq(A / scales, y, rcond=None)[0]
    assert result.success
    assert result.certificate.rigorous
    np.testing.assert_allclose(result.x * scales, expected, rtol=1e-3)


@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-7])
def test_nearly_dependent_free_columns_are_proved_independent(spread: float) -> None:
    """Orthogonal factors tell what a Gram matrix cannot: condition numbers up to 1e7 and more."""
    rng = np.random.default_rng(6)
    A = rng.standard_normal((20, 1)) + spread * rng.standard_normal((20, 6))
    y = rng.standard_normal(20)
    result = boxreg.solve(A, y, -INF, INF)
    fit = np.linalg.lstsq(A, y, rcond=None)[0]
    assert result.success
    assert result.certificate.rigorous
    assert result.objective <= 0.5 * float(np.sum((A @ fit - y) ** 2)) * (1.0 + 1e-9)


@pytest.mark.parametrize("exactly", [True, False])
def test_dependent_free_columns_get_an_answer(exactly: bool) -> None:
    """Proved where they depend exactly; else what the gap rests on is said, and nothing is screened."""
    rng = np.random.default_rng(7)
    half = rng.standard_normal((40, 5))
    other = half if exactly else half @ rng.standard_normal((5, 5))
    A = np.hstack([other, half, np.abs(rng.standard_normal((40, 10)))])
    lower = np.where(np.arange(20) < 10, -INF, 0.0)
    y = -A[:, 12] + rng.standard_normal(40)
    result = boxreg.solve(A, y, lower, INF)
    assert result.success
    assert result.certificate.rigorous == exactly
    remark = "5 columns with a missing bound depend"
    assert any(remark in said for said in result.certificate.reasons) != exactly
    assert result.screened.any() == exactly
    once = boxreg.solve(A[:, 5:], y, lower[5:], INF)
    assert once.certificate.rigorous
    assert once.screened.any()
    assert result.objective == pytest.approx(once.objective, rel=1e-10)


@pytest.mark.parametrize("copies", [1, 2])
def test_a_claimed_gap_must_be_earned(copies: int) -> None:
    """A theta that is not orthogonal to the free columns proves less, and that is not rounding."""
    rng = np.random.default_rng(8)
    half = rng.standard_normal((12, 3))
    A, y = np.hstack([half] * copies), rng.standard_normal(12)
    result = boxreg.solve(A, y, -INF, INF)
    again = boxreg.verify(A, y, result.x, result.theta, -INF, INF, gap=result.gap)
    assert_confirmed(again, result)
    assert again  # that copies depend on each other is proved
    off = result.theta + 1e-3 * half[:, 0]
    assert not boxreg.verify(A, y, result.x, off, -INF, INF, gap=result.gap)
    assert boxreg.verify(A, y, result.x, off, -INF, INF, gap=result.gap).gap > result.gap


def test_a_free_zero_column_with_a_cost_has_no_minimum() -> None:
    """Along it the objective falls for ever."""
    A = np.array([[1.0, 0.0], [1.0, 0.0]])
    result = boxreg.solve(A, np.ones(2), -INF, INF, linear=[0.0, 1.0])
    assert not result.success
    assert np.isinf(result.gap)


@pytest.mark.parametrize("far", [1e3, 1e6, 2.0**40, 1e15, 1e300])
@pytest.mark.parametrize("loss", ["least_squares", "huber", "kullback_leibler", "logistic"])
def test_far_bounds_cost_no_precision(loss: str, far: float) -> None:
    """The distance to a bound that nobody meets is no reason to prove less."""
    rng = np.random.default_rng(5)
    A = np.abs(rng.standard_normal((40, 60)))
    if loss in ("least_squares", "huber"):
        A = rng.standard_normal((40, 60))
    y = {"kullback_leibler": rng.poisson(5.0, 40), "logistic": rng.choice([-1, 1], 40)}.get(
        loss, rng.standard_normal(40)
    )
    lower, upper = np.zeros(60), np.full(60, far)
    if loss != "kullback_leibler":
        lower[::7], upper[::7] = -far, 0.0
    posed: dict[str, Any] = {"loss": loss, "ridge": 1e-3 if loss == "logistic" else 0.0}
    result = boxreg.solve(A, y, lower, upper, **posed)
    endless = boxreg.solve(
        A, y, np.where(lower < 0.0, -INF, 0.0), np.where(upper > 0.0, INF, 0.0), **posed
    )
    assert result.success
    assert endless.success
    assert result.objective <= endless.objective + endless.gap
    assert_confirmed(
        boxreg.verify(A, y, result.x, result.theta, lower, upper, gap=result.gap, **posed), result
    )


def test_far_bounds_of_many() -> None:
    rng = np.random.default_rng(0)
    batch = boxreg.solve_many(
        rng.standard_normal((12, 8)), rng.standard_normal((12, 20)), 0.0, 2.0**40
    )
    assert np.all(batch.gap <= 1e-8 * batch.scale)
    assert batch.success


def test_no_farther_bounds() -> None:
    """Each coordinate keeps the bound that is nearer, and those with one bound keep theirs."""
    problem = reduced(
        np.eye(4), np.ones(4), [0.0, -9.0, -INF, 0.0], [9.0, 1.0, 1.0, 0.0], "least_squares"
    )
    point = Point(problem, np.array([1.0, 0.5, 0.0, 0.0])).without_farther_bounds()
    assert point.problem.lower.tolist() == [0.0, -INF, -INF, 0.0]
    assert point.problem.upper.tolist() == [INF, 1.0, 1.0, 0.0]
    assert point.problem.constrained.tolist() == [True, True, True, False]
