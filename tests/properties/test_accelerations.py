"""Accelerations change the pace, not the contract."""

from __future__ import annotations

import numpy as np
import pytest

import boxreg
from boxreg.duality import DualPoint
from boxreg.extrapolation import DEPTH, extrapolate
from boxreg.point import Point
from boxreg.solvers import SOLVERS, ChambollePock, CoordinateDescent, ProjectedGradient
from boxreg.workloads import bvls_table2, nnls_table1
from building import reduced
from references.problems import TABLE

FALLING = {
    "coordinate_descent-plain": CoordinateDescent.plain(),
    "coordinate_descent-anderson": CoordinateDescent("anderson"),
    "projected_gradient-plain": ProjectedGradient.plain(),
    "projected_gradient-fista": ProjectedGradient(acceleration="fista"),
    "projected_gradient-anderson": ProjectedGradient(acceleration="anderson"),
}


def test_extrapolation_by_hand() -> None:
    """2, 1.5, 1.25, … tends to 1; one difference only repeats the last vector."""
    halving = [np.array([v]) for v in (2.0, 1.5, 1.25)]
    assert extrapolate(halving) == pytest.approx([1.0], rel=1e-8)
    np.testing.assert_array_equal(extrapolate(halving[:2]), [1.5])
    assert extrapolate([np.ones(3)] * 4) is None


def test_extrapolation_is_exact_for_few_eigenvalues() -> None:
    """s ↦ T s + b with four eigenvalues, five differences: the fixed point at once."""
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    T = basis @ np.diag(np.repeat([0.9, 0.7, 0.4, -0.3], 3)) @ basis.T
    fixed, sequence = rng.standard_normal(12), [np.zeros(12)]
    for _ in range(DEPTH):
        sequence.append(fixed + T @ (sequence[-1] - fixed))
    far = np.linalg.norm(sequence[-1] - fixed)
    assert np.linalg.norm(extrapolate(sequence) - fixed) < 1e-3 * far


@pytest.mark.parametrize("name", FALLING)
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_the_objective_never_rises_and_x_stays_in_the_box(problem, name: str) -> None:
    """Step by step, from a point far away, up to the rounding of the objective itself."""
    solver = FALLING[name]
    current = reduced(*problem.data)
    spread = np.abs(np.random.default_rng(3).standard_normal(len(current.lower)))
    state = solver.start(Point(current, np.clip(spread, current.lower, current.upper)))
    scale = float(current.target @ current.target)
    for _ in range(60):
        before = state.point
        state = solver.step(state, 1)
        assert np.all(state.point.x >= current.lower)
        assert np.all(state.point.x <= current.upper)
        noise = 1e-13 * (scale + before.objective)
        noise += before.residual_norm * before.prediction_error
        assert state.point.objective <= before.objective + noise
        if state.finished:
            break


@pytest.mark.parametrize("kind", [CoordinateDescent, ProjectedGradient])
def test_an_extrapolated_point_is_taken_only_if_it_is_better(kind, monkeypatch) -> None:
    """With an extrapolation that is always wrong the method is the plain one."""
    work = nnls_table1(30, m=40)
    problem = reduced(work.A, work.y)
    module = __import__(kind.__module__, fromlist=["extrapolate"])
    monkeypatch.setattr(module, "extrapolate", lambda trail: 1e3 * np.ones(30))
    start = Point(problem, np.zeros(30))
    accelerated, plain = kind(acceleration="anderson"), kind.plain()
    found = accelerated.step(accelerated.start(start), 4 * DEPTH).point
    expected = plain.step(plain.start(start), 4 * DEPTH).point
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("accelerated", "plain", "problem", "times"),
    [
        (CoordinateDescent(), CoordinateDescent.plain(), nnls_table1(100, m=200), 1.5),
        (ProjectedGradient(), ProjectedGradient.plain(), bvls_table2(200, m=100), 5.0),
        (
            ProjectedGradient(acceleration="anderson"),
            ProjectedGradient.plain(),
            bvls_table2(200, m=100),
            1.5,
        ),
    ],
    ids=["anderson-cd", "fista", "anderson-pg"],
)
def test_accelerations_save_work(accelerated, plain, problem, times: float) -> None:
    """Without screening, so that nothing else is at play."""
    work = {
        solver: boxreg.solve(
            *(problem.A, problem.y, problem.lower, problem.upper),
            solver=solver,
            screening=False,
            tol=1e-10,
        ).work
        for solver in (accelerated, plain)
    }
    assert times * work[accelerated] < work[plain]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: CoordinateDescent("fista"),
            "acceleration: expected 'anderson' or None, got 'fista'",
        ),
        (
            lambda: ProjectedGradient(acceleration="nesterov"),
            "acceleration: expected 'fista', 'anderson' or None, got 'nesterov'",
        ),
    ],
)
def test_unknown_accelerations_are_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", ["coordinate_descent", "projected_gradient"])
def test_the_plain_method_is_deterministic_and_has_no_memory(name: str) -> None:
    """Ten steps at once are ten single steps."""
    work = nnls_table1(30, m=40)
    solver = SOLVERS[name].plain()
    at_once = solver.step(solver.start(Point(reduced(work.A, work.y), np.zeros(30))), 10)
    singly = solver.start(Point(reduced(work.A, work.y), np.zeros(30)))
    for _ in range(10):
        singly = solver.step(singly, 1)
    np.testing.assert_allclose(singly.point.x, at_once.point.x, rtol=1e-12)


