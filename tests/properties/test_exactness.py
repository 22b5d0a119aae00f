"""What the default solver does before, at the end of, and beside its working sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import boxreg
from boxreg import compaction, driver, validate
from boxreg.dual_cone import excess_over_cone
from boxreg.dual_updates.local_push import local_push
from boxreg.point import Point
from boxreg.presolve import presolve
from boxreg.solvers.last_resort import last_resort, suspects
from boxreg.solvers.prediction import predicted
from boxreg.solvers.working_set import WorkingSet
from boxreg.work import WorkMeter
from boxreg.workloads import bvls_figure1, bvls_table2, nnls_table1
from building import mirrored, reduced
from references.problems import generated

RNG = np.random.default_rng(11)
SIGNED = RNG.standard_normal((60, 40))
TARGET = RNG.standard_normal(60)
WEIGHTS = np.linspace(0.5, 2.0, 60)
COSTS = np.sin(np.arange(40.0))


@pytest.mark.parametrize(
    "workload",
    [
        nnls_table1(800, m=300),
        nnls_table1(800, m=300, variant="printed"),
        bvls_table2(600, m=300),
        bvls_figure1(0.3, m=400, n=300),
    ],
    ids=lambda w: w.name,
)
def test_a_start_at_the_solution_ends_after_one_check(workload) -> None:
    """No step, one entry in the history, and a certificate as good as before."""
    data = (workload.A, workload.y, workload.lower, workload.upper)
    first = boxreg.solve(*data, tol=1e-9)
    again = boxreg.solve(*data, tol=1e-9, x0=first.x)
    assert again.n_iter == 0
    assert len(again.history) == 1
    assert again.certificate.rigorous
    assert again.gap <= 1e-9 * again.scale
    np.testing.assert_array_equal(again.x, first.x)


@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-9])
def test_the_default_goes_on_to_the_precision_of_the_data(tol: float) -> None:
    """Whatever gap is asked for: an exact method stops where nothing is left to gain."""
    workload = nnls_table1(1200, m=500, variant="printed")
    result = boxreg.solve(workload.A, workload.y, tol=tol)
    assert result.success
    assert result.gap <= 1e-12 * result.scale
    assert "Gap proved: " in result.message


def test_prediction_finds_most_sides_and_lowers_the_objective() -> None:
    """On well-conditioned boxes, after a few products."""
    workload = bvls_figure1(0.3, m=600, n=300)
    problem = reduced(workload.A, workload.y, workload.lower, workload.upper)
    start = Point(problem, np.zeros(300))
    guess = predicted(start)
    assert guess.objective < start.objective
    assert np.all((guess.x >= problem.lower) & (guess.x <= problem.upper))
    solution = boxreg.solve(workload.A, workload.y, workload.lower, workload.upper).x
    agree = (np.abs(guess.x) < 0.3) == (np.abs(solution) < 0.3)
    assert np.mean(agree) > 0.9
    assert problem.work.total <= 2 * 13


@pytest.mark.parametrize("turned", [0, 2, 1], ids=["x >= 0", "both", "x <= 0"])
@pytest.mark.parametrize(
    "terms",
    [
        {},
        {"sample_weight": WEIGHTS},
        {"linear": COSTS},
        {"sample_weight": WEIGHTS, "linear": COSTS},
    ],
    ids=["plain", "weights", "costs", "weights and costs"],
)
def test_local_push_is_feasible_and_costs_next_to_nothing(terms, turned: int) -> None:
    """At the solution of a signed problem, without a direction inside the whole cone."""
    which = np.zeros(40, dtype=bool) if turned == 0 else np.arange(40) % turned == 0
    A, y, lower, upper = mirrored(SIGNED, TARGET, 0.0, np.inf, which)
    x = boxreg.solve(A, y, lower, upper, **terms).x
    point = Point(reduced(A, y, lower, upper, **terms), x)
    pushed = local_push(point)
    assert pushed is not None
    assert np.all(excess_over_cone(pushed, point) <= 0.0)
    w = A.T @ pushed.theta - terms.get("linear", 0.0)
    assert np.all(np.where(which, -w, w) <= 0.0)
    assert np.linalg.norm(pushed.theta - point.residual) <= 1e-11 * point.residual_norm


def test_local_push_declines_far_from_the_solution() -> None:
    """There the residual is not nearly feasible."""
    assert local_push(Point(reduced(SIGNED, TARGET), np.zeros(40))) is None


def test_signed_problems_are_proved_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for a direction inside the cone is not even begun."""

    def forbidden(*_: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr("boxreg.directions.InteriorSearch", forbidden)
    result = boxreg.solve(SIGNED, TARGET, tol=1e-10)
    assert result.success
    assert result.certificate.rigorous


def test_no_suspects_in_ordinary_problems() -> None:
    """The last resort is for problems where rounding decides."""
    for seed in range(20):
        problem = generated("gaussian", seed)
        held = reduced(*problem.data)
        x = boxreg.solve(*problem.data).x
        assert not suspects(Point(held, x)).any()


def test_the_last_resort_finds_what_gradients_do_not_show() -> None:
    """Nearly dependent columns: gradients at 0 are next to nothing, the minimum is far below."""
    problem = generated("nearly_degenerate", 12)
    point = Point(reduced(*problem.data), np.zeros(problem.A.shape[1]))
    assert np.all(point.inward <= 1e-12 * point.residual_norm * point.problem.norms)
    assert last_resort(point).objective < 1e-3 * point.objective
    assert boxreg.nnls(problem.A, problem.y)[1] < 1e-2 * np.linalg.norm(problem.y)
    with pytest.warns(boxreg.ConvergenceWarning, match="Gap proved: "):
        result = boxreg.solve(*problem.data)
    assert result.objective < 1e-3 * point.objective


def test_it_never_makes_things_worse() -> None:
    """Started anywhere, on anything."""
    for family in ("collinear", "nearly_degenerate", "duplicate_columns", "planted_degenerate"):
        for seed in range(8):
            problem = generated(family, seed)
            held = reduced(*problem.data)
            point = Point(held, np.clip(np.zeros(len(held.lower)), held.lower, held.upper))
            found = last_resort(point)
            assert found.objective <= point.objective
            assert np.all((found.x >= held.lower) & (found.x <= held.upper))


def test_working_sets_never_cycle_where_no_step_gains() -> None:
    """A step that does not lower the objective ends the run."""
    problem = generated("collinear", 29)
    held = reduced(*problem.data)
    solver = WorkingSet()
    start = np.clip(np.zeros(len(held.lower)), held.lower, held.upper)
    state = solver.start(Point(held, start))
    for _ in range(50):
        if state.finished:
            break
        state = solver.step(state, 1)
    assert state.finished


@pytest.mark.parametrize(
    ("small", "large", "needed"), [(1 << 22, 1 << 29, 2), (0, 1 << 29, 6), (0, 0, 18)]
)
def test_a_large_matrix_is_copied_sparingly(
    change: Callable[..., object], small: int, large: int, needed: int
) -> None:
    """Before the rest is copied one column in ten must have left of what caches hold, three of more,
    nine where memory counts."""
    change(cache_bytes=small, large_bytes=large)
    problem = reduced(np.ones((4, 20)), np.ones(4), 0.0, 1.0)
    nothing = np.zeros(20, dtype=bool)
    for left in range(20):
        held = problem.fix(np.arange(20) < left, nothing)
        assert compaction.pays(held) is (left >= needed)


@pytest.mark.parametrize("lower", [0.0, -1.0, 0.5, -np.inf])
@pytest.mark.parametrize("x0", [None, np.full(40, 0.7)])
@pytest.mark.parametrize("costs", [None, np.sin(np.arange(40.0))])
@pytest.mark.parametrize("weights", [np.ones(60), np.linspace(0.5, 2.0, 60)])
def test_the_survey_serves_the_first_point_only_where_it_holds(
    lower: float, x0: np.ndarray | None, costs: np.ndarray | None, weights: np.ndarray
) -> None:
    """Aᵀy - c is the first slope where the run starts at 0 without weights, and nowhere else."""
    problem = validate.problem(
        SIGNED, TARGET, lower, np.inf, "least_squares", linear=costs, sample_weight=weights
    )
    whole = presolve(problem, WorkMeter(40))
    point = driver._first_point(whole, problem, x0)
    expected = weights * (TARGET - SIGNED @ point.x)
    expected = SIGNED.T @ expected - (0.0 if costs is None else costs)
    np.testing.assert_allclose(point.correlation, expected, atol=1e-11)
