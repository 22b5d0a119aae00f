"""Conjugate gradients and L-BFGS-B as parts of Newton's method, and the dual point that it offers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import boxreg
from boxreg.dual_cone import excess_over_cone
from boxreg.point import Point
from boxreg.solvers import Newton, newton
from boxreg.solvers.inexact import inexact_minimum
from boxreg.solvers.quadratic_model import model_at
from building import reduced

RNG = np.random.default_rng(20)
A = RNG.standard_normal((60, 20))
LABELS = np.where(RNG.random(60) < 0.5, 1.0, -1.0)


def start(upper: float, order: str = "C") -> Point:
    problem = reduced(np.asarray(A, order=order), LABELS, 0.0, upper, "logistic")
    return Point(problem, np.full(20, 0.1))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("upper", [0.2, np.inf])
def test_the_minimum_of_the_model(upper: float, order: str) -> None:
    """Against SciPy on the least-squares problem that the model is; with sweeps in F order."""
    point = start(upper, order)
    found = inexact_minimum(point, point.curvature, np.arange(20), 1e-8, 500)
    assert found is not None
    model = model_at(point, point.curvature).problem
    root = np.sqrt(point.curvature)
    bounds = (model.lower, model.upper)
    exact = lsq_linear(root[:, None] * A, root * model.target, bounds, method="bvls", tol=1e-14)
    np.testing.assert_allclose(found.x, exact.x, atol=1e-6)
    assert np.all((found.x >= model.lower) & (found.x <= model.upper))


@pytest.mark.parametrize("order", ["C", "F"])
def test_too_few_products_are_no_answer(order: str) -> None:
    assert inexact_minimum(start(np.inf, order), np.ones(60), np.arange(20), 1e-12, 1) is None


def test_two_digits_are_an_answer() -> None:
    """If the products that were given lead no further."""
    point = start(np.inf)
    found = inexact_minimum(point, point.curvature, np.arange(20), 1e-12, 12)
    assert found is not None
    assert found.objective < point.objective


def test_slopes_below_their_noise_are_let_go() -> None:
    """However small a share is asked for."""
    point = start(np.inf)
    before = point.problem.work.total
    noise = np.full(20, 30.0)
    asked = (point, point.curvature, np.arange(20), 1e-14, 500)
    assert inexact_minimum(*asked, noise=noise) is not None
    little = point.problem.work.total - before
    assert inexact_minimum(*asked) is not None
    assert point.problem.work.total - before > 2.2 * little


@pytest.mark.parametrize("order", ["C", "F"])
def test_other_coordinates_stay(order: str) -> None:
    point = start(np.inf, order)
    found = inexact_minimum(point, point.curvature, np.arange(0, 20, 2), 1e-3, 500)
    assert found is not None
    np.testing.assert_array_equal(found.x[1::2], point.x[1::2])
    assert not np.array_equal(found.x[::2], point.x[::2])


@pytest.mark.parametrize("loss", ["logistic", "huber", "squared_hinge"])
def test_runs_agree_whether_l_bfgs_b_has_a_part_or_not(
    loss: str, change: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = boxreg.solve(A, LABELS, loss=loss, tol=1e-10)
    gains: list[float] = []
    real = newton.descended

    def descended(point: Point, gain: float, evaluations: int) -> Point:
        moved = real(point, gain, evaluations)
        gains.append(point.objective - moved.objective)
        return moved

    monkeypatch.setattr(newton, "descended", descended)
    change(quasi_newton_after=0.0, call_entries=0.0)
    result = boxreg.solve(A, LABELS, loss=loss, solver="newton", tol=1e-10)
    assert result.success
    assert result.objective == pytest.approx(expected.objective, rel=1e-9)
    assert gains
    assert gains[0] > 0.0
    assert min(gains) >= 0.0


@pytest.mark.parametrize("evaluations", [0, 1, 5])
def test_l_bfgs_b_keeps_to_its_evaluations(evaluations: int) -> None:
    """And to the box, with the best point it has seen."""
    point = start(0.2)
    asked: list[float] = []
    problem = point.problem
    before = problem.work.total
    moved = newton.descended(point, 0.0, evaluations)
    asked.append(problem.work.total - before)
    assert asked[0] <= 2.0 * evaluations + 2.0
    assert moved.objective <= point.objective
    assert np.all((moved.x >= 0.0) & (moved.x <= 0.2))


def test_the_dual_point_is_orthogonal_to_what_is_inside() -> None:
    """w_F = 0 but for what makes it feasible, by the factor of the working set."""
    solver, point = Newton(), start(np.inf)
    state = solver.step(solver.start(point), 3)
    offered = solver.dual_candidate(state)
    assert offered is not None
    inside = state.point.inside
    assert 0 < np.count_nonzero(inside) < 20
    noise = 100.0 * offered.uncertainty(state.point.problem)
    assert np.all(np.abs(offered.correlation[inside]) <= noise[inside])
    assert np.all(excess_over_cone(offered, state.point)[inside] <= 0.0)
    assert np.max(np.abs(state.point.correlation[inside])) > np.max(noise[inside])
    state.gained = 0.1  # a step as long as that is far from the solution
    assert solver.dual_candidate(state) is None


def test_conjugate_gradients_that_gain_no_digit_are_given_up() -> None:
    """Long before the products that they were given are spent."""
    spread = np.logspace(0, 7, 300)
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((300, 300)))[0]
    A = (rotation * spread) @ np.linalg.qr(np.random.default_rng(2).standard_normal((300, 300)))[0]
    problem = reduced(A, A @ np.ones(300), -np.inf, np.inf)
    point = Point(problem, np.zeros(300))
    before = problem.work.total
    assert inexact_minimum(point, np.ones(300), np.arange(300), 1e-9, 5000) is None
    assert problem.work.total - before <= 2 * 400