def screened(state, solver, fixed: np.ndarray):
    """The state after `fixed` coordinates have been proved to be at 0 and dropped."""
    problem = state.point.problem
    closed = problem.fix(fixed, np.zeros_like(fixed))
    point = state.point.projected(closed)
    kept = np.flatnonzero(~fixed)
    return solver.restrict(state, point.kept(closed.keep(kept), kept), kept)


def test_the_trail_of_coordinate_descent_goes_through_screening() -> None:
    """It is cut to the columns kept, and forgotten where the point itself moved."""
    work = nnls_table1(40, m=30)
    solver = CoordinateDescent()
    state = solver.step(solver.start(Point(reduced(work.A, work.y), np.zeros(40))), DEPTH - 1)
    assert len(state.trail) == DEPTH
    idle = (state.point.x == 0.0) & (np.arange(40) % 2 == 0)
    still = screened(state, solver, idle)
    assert [len(x) for x in still.trail] == [np.count_nonzero(~idle)] * DEPTH
    np.testing.assert_array_equal(still.trail[-1], still.point.x)
    other = Point(still.point.problem, 2.0 * still.point.x)
    assert solver.restrict(still, other, np.arange(len(other.x))).trail == ()


@pytest.mark.parametrize("moving", [False, True])
def test_the_momentum_of_fista_goes_through_screening(moving: bool) -> None:
    """What is known at the point before stays true of it, whether coordinates moved or not."""
    work = bvls_table2(40, m=30)
    solver = ProjectedGradient()
    state = solver.start(Point(reduced(work.A, work.y, 0.0, 1.0), np.zeros(40)))
    state = solver.step(state, 12)
    assert state.before is not None
    assert state.momentum > 1.0
    idle = (state.point.x == 0.0) & (state.before.x == 0.0)
    if moving:
        idle |= state.point.x == state.point.x[state.point.x > 0.0].min()
    assert idle.any()
    after = screened(state, solver, idle)
    fresh = Point(after.point.problem, after.before.x)
    np.testing.assert_allclose(after.before.prediction, fresh.prediction, rtol=1e-12)
    np.testing.assert_allclose(after.before.correlation, fresh.correlation, atol=1e-12)
    assert solver.move(after, after.point, DualPoint.zero(fresh.problem)).before is None


def test_chambolle_pock_keeps_the_balance_of_its_steps() -> None:
    """σ grows by the square root of what L falls by, and so does τ = 0.9 / (σ L)."""
    work = bvls_table2(60, m=40)
    solver = ChambollePock()
    state = solver.start(Point(reduced(work.A, work.y, 0.0, 1.0), np.zeros(60)))
    state = solver.step(state, 5)
    after = screened(state, solver, np.arange(60) % 3 > 0)
    before_ratio = state.sigma**2 * state.squared_norm.value
    assert after.squared_norm.value < 0.5 * state.squared_norm.value
    assert after.sigma**2 * after.squared_norm.value == pytest.approx(before_ratio, rel=1e-12)
