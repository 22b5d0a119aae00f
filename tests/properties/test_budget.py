"""Time limits, budgets of inner searches, and statuses that tell why a run ended."""

from __future__ import annotations

import pickle
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg import Status, budget
from boxreg.batch import RhsStatus
from boxreg.budget import NEVER, Deadline
from boxreg.losses import Huber
from boxreg.point import Point
from boxreg.settings import using
from boxreg.solvers.base import PrimalSolver, SolverState
from boxreg.work import WorkMeter
from boxreg.workloads import nnls_table1
from building import Clock, reduced
from real_data import load
from references.problems import FAMILIES, generated

RNG = np.random.default_rng(5)
A, Y = RNG.standard_normal((60, 90)), RNG.standard_normal(60)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Deadlines read this clock."""
    made = Clock()
    monkeypatch.setattr(budget, "time", made)
    return made


def quietly(call: Any, *args: Any, **options: Any) -> Any:
    """The result of a call that may warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
        return call(*args, **options)


# --- the means ---------------------------------------------------------------------------------------


def test_a_deadline_by_hand(clock: Clock) -> None:
    """Ten seconds after the first reading; the second and third readings are before it."""
    deadline = Deadline.after(10.0)
    assert deadline.at == 11.0
    assert not deadline.passed  # at 2
    assert deadline.left == 8.0  # at 3
    clock.now = 10.0
    assert deadline.passed
    assert deadline.left == 0.0
    assert Deadline.after(None) == NEVER
    assert NEVER.left == np.inf
    before = clock.now
    assert not NEVER.passed
    assert clock.now == before, "the clock is not read where there is no deadline"


def test_a_deadline_in_another_process() -> None:
    """It is the same moment, whatever that process's clock began with."""
    deadline = Deadline.after(100.0)
    again = pickle.loads(pickle.dumps(deadline))
    assert again.at == pytest.approx(deadline.at, abs=1.0)
    assert pickle.loads(pickle.dumps(NEVER)) == NEVER


def test_a_budget_by_hand() -> None:
    """A share of the effort so far, or the least; charges count as effort, not as work."""
    work = WorkMeter(10)
    work.add(20.0)
    work.charge(10.0)
    assert work.total == 2.0
    assert work.effort == 3.0
    search = work.budget(2.0)
    assert search.left == 6.0
    assert work.budget(0.5, least=40.0).left == 4.0
    work.add(59.0)
    assert not search.exhausted
    work.charge(1.0)
    assert search.exhausted
    assert search.left == 0.0


def test_a_budget_ends_with_the_run() -> None:
    """No search has more left than the run that it is part of, nor goes on after its deadline."""
    work = WorkMeter(1, most=5.0)
    search = work.budget(0.0, least=100.0)
    assert search.left == 5.0
    work.add(5.0)
    assert work.over
    assert search.exhausted
    late = WorkMeter(1, deadline=Deadline(time.monotonic() - 1.0))
    assert late.over
    assert late.budget(0.0, least=100.0).exhausted


def test_a_problem_gives_searches_a_least_budget() -> None:
    """However short the run was so far: some products with A."""
    problem = reduced(A, Y)
    assert problem.budget(0.0).left * A.size == pytest.approx(3e8)


# --- time limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1.0, np.nan])
def test_wrong_time_limits(value: float) -> None:
    """Every function that takes one says what it accepts."""
    calls: tuple[Any, ...] = (
        lambda: boxreg.solve(A, Y, time_limit=value),
        lambda: boxreg.lsq_linear(A, Y, time_limit=value),
        lambda: boxreg.solve_many(A, Y[:, None], time_limit=value),
        lambda: boxreg.antisparse(A, Y, 1.0, time_limit=value),
    )
    for call in calls:
        with pytest.raises(ValueError, match="time_limit: expected None or a number of seconds"):
            call()
    with pytest.raises(TypeError, match="time_limit: expected a number"):
        boxreg.solve(A, Y, time_limit="soon")


