"""Sweeps for losses that are not quadratic: each on a model of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import Status
from boxreg.arrays import Array
from boxreg.dual_cone import excess_over_cone
from boxreg.duality import DualPoint, duality_gap
from boxreg.point import Point
from boxreg.solvers import newton, sweeps
from boxreg.solvers.sweeping import swept
from building import reduced

LOSSES = ["logistic", "squared_hinge", "huber", "log_cosh"]


def drawn(loss: str, m: int, n: int, seed: int = 1) -> tuple[Array, Array]:
    """Gaussian columns, and a signal of both signs."""
    rng = np.random.default_rng(seed)
    A = np.asfortranarray(rng.standard_normal((m, n)) / np.sqrt(m))
    y = A @ (2.0 * rng.standard_normal(n)) + rng.standard_normal(m)
    return A, np.sign(y) if loss in ("logistic", "squared_hinge") else y


@pytest.mark.parametrize("upper", [np.inf, 0.7])
@pytest.mark.parametrize("loss", LOSSES)
def test_to_the_precision_of_the_data(loss: str, upper: float) -> None:
    """On well-conditioned columns; a linear cost takes part, and the start is left as it was."""
    A, y = drawn(loss, 1500, 300)
    cost = 0.05 * np.random.default_rng(2).standard_normal(300)
    start = Point(reduced(A, y, 0.0, upper, loss=loss, linear=cost), np.zeros(300))
    found, finished = swept(start)
    assert finished
    assert np.all((found.x >= 0.0) & (found.x <= upper))
    assert np.max(found.inward / found.problem.norms) < 1e-11 * found.residual_norm
    assert not start.x.any()
    assert not start.prediction.any()


@pytest.mark.parametrize("signs", [1.0, -1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_they_end_with_a_feasible_dual_point(loss: str, signs: float) -> None:
    """Where a bound is missing slopes end beyond 0 by more than their rounding error: nothing is left to
    be pushed, and the gap is no larger than rounding makes it."""
    A, y = drawn(loss, 1500, 300)
    lower, upper = (0.0, np.inf) if signs > 0.0 else (-np.inf, 0.0)
    start = Point(reduced(A, y, lower, upper, loss=loss), np.zeros(300))
    found, finished = swept(start)
    rho = DualPoint.residual(found)
    assert finished
    assert np.any(found.inside)
    assert np.all(excess_over_cone(rho, found) <= 0.0)
    assert duality_gap(found, rho) < 1e-9 * start.objective


def test_a_sweep_that_leads_astray_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Second derivatives a hundred times too small: steps a hundred times too long."""
    A, y = drawn("logistic", 300, 50)
    start = Point(reduced(A, y, 0.0, np.inf, loss="logistic"), np.zeros(50))
    real = sweeps.metric
    monkeypatch.setattr(sweeps, "metric", lambda *given: 0.01 * real(*given))
    found, finished = swept(start)
    assert not finished
    np.testing.assert_array_equal(found.x, start.x)


def test_ill_conditioned_columns_are_left_to_others() -> None:
    """A few sweeps all the same: they tell which coordinates matter."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((900, 12)) @ rng.standard_normal((12, 300))
    A = np.asfortranarray((A + 0.1 * rng.standard_normal((900, 300))) / 30.0)
    y = np.sign(A @ rng.random(300) + rng.standard_normal(900))
    start = Point(reduced(A, y, 0.0, np.inf, loss="logistic"), np.zeros(300))
    found, finished = swept(start)
    assert not finished
    assert found.objective < start.objective


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Point]:
    """The points that sweeps are asked to start from."""
    points: list[Point] = []
    monkeypatch.setattr(newton, "swept", lambda point: (points.append(point), swept(point))[1])
    return points


def test_sweeps_that_lead_nowhere_leave_the_run_as_it_was(
    change: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is guessed where to begin, as if there had been none."""
    guessed = []
    change(gram_avoided_from=1e4)
    monkeypatch.setattr(newton, "swept", lambda point: (point, False))
    real = newton.first_guess
    monkeypatch.setattr(newton, "first_guess", lambda p, by: (guessed.append(p), real(p, by))[1])
    A, y = drawn("logistic", 300, 50)
    assert boxreg.solve(A, y, loss="logistic", solver="newton").status is Status.CONVERGED
    assert len(guessed) == 1


