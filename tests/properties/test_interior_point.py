"""The interior-point method: alone, with screening, and as the successor of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg.designs.dense import DenseDesign
from boxreg.losses import LOSSES
from boxreg.point import Point
from boxreg.solvers import InteriorPoint
from boxreg.status import Status
from building import reduced

RNG = np.random.default_rng(31)
A = RNG.standard_normal((40, 15))
WIDE = RNG.standard_normal((12, 30))
POSITIVE = np.abs(A)
KNOWN = sorted(name for name, loss in LOSSES.items() if loss.inverts_derivative)


def target(loss: str, matrix: Any) -> Any:
    signal = matrix @ np.maximum(RNG.standard_normal(matrix.shape[1]), 0.0)
    signal = signal + RNG.standard_normal(len(signal))
    if loss in ("logistic", "squared_hinge"):
        return np.sign(signal)
    return RNG.poisson(np.abs(signal)) if loss == "kullback_leibler" else np.abs(signal) + 0.1


def test_every_loss_but_a_callers_own_has_an_inverse() -> None:
    assert set(KNOWN) == set(LOSSES)


@pytest.mark.parametrize("loss", KNOWN)
@pytest.mark.parametrize("storage", ["wide", "tall", "sparse"])
def test_agrees_with_the_default(loss: str, storage: str) -> None:
    matrix = np.abs(WIDE) if storage == "wide" else POSITIVE
    y = target(loss, matrix)
    held = sparse.csc_array(matrix) if storage == "sparse" else matrix
    for upper in (0.3, np.inf):
        if loss == "logistic" and upper == np.inf:
            continue  # separable: no minimum
        expected = boxreg.solve(matrix, y, 0.0, upper, loss=loss, tol=1e-9)
        found = boxreg.solve(held, y, 0.0, upper, loss=loss, solver="interior_point", tol=1e-9)
        assert found.success
        assert found.certificate.verdict.name == "PROVED"
        assert found.settings["solver"] == "interior_point"
        rounding = 1e-13 * expected.objective
        assert found.objective <= expected.objective + expected.gap + found.gap + rounding
        assert np.all((found.x >= 0.0) & (found.x <= upper))


@pytest.mark.parametrize("terms", [{"sample_weight": RNG.uniform(0.1, 2.0, 40)}, {"ridge": 0.3}])
@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-np.inf, 0.1), (-0.2, 0.4)])
def test_terms_and_bounds(terms: dict[str, Any], bounds: tuple[float, float]) -> None:
    y = target("huber", A)
    expected = boxreg.solve(A, y, *bounds, loss="huber", **terms)
    found = boxreg.solve(A, y, *bounds, loss="huber", solver="interior_point", **terms)
    assert found.success
    assert found.objective == pytest.approx(expected.objective, rel=1e-7)


@pytest.mark.parametrize("loss", KNOWN)
def test_derivatives_and_their_inverses(loss: str) -> None:
    f = LOSSES[loss]()
    labels = loss in ("logistic", "squared_hinge")
    y = f.accept(np.array([1.0, 0.0, 1.0, 0.0] if labels else [0.5, 2.0, 1.0, 3.0]))
    p = 0.8 * y + 0.1
    np.testing.assert_allclose(f.inverse_derivatives(f.derivatives(p, y), y), p, rtol=1e-12)


def test_columns_of_any_size() -> None:
    """The steps hardly depend on the units of the columns."""
    y = target("huber", A)
    plain = boxreg.solve(A, y, loss="huber", solver="interior_point")
    sizes = 2.0 ** RNG.integers(-25, 26, 15)
    scaled = boxreg.solve(A * sizes, y, loss="huber", solver="interior_point")
    assert scaled.success
    assert scaled.n_iter <= plain.n_iter + 6
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-7)


def test_predictions_far_from_the_data() -> None:
    """Where f'' vanishes at the start, by bounds far from the solution or by labels far off."""
    lower = np.full(15, 1e5)
    lower[:5] = -np.inf
    y = np.where(target("logistic", A) > 0.0, 1.0, -1.0)
    result = boxreg.solve(A, y, lower, loss="logistic", solver="interior_point", ridge=1e-6)
    assert result.success
    assert result.n_iter <= 60


def test_an_inner_point_is_inside() -> None:
    problem = reduced(A, target("huber", A), 0.0, np.inf, "huber")
    solver = InteriorPoint()
    state = solver.step(solver.start(Point(problem, np.zeros(15))), 5)
    assert np.all(state.point.x > 0.0)
    assert np.all(np.abs(state.v) < 1.0)
    dual = solver.dual_candidate(state)
    np.testing.assert_array_equal(dual.theta, -state.v)


def test_a_run_ends_where_nothing_is_gained_any_more() -> None:
    problem = reduced(A, target("huber", A), 0.0, np.inf, "huber")
    solver = InteriorPoint()
    state = solver.start(Point(problem, np.zeros(15)))
    for _ in range(60):
        state = solver.step(state, 5)
        if state.finished:
            break
    assert state.finished


def test_what_it_needs_is_said() -> None:
    own = boxreg.custom_loss(
        value=lambda p, y: 0.5 * (p - y) ** 2,
        derivative=lambda p, y: p - y,
        conjugate=lambda v, y: 0.5 * v * v + v * y,
        alpha=1.0,
    )
    with pytest.raises(ValueError, match="a loss with inverse_derivatives"):
        boxreg.solve(A, np.ones(40), loss=own, solver="interior_point")


@pytest.fixture
def hard() -> dict[str, Any]:
    """Integers with many dependent columns, with costs: Newton's method in x makes short steps."""
    from references.planted import LARGE, planted

    problem = planted("squared_hinge", "hostile", 30004, LARGE)
    assert problem.A.shape == (300, 600)
    return {
        "A": problem.A,
        "y": problem.y,
        "lower": problem.lower,
        "upper": problem.upper,
        "loss": "squared_hinge",
        "optimum": float(problem.optimum),
        **problem.terms,
    }