@pytest.mark.parametrize("solver", ["working_set", "coordinate_descent", "projected_gradient"])
def test_out_of_time_is_a_status_and_a_warning(solver: str, clock: Clock) -> None:
    """The best point so far, its gap and a certificate; more time leads farther."""
    hard = nnls_table1(300, m=200, variant="printed")
    found = []
    for limit in (0.0, 6.0):
        with pytest.warns(boxreg.ConvergenceWarning, match=r"time limit .* asked for"):
            result = boxreg.solve(hard.A, hard.y, solver=solver, tol=1e-13, time_limit=limit)
        assert result.status is Status.TIME_LIMIT
        assert not result.success
        assert result.target_gap < result.gap < np.inf
        assert result.certificate
        found.append(result.objective)
    assert found[1] <= found[0]


@pytest.mark.parametrize("loss", ["logistic", "log_cosh", "huber"])
def test_out_of_time_with_other_losses(loss: str, clock: Clock) -> None:
    """Newton's method, its sweeps and models; labels that no plane separates, which takes steps."""
    y = np.sign(Y) if loss == "logistic" else Y
    result = quietly(boxreg.solve, A[:, :30], y, loss=loss, tol=1e-14, time_limit=2.0)
    assert result.status is Status.TIME_LIMIT
    assert np.isfinite(result.gap)


