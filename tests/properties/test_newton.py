"""Newton's method on working sets: where it starts, what it keeps, and what it falls back on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg.free_system import FreeSystem
from boxreg.losses import LOSSES
from boxreg.point import Point
from boxreg.reduced import ReducedProblem
from boxreg.settings import using
from boxreg.solvers import growing_set, newton
from boxreg.solvers.metric import tamed
from boxreg.solvers.newton import Newton
from boxreg.solvers.quadratic_model import first_guess, model_at
from building import reduced
from judge import make
from loss_judging import arguments
from references.loss_families import CELLS, loss_problem

GENERAL = sorted(set(LOSSES) - {"least_squares"})


def posed(loss: str, seed: int = 0, shape: tuple[int, int] = (30, 12)) -> tuple[Any, ...]:
    """A >= 0, targets that fit the loss, and a box or half-lines."""
    rng = np.random.default_rng([seed, 21])
    A = rng.uniform(0.0, 1.0, shape)
    y = A @ np.where(rng.random(shape[1]) < 0.5, rng.uniform(0.0, 2.0, shape[1]), 0.0)
    y = rng.poisson(3.0 * y + 0.1) + (loss == "beta_divergence") * 0.5
    if loss in ("logistic", "squared_hinge"):
        y = np.where(rng.random(shape[0]) < 0.5, 1.0, -1.0)
    return A, y.astype(float)


def held(loss: str, seed: int = 0, **terms: Any) -> ReducedProblem:
    return reduced(*posed(loss, seed), 0.0, np.where(np.arange(12) % 2, 5.0, np.inf), loss, **terms)


def begun(problem: ReducedProblem, x: Any) -> Any:
    """The state of a run that works with Gram matrices, at its first guess."""
    with using(small_entries=0):
        solver = Newton()
        return solver._begun(solver.start(Point(problem, x)))


def assert_gram(state: Any) -> None:
    """The Gram matrix at hand is that of the working set in the metric at hand."""
    columns = state.point.problem.design.columns(state.working)
    expected = columns.T @ (state.curvature[:, None] * columns)
    np.testing.assert_allclose(state.system.gram, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", GENERAL)
def test_parabolas_with_secants_lie_above_the_loss(loss: str) -> None:
    """Where f' is Lipschitz: f(q) <= f(p) + f'(p) (q - p) + ½ s (q - p)², whatever p and q are."""
    problem = held(loss)
    if not problem.smoothness.known:
        pytest.skip("has no such constant")
    f, y = problem.loss, problem.target
    for p in np.linspace(-8.0, 8.0, 33):
        at = np.full_like(y, p)
        for q in np.linspace(-8.0, 8.0, 33):
            above = f.values(at, y) + f.derivatives(at, y) * (q - p)
            above += 0.5 * f.secants(at, y) * (q - p) ** 2
            assert np.all(f.values(np.full_like(y, q), y) <= above + 1e-9)


@pytest.mark.parametrize("loss", GENERAL)
def test_the_first_guess_is_better_than_the_start(loss: str) -> None:
    """In the box, with finite derivatives, no worse; and its Gram matrix is one that can be used."""
    for seed in range(6):
        problem = held(loss, seed, ridge=0.1)
        start = Point(problem, np.full(12, 0.7))
        for by_factors in (False, True):
            guess = first_guess(start, by_factors).point
            assert np.all((problem.lower <= guess.x) & (guess.x <= problem.upper))
            assert np.all(np.isfinite(guess.residual))
            assert guess.objective <= start.objective
        state = begun(problem, start.x)
        assert state.begun
        assert np.all(state.point.inside[state.working])
        assert_gram(state)


@pytest.mark.parametrize("by_factors", [False, True])
def test_the_first_guess_solves_weighted_squares(by_factors: bool) -> None:
    """Where the model is the problem, the guess is its solution."""
    problem = held("least_squares", sample_weight=np.linspace(0.5, 3.0, 30), linear=np.ones(12))
    guess = first_guess(Point(problem, np.zeros(12)), by_factors).point
    assert np.all(guess.inward <= 10.0 * guess.gradient_noise)


@pytest.mark.parametrize("by_factors", [False, True])
def test_a_guess_without_derivatives_is_mixed_with_the_start(by_factors: bool) -> None:
    """Least squares would set a row with a small count to 0, where KL has no derivative."""
    A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    y = np.array([1e-3, 5.0, 1e-3])
    problem = reduced(A, y, 0.0, np.inf, "kullback_leibler", linear=[3.0, 0.0])
    guess = first_guess(Point(problem, np.ones(2)), by_factors).point
    assert np.all(np.isfinite(guess.residual))
    assert np.all(guess.prediction > 0.0)
    assert boxreg.solve(A, y, loss="kullback_leibler", linear=[3.0, 0.0], tol=1e-9).success


@pytest.mark.parametrize("loss", GENERAL)
def test_the_model_touches_the_objective(loss: str) -> None:
    """The same slopes at the point; and second differences are those of AᵀHA."""
    problem = held(loss, ridge=0.2)
    point = Point(problem, np.full(12, 0.4))
    h = tamed(point.curvature)
    model = model_at(point, h)
    np.testing.assert_allclose(
        Point(model.problem, point.x).correlation, point.correlation, rtol=1e-9, atol=1e-9
    )
    d = np.random.default_rng(0).standard_normal(12)
    turned = Point(model.problem, point.x + d).correlation
    columns = problem.design.columns(np.arange(12))
    expected = point.correlation - columns.T @ (h * (columns @ d))
    np.testing.assert_allclose(turned, expected, rtol=1e-8, atol=1e-8)


def test_taming_by_hand() -> None:
    """Infinite and steep entries are cut at 1e10 medians, flat ones raised to 1e-12 of the largest."""
    np.testing.assert_allclose(tamed(np.array([1.0, 2.0, np.inf])), [1.0, 2.0, 1.5e10])
    np.testing.assert_array_equal(tamed(np.array([1.0, 0.0, 1.0])), [1.0, 1e-12, 1.0])
    np.testing.assert_array_equal(tamed(np.array([3.0, 4.0])), [3.0, 4.0])
    assert np.all(np.isfinite(tamed(np.array([np.inf, 1.0, 1.0, 1e300]))))


def test_a_stale_metric_is_refreshed(change: Callable[..., object]) -> None:
    """Kept while h changes little along the last step, computed anew when it does not."""
    change(hessian_cheap=0.0, hessian_cheap_beside=0.0)
    solver, problem = Newton(), held("kullback_leibler")
    state = begun(problem, np.full(12, 0.7))
    assert len(state.working) > 1
    state.change = np.ones(len(problem.target))
    new = solver._metric(state)
    state.curvature, kept = new * 1.05, state.system.gram
    solver._refresh(state)
    assert state.system.gram is kept
    state.curvature = new * 1.5
    working = state.working.copy()
    solver._refresh(state)
    np.testing.assert_array_equal(state.curvature, new)
    np.testing.assert_array_equal(state.working, working)
    assert_gram(state)
    # What changes only where the last step did not move a prediction does not matter.
    state.change = np.where(np.arange(len(new)) == 0, 0.0, 1.0)
    state.curvature, kept = np.where(np.arange(len(new)) == 0, 100.0 * new, new), state.system.gram
    solver._refresh(state)
    assert state.system.gram is kept


def test_a_metric_that_changes_in_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Gram matrix is changed, as long as enough of it is left; with many rows, it is made anew."""
    solver, problem = Newton(), held("huber")
    state = begun(problem, np.full(12, 0.7))
    solver._refresh(state)
    made: list[int] = []
    extend = Newton._extend
    monkeypatch.setattr(
        Newton,
        "_extend",
        lambda self, state, new: made.append(len(new)) or extend(self, state, new),
    )
    now = state.curvature.copy()

    def refreshed(h: Any) -> int:
        monkeypatch.setattr(Newton, "_metric", staticmethod(lambda state: h))
        made.clear()
        solver._refresh(state)
        np.testing.assert_array_equal(state.curvature, h)
        assert_gram(state)
        return len(made)

    few, many = np.arange(30) < 3, np.arange(30) < 20
    assert refreshed(np.where(few, 2.0 * now, now)) == 0
    assert refreshed(np.where(few, 0.5 * now, now)) == 0
    assert 0.3 < state.rest < 1.0
    assert refreshed(np.where(many, 0.5 * now, now)) == 1
    assert state.rest == 1.0
    assert refreshed(now) == 1
    # Rows that are nearly all there is must not be taken from it.
    assert refreshed(np.where(few, 1e9, now)) == 0
    assert refreshed(now) == 1
    # Nor little by little.
    assert refreshed(np.where(few, 1e9, now)) == 0
    assert [refreshed(np.where(few, 1e9 * 0.3**k, now)) for k in (1, 2, 3)] == [0, 1, 0]