HOLDS: dict[str, Any] = {
    "F": np.asfortranarray,
    "C": np.ascontiguousarray,
    "sparse": sparse.csc_array,
}


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_answers_do_not_depend_on_them(
    loss: str, hold: str, asked: list[Point], change: Callable[..., object]
) -> None:
    """Runs that begin with sweeps, and runs that do not."""
    change(gram_avoided_from=1e5, descent_products=0.0)
    A, y = drawn(loss, 600, 150)
    result = boxreg.solve(HOLDS[hold](A), y, 0.0, 3.0, loss=loss, solver="newton", tol=1e-10)
    assert result.status is Status.CONVERGED
    assert len(asked) == 1
    proof = (result.x, result.theta, 0.0, 3.0)
    assert boxreg.verify(HOLDS[hold](A), y, *proof, loss=loss, gap=result.gap)
    change(gram_avoided_from=np.inf)
    other = boxreg.solve(A, y, 0.0, 3.0, loss=loss, tol=1e-11)
    np.testing.assert_allclose(result.x, other.x, atol=1e-4)
    assert result.objective == pytest.approx(other.objective, rel=1e-9)


@pytest.mark.parametrize("spared", [True, False])
def test_a_small_matrix_by_rows_is_copied_by_columns_for_them(
    spared: bool, asked: list[Point], change: Callable[..., object]
) -> None:
    """A large one is not: conjugate gradients read it as it lies."""
    change(gram_avoided_from=1e5)
    change(large_bytes=600 * 150 * 8 if spared else 600 * 150 * 8 - 1)
    A, y = drawn("logistic", 600, 150)
    rows = np.ascontiguousarray(A)
    result = boxreg.solve(rows, y, loss="logistic", solver="newton", tol=1e-9)
    assert result.status is Status.CONVERGED
    assert [point.problem.design.has_sweeps for point in asked] == [True] * spared
    assert boxreg.verify(rows, y, result.x, result.theta, loss="logistic", gap=result.gap)


@pytest.mark.parametrize("hold", HOLDS)
def test_rows_of_a_ridge_term_are_not_copied(hold: str, change: Callable[..., object]) -> None:
    """Nor A with them: in one piece with A they would be n² numbers, however small A is."""
    change(gram_avoided_from=1e5)
    A, y = drawn("logistic", 600, 150)
    stacked = reduced(HOLDS[hold](A), y, 0.0, np.inf, loss="logistic", ridge=0.1)
    plain = reduced(HOLDS[hold](A), y, 0.0, np.inf, loss="logistic")
    assert not newton.Newton().wants_column_major(stacked)
    assert newton.Newton().wants_column_major(plain) == (hold == "C")


@pytest.mark.parametrize(("density", "begins"), [(1.0, False), (0.5, False), (0.02, True)])
def test_columns_of_one_sign_are_swept_over_where_they_share_few_rows(
    density: float, begins: bool, asked: list[Point], change: Callable[..., object]
) -> None:
    change(gram_avoided_from=1e4, descent_products=0.0)
    rng = np.random.default_rng(6)
    A = rng.random((600, 200)) * (rng.random((600, 200)) < density)
    y = np.where(rng.random(600) < 0.7, 1.0, -1.0)
    held = np.asfortranarray(A) if density == 1.0 else sparse.csc_array(A)
    result = boxreg.solve(held, y, 0.0, 1.0, loss="logistic", solver="newton", tol=1e-9)
    assert result.status is Status.CONVERGED
    assert bool(asked) == begins