@pytest.mark.parametrize("solver", ["active_set", "working_set"])
def test_a_point_inside_is_no_reason_to_be_late(
    solver: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All coordinates are inside the box, and would enter a factor one after the other."""
    from boxreg.solvers import working_set

    def late(*_: Any) -> None:
        raise AssertionError("orthogonal factors of all columns, after the deadline")

    monkeypatch.setattr(working_set, "by_orthogonal_factors", late)
    with using(small_entries=0):
        result = quietly(
            boxreg.solve, A, Y, -1.0, 1.0, x0=np.full(90, 0.5), solver=solver, time_limit=3.0
        )
    assert result.status is Status.TIME_LIMIT
    assert result.n_iter <= 1
    assert np.all(np.abs(result.x) <= 1.0)


def test_time_limits_that_do_not_bind_change_nothing() -> None:
    """No limit does: the same path, the same answer, the same work."""
    for shape in ((30, 12), (60, 90), (40, 700)):
        rng = np.random.default_rng(shape[1])
        matrix, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
        plain = boxreg.solve(matrix, y)
        same: tuple[dict[str, Any], ...] = (
            {"time_limit": 1e6},
            {"max_iter": 5000},
            {"callback": lambda seen: False},
        )
        for options in same:
            other = boxreg.solve(matrix, y, **options)
            np.testing.assert_array_equal(other.x, plain.x)
            assert other.work == plain.work
            assert other.n_iter == plain.n_iter
            assert other.settings == plain.settings


def test_lsq_linear_out_of_time(clock: Clock) -> None:
    """A code of its own, and the best point."""
    wide = np.random.default_rng(1).standard_normal((40, 800))
    bounds = (np.full(800, -1e-3), np.full(800, 1e-3))
    with using(small_entries=0):  # smaller ones are solved before the clock is looked at
        found = boxreg.lsq_linear(wide, wide.sum(axis=1), bounds, time_limit=0.0)
    assert found.status == -2
    assert not found.success
    assert "time limit" in found.message
    assert np.isfinite(found.gap)
    assert boxreg.lsq_linear(wide, wide.sum(axis=1), bounds).success


def test_antisparse_out_of_time(clock: Clock) -> None:
    """The best level so far."""
    with pytest.warns(boxreg.ConvergenceWarning, match="time limit"):
        found = boxreg.antisparse(A, Y, 0.5, tol=1e-14, time_limit=3.0)
    assert found.status is Status.TIME_LIMIT
    assert np.isfinite(found.gap)


@pytest.mark.parametrize("loss", ["least_squares", "kullback_leibler", "huber"])
@pytest.mark.parametrize("limit", [0.0, 3.0, 8.0])
def test_many_out_of_time(loss: str, limit: float, clock: Clock) -> None:
    """Those that were not begun have no answer and say so; all others keep what they claim."""
    rng = np.random.default_rng(2)
    matrix, many = rng.random((20, 8)), rng.random((20, 700))
    result = boxreg.solve_many(matrix, many, loss=loss, time_limit=limit, chunk=200)
    left = result.status == RhsStatus.NOT_BEGUN
    assert left.any()
    assert not result.success
    np.testing.assert_array_equal(np.isnan(result.x).all(axis=0), left)
    assert np.all(np.isnan(result.gap[left]))
    assert np.all(result.support[left] == 0)
    done = result.status == RhsStatus.CONVERGED
    assert np.all(result.gap[done] <= result.target_gap[done])
    assert np.all(done | left | (result.status == RhsStatus.TIME_LIMIT))
    assert np.array_equal(result.verify().checked, ~left)
    assert not result.proved[left].any()
    assert np.isnan(result.objective[left]).all()
    assert "before its turn" in repr(result)


def test_many_with_a_limit_that_does_not_bind() -> None:
    """The same answers, bit by bit, in one thread or several."""
    rng = np.random.default_rng(2)
    matrix, many = rng.random((20, 8)), rng.random((20, 700))
    plain = boxreg.solve_many(matrix, many)
    for n_jobs in (1, 2):
        other = boxreg.solve_many(matrix, many, time_limit=1e6, n_jobs=n_jobs)
        np.testing.assert_array_equal(other.x, plain.x)
        np.testing.assert_array_equal(other.status, plain.status)


def test_a_run_with_a_journal_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was complete when time ran out is kept; the next run does the rest."""
    rng = np.random.default_rng(2)
    matrix, many = rng.random((20, 8)), rng.random((20, 900))
    out = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", shape=(8, 900))
    with monkeypatch.context() as patch:
        patch.setattr(budget, "time", Clock())
        first = boxreg.solve_many(matrix, many, out=out, chunk=256, time_limit=6.0)
    assert (first.status == RhsStatus.NOT_BEGUN).any()
    assert (first.status == RhsStatus.CONVERGED).any()
    assert list(tmp_path.glob("*.journal"))
    second = boxreg.solve_many(matrix, many, out=out, chunk=256)
    assert second.success
    assert not list(tmp_path.glob("*.journal"))
    np.testing.assert_array_equal(out, boxreg.solve_many(matrix, many, chunk=256).x)


# --- inner searches ----------------------------------------------------------------------------------


def test_linear_programs_have_a_budget() -> None:
    """Integers that cancel in pairs: every column is implicit, and was found by a program of its own."""
    rng = np.random.default_rng(3)
    half = rng.standard_normal((30, 120))
    matrix = np.hstack([half, -half @ rng.random((120, 40))])
    y = rng.standard_normal(30)
    result = quietly(
        boxreg.solve, matrix, y, loss=Huber(0.1), solver="coordinate_descent", max_iter=3
    )
    assert result.work < 2000.0
    assert np.isfinite(result.gap)


@pytest.mark.parametrize(
    ("name", "options", "most"),
    [
        ("huber_ar_nn_126x785", {}, 1000.0),
        ("huber_slow_100x400", {}, 1000.0),
        ("huber_slow_100x400", {"solver": "coordinate_descent", "max_iter": 10}, 1000.0),
        ("huber_ar_box_681x535", {}, 20000.0),
    ],
)
def test_problems_that_hung(name: str, options: dict[str, Any], most: float) -> None:
    """Seventy seconds and more of linear programs or of orthogonal factors, for fits that are easy."""
    data = load(f"found/{name}")
    box = [data[key] for key in ("lower", "upper") if key in data]
    loss = Huber(float(data.get("delta", 0.1)))
    result = quietly(boxreg.solve, data["A"], data["y"], *box, loss=loss, **options)
    assert result.work <= most
    assert result.success or "max_iter" in options


def test_the_tolerance_asked_for_is_what_a_run_costs() -> None:
    """Nearly dependent columns and a nearly perfect fit: all digits would cost ten times as much."""
    rng = np.random.default_rng(0)
    t, rates = np.linspace(0.0, 1.0, 100)[:, None], 10.0 ** rng.uniform(-1.0, 2.0, size=1200)
    matrix = np.exp(-t * rates)
    y = matrix @ rng.uniform(size=1200)
    y += 1e-3 * np.abs(y).mean() * rng.standard_normal(100)
    rough = boxreg.solve(matrix, y, 0.0, 1.0, tol=1e-4)
    assert rough.success
    met = int(np.flatnonzero(rough.history.gap <= rough.target_gap)[0])
    least = 5e7 / matrix.size
    spent = rough.history.work - rough.history.work[met]
    assert np.all(spent[:-1] <= max(rough.history.work[met], least))


# --- what a status tells -----------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_rounding_is_blamed_only_where_it_is_the_cause(family: str) -> None:
    """At a gap of 0 no run converges: PRECISION_LIMIT where rounding is half of what is left."""
    for seed in range(4):
        case = generated(family, seed)
        arguments = (case.A, case.y, case.lower, case.upper)
        for solver in ("auto", "coordinate_descent"):
            result = quietly(boxreg.solve, *arguments, solver=solver, tol=0.0, max_iter=300)
            rounding = result.certificate.rounding
            if result.status is Status.PRECISION_LIMIT:
                assert rounding >= 0.5 * result.gap
            elif result.status is Status.NOT_PROVED:
                assert rounding < 0.5 * result.gap


class Idle(PrimalSolver[SolverState]):
    """A solver that can do nothing."""

    name = "idle"

    def start(self, point: Point) -> SolverState:
        return SolverState(point, finished=True)

    def step(self, state: SolverState, count: int) -> SolverState:
        return state

    def restrict(self, state: SolverState, point: Point, kept: Any) -> SolverState:
        return SolverState(point, finished=True)


def test_not_proved_says_what_to_try() -> None:
    """The solver has done all it can, the gap is large, and rounding has no part in it."""
    with pytest.warns(boxreg.ConvergenceWarning, match="x may well be optimal"):
        result = boxreg.solve(np.abs(A), np.abs(Y), solver=Idle())
    assert result.status is Status.NOT_PROVED
    assert "solver=..." in result.message
    found = quietly(boxreg.solve, np.abs(A), np.abs(Y), 0.0, 1.0, solver=Idle())
    assert found.status is Status.NOT_PROVED


def test_causes_of_a_gap_by_hand() -> None:
    """Half of it, or more, is rounding; a gap that is not finite is nobody's fault."""
    assert Status.of_gap(1.0, 0.5) is Status.PRECISION_LIMIT
    assert Status.of_gap(1.0, 0.49) is Status.NOT_PROVED
    assert Status.of_gap(np.inf, 1.0) is Status.NOT_PROVED


def test_statuses_of_a_batch_are_those_of_solve() -> None:
    """Every status of a run that can end a right-hand side has a code."""
    for status in Status:
        if status is not Status.STOPPED_BY_CALLBACK:
            assert RhsStatus.of(status).sentence == status.value


def test_theta_zero_proves_a_perfect_fit() -> None:
    """Separable labels: the infimum 0 is not attained, and theta = 0 proves any P(x) <= tol P₀."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((300, 100)) / 5.0
    y = np.where(matrix @ (10.0 * np.maximum(rng.standard_normal(100), 0.0)) > 0.0, 1.0, -1.0)
    result = boxreg.solve(matrix, y, loss="logistic")
    assert result.status is Status.NOT_ATTAINED
    assert result.gap <= result.target_gap
    assert result.certificate.rigorous


# --- the compiled path -------------------------------------------------------------------------------


def test_the_compiled_path_is_counted_and_named() -> None:
    """Its products are work, its rounds steps, and its name is what ran."""
    rng = np.random.default_rng(7)
    for shape in ((30, 12), (200, 150)):
        matrix, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
        result = boxreg.solve(matrix, y)
        assert result.settings["solver"] == "compiled_active_set"
        assert result.n_iter >= np.count_nonzero(result.x) / shape[1]
        checks_alone = boxreg.solve(matrix, y, x0=result.x).work
        assert result.work >= checks_alone + 1.0
        named = boxreg.solve(matrix, y, solver="working_set")
        assert named.settings["solver"] == "working_set"


def test_a_limit_that_binds_is_one_on_rounds() -> None:
    """Too few rounds: where the compiled call got to, with what that proves."""
    rng = np.random.default_rng(7)
    matrix, y = rng.standard_normal((30, 12)), rng.standard_normal(30)
    result = quietly(boxreg.solve, matrix, y, max_iter=1)
    assert result.settings["solver"] == "compiled_active_set"
    assert result.n_iter <= 1