def test_a_metric_at_the_end_of_the_domain_is_finite() -> None:
    """f'' of a β-divergence is infinite at a prediction of 0; what Newton works with is not."""
    A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    problem = reduced(A, [0.0, 1.0, 1.0], 0.0, np.inf, LOSSES["beta_divergence"](beta=1.5))
    state = Newton().start(Point(problem, np.array([0.0, 0.5])))
    assert not np.all(np.isfinite(state.point.curvature))
    for state.caution in (1.0, 0.1, 1e-6):
        h = Newton._metric(state)
        assert np.all(np.isfinite(h))
        assert np.all(h > 0.0)


@pytest.mark.parametrize("loss", GENERAL)
def test_lazy_metrics_reach_the_same_answer(loss: str, change: Callable[..., object]) -> None:
    """With every saving of a large problem in force."""
    data = (*posed(loss), 0.0, 3.0)
    eager = boxreg.solve(*data, loss=loss, tol=1e-9)
    change(hessian_cheap=0.0)
    lazy = boxreg.solve(*data, loss=loss, tol=1e-9)
    assert lazy.success
    assert abs(lazy.objective - eager.objective) <= lazy.gap + eager.gap + 1e-12 * eager.objective


@pytest.mark.parametrize("loss", GENERAL)
def test_every_step_lowers_the_objective(loss: str) -> None:
    """From a start far away, until no slope points inwards."""
    solver, problem = Newton(), held(loss, ridge=0.05)
    state = solver.start(Point(problem, np.full(12, 4.0)))
    for _ in range(60):
        before = state.point.objective
        state = solver.step(state, 1)
        assert state.point.objective <= before + 1e-12 * abs(before)
        if state.finished or solver._optimal(state.point):
            break
    assert np.max(state.point.inward, initial=0.0) <= 1e-6 * (1.0 + abs(state.point.objective))


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("loss", GENERAL)
def test_singular_gram_matrices_fall_to_orthogonal_factors(
    loss: str, change: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With pivoting refusing every Gram matrix, the factors find the same objective."""
    calls = []
    by_factors = newton.solve_by_active_set
    monkeypatch.setattr(newton, "solve_by_active_set", lambda *a: calls.append(1) or by_factors(*a))
    change(small_entries=0)
    data = (*posed(loss), 0.0, 3.0)
    usual = boxreg.solve(*data, loss=loss, tol=1e-8)
    calls.clear()
    monkeypatch.setattr(growing_set, "block_pivoting", lambda *a, **k: None)
    other = boxreg.solve(*data, loss=loss, tol=1e-8)
    assert calls
    assert other.success
    assert abs(usual.objective - other.objective) <= usual.gap + other.gap + 1e-12 * usual.objective


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("loss", GENERAL)
def test_columns_that_are_almost_equal(loss: str) -> None:
    """The Gram matrix is singular in float64; the objective is that with one of each pair."""
    A, y = posed(loss)
    noise = 1.0 + 1e-9 * np.random.default_rng(3).standard_normal(A.shape)
    pairs = boxreg.solve(np.hstack([A, A * noise]), y, 0.0, 3.0, loss=loss, tol=1e-7)
    single = boxreg.solve(A, y, 0.0, 6.0, loss=loss, tol=1e-7)
    assert pairs.success
    scale = max(abs(single.objective), 1e-3)
    assert pairs.objective == pytest.approx(
        single.objective, abs=3e-7 * single.scale + 1e-7 * scale
    )


@pytest.mark.parametrize(("loss", "kind"), [cell for cell in CELLS if cell[0] != "least_squares"])
def test_few_steps(loss: str, kind: str) -> None:
    """A handful of Newton steps on ordinary problems, whatever the bounds."""
    steps = [
        boxreg.solve(**arguments(loss_problem(loss, kind, seed)), solver="newton", tol=1e-6).n_iter
        for seed in range(8)
    ]
    assert np.median(steps) <= 15


@pytest.mark.parametrize("loss", ["kullback_leibler", "beta_divergence"])
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-120])
@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_curvature_that_underflows(loss: str, scale: float) -> None:
    """Counts so small that f'' cannot be told from 0 end with a point and a status, not an error."""
    rng = np.random.default_rng(0)
    A, y = np.abs(rng.standard_normal((6, 4))), np.abs(rng.standard_normal(6))
    result = boxreg.solve(A, y * scale, loss=loss)
    assert np.isfinite(result.x).all()
    assert result.gap >= 0.0  # inf where nothing can be proved


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_costs_along_parallel_columns() -> None:
    """Damped models crept along A d = 0 for a thousand steps; P falls there to the next bound."""
    problem = make("large-planted-squared_hinge-hostile", 30004)
    result = boxreg.solve(**problem.posed)
    assert result.n_iter <= 100
    assert result.work <= 30_000.0
    assert problem.excess(result.x) <= 1e-6 * result.target_gap


def test_pivoting_is_charged() -> None:
    """Factors that fail count against budgets as those that succeed."""
    columns = np.random.default_rng(0).standard_normal((40, 300))
    system = FreeSystem(columns.T @ columns)
    _, dependent = system.solve(np.ones(300, dtype=bool), np.ones(300))
    assert len(dependent) >= 260
    assert system.spent >= 0.05 * 300**3 / 3.0
