"""Coordinate descent for smooth losses: kernels with weights, costs and ridge rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import losses
from boxreg.designs.epochs import SmoothTerms
from boxreg.kernels import smooth_descent
from boxreg.point import Point
from boxreg.reduced import ReducedProblem
from boxreg.solvers import CoordinateDescent
from building import reduced

SMOOTH = ("least_squares", "huber", "logistic", "squared_hinge", "log_cosh")
TERMS = ("weights", "costs", "ridge", "matrix ridge", "everything")
HOLD = {"dense": np.asfortranarray, "sparse": sparse.csc_array}


def posed(loss: str, terms: str, storage: str = "dense") -> tuple[ReducedProblem, dict[str, Any]]:
    """A problem with bounds of every kind, and what was asked for."""
    rng = np.random.default_rng(12)
    A = np.where(rng.random((11, 6)) < 0.7, rng.standard_normal((11, 6)), 0.0)
    y = 2.0 * rng.standard_normal(11)
    asked: dict[str, Any] = {
        "y": np.sign(y) if loss in ("logistic", "squared_hinge") else y,
        "lower": np.array([0.0, -np.inf, -np.inf, -1.0, 0.0, -np.inf]),
        "upper": np.array([np.inf, 0.0, np.inf, 1.0, 0.0, np.inf]),
        "loss": loss,
    }
    if terms in ("weights", "everything"):
        asked["sample_weight"] = rng.uniform(0.2, 3.0, 11)
    if terms in ("costs", "everything"):
        asked["linear"] = 0.1 * rng.standard_normal(6)
    if terms in ("ridge", "everything"):
        asked["ridge"] = 0.4
    if terms == "matrix ridge":
        asked["ridge"] = rng.standard_normal((4, 6))
    problem = reduced(HOLD[storage](A), **asked)
    return replace(problem, design=problem.design.column_major()), {"A": A, **asked}


def plain_epochs(problem: ReducedProblem, x: np.ndarray, count: int) -> np.ndarray:
    """The same steps, one coordinate at a time, every slope computed from scratch."""
    x = x.copy()
    columns = problem.design.columns(np.arange(len(x)))
    rates = problem.reach**2
    for _ in range(count):
        for j in np.flatnonzero(problem.open):
            p = columns @ x
            pull = columns[:, j] @ problem.loss.residual(p, problem.target)
            pull -= 0.0 if problem.cost is None else problem.cost.c[j]
            x[j] = np.clip(x[j] + pull / rates[j], problem.lower[j], problem.upper[j])
    return x


@pytest.mark.parametrize("storage", HOLD)
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_epochs_agree_with_a_plain_loop(loss: str, terms: str, storage: str) -> None:
    """x, and the prediction and residual that are carried along."""
    problem, _ = posed(loss, terms, storage)
    derivative = problem.loss.scalar_derivative()
    assert derivative is not None
    x = np.clip(0.3, problem.lower, problem.upper) * np.ones(6)
    point = Point(problem, x.copy())
    prediction, residual = point.prediction.copy(), point.residual.copy()
    weights, split = problem.loss.row_weights(len(residual))
    costs = np.zeros(6) if problem.cost is None else problem.cost.c
    order = np.flatnonzero(problem.open)
    expected = plain_epochs(problem, x, 3)
    rows, box = (problem.target, weights, split), (problem.lower, problem.upper, costs)
    given = SmoothTerms(derivative, *rows, *box, problem.reach**2, order)
    updates = problem.design.smooth_epochs(given, x, prediction, residual, 3)
    assert 0 < updates <= 3 * len(order)
    np.testing.assert_allclose(x, expected, rtol=1e-10, atol=1e-12)
    there = Point(problem, x)
    np.testing.assert_allclose(prediction, there.prediction, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(residual, there.residual, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("loss", SMOOTH)
def test_every_epoch_lowers_the_objective(loss: str) -> None:
    """With everything at once, until nothing moves."""
    problem, _ = posed(loss, "everything")
    solver = CoordinateDescent.plain()
    state = solver.start(Point(problem, np.clip(1.0, problem.lower, problem.upper) * np.ones(6)))
    for _ in range(200):
        before = state.point.objective
        state = solver.step(state, 1)
        assert state.point.objective <= before + 1e-14 * abs(before)
        if state.finished:
            break
    assert np.max(state.point.inward) <= 1e-3


@pytest.mark.parametrize("storage", HOLD)
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_answer_is_that_of_the_default(loss: str, terms: str, storage: str) -> None:
    """Within what both certificates prove."""
    _, asked = posed(loss, terms, storage)
    A = HOLD[storage](asked.pop("A"))
    mine = boxreg.solve(A, **asked, solver="coordinate_descent", tol=1e-9)
    default = boxreg.solve(A, **asked, tol=1e-9)
    assert mine.success
    assert mine.certificate.rigorous
    allowance = mine.gap + default.gap + 1e-12 * abs(default.objective)
    assert abs(mine.objective - default.objective) <= allowance


def test_plain_least_squares_keep_their_own_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact steps on one array where there are no weights, costs or ridge."""
    calls = []
    kind = type(posed("least_squares", "costs")[0].design)
    for method in ("least_squares_epochs", "smooth_epochs"):
        original = getattr(kind, method)

        def noted(*arguments: Any, _name: str = method, _run: Any = original) -> int:
            calls.append(_name)
            return int(_run(*arguments))

        monkeypatch.setattr(kind, method, noted)
    rng = np.random.default_rng(0)
    A, y = np.asfortranarray(rng.standard_normal((8, 4))), rng.standard_normal(8)
    boxreg.solve(A, y, solver="coordinate_descent")
    assert set(calls) == {"least_squares_epochs"}
    calls.clear()
    boxreg.solve(A, y, solver="coordinate_descent", linear=np.full(4, 0.01))
    assert set(calls) == {"smooth_epochs"}


def _around(scale: float) -> Callable[[float, float], float]:
    return lambda p, y: scale * (p - y)


def _by_default(scale: float) -> Callable[[float, float], float]:
    return lambda p, y, k=scale: k * (p - y)


@pytest.mark.parametrize("epochs", [smooth_descent.dense_epochs, smooth_descent.csc_epochs])
def test_kernels_are_made_once(epochs: Callable[[Any], Any]) -> None:
    """For all parameters of a loss, and for all functions that are one and the same."""

    def made(derivative: Any) -> tuple[Any, float]:
        run = epochs(derivative)
        return run.func, run.args[0]

    for loss in (losses.Huber, losses.LogCosh):
        (first, one), (second, other) = (made(loss(k).scalar_derivative()) for k in (1.0, 2.5))
        assert first is second
        assert (one, other) == (1.0, 2.5)
    for maker in (_around, _by_default):
        assert made(maker(2.0)) == made(maker(2.0))
        assert made(maker(2.0))[0] is not made(maker(3.0))[0]
    assert made(losses.Logistic().scalar_derivative()) == made(
        losses.Logistic().scalar_derivative()
    )