def test_it_goes_on_where_others_take_long(hard: dict[str, Any]) -> None:
    """And no other solver that is asked for by its name is replaced."""
    optimum = hard.pop("optimum")
    with pytest.warns(boxreg.ConvergenceWarning):
        result = boxreg.solve(**hard)
    assert result.settings["solver"].endswith("newton, interior_point")
    assert result.objective - optimum <= 1e-12 * abs(optimum)
    assert result.n_iter <= 100
    with pytest.warns(boxreg.ConvergenceWarning):
        named = boxreg.solve(**hard, solver="newton", max_iter=20)
    assert named.settings["solver"] == "newton"


def test_time_limits_hold(hard: dict[str, Any], change: Callable[..., object]) -> None:
    hard.pop("optimum")
    with pytest.warns(boxreg.ConvergenceWarning):
        result = boxreg.solve(**hard, solver="interior_point", time_limit=0.0)
    assert result.status is Status.TIME_LIMIT
    assert np.all((result.x >= hard["lower"]) & (result.x <= hard["upper"]))


@pytest.mark.parametrize("screening", [True, False])
def test_one_gram_matrix_serves_least_squares(
    monkeypatch: pytest.MonkeyPatch, screening: bool
) -> None:
    """However many steps there are, and whatever columns leave on the way."""
    y, made = target("least_squares", A), []
    usual = DenseDesign.gram
    monkeypatch.setattr(
        DenseDesign, "gram", lambda *given: made.append(len(given[1])) or usual(*given)
    )
    found = boxreg.solve(A, y, 0.0, 0.5, solver="interior_point", tol=1e-10, screening=screening)
    assert found.success
    assert found.n_iter > 3
    assert made == [15]
    weights = RNG.uniform(0.1, 2.0, 40)
    boxreg.solve(A, y, 0.0, 0.5, sample_weight=weights, solver="interior_point")
    assert len(made) == 2
