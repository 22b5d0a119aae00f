"""Block principal pivoting and the working set around it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import boxreg
from boxreg.block_pivoting import FREE, LOWER, UPPER, block_pivoting
from boxreg.free_system import FreeSystem
from boxreg.kernels.exchanges import contradictions, solve_small
from boxreg.point import Point
from boxreg.solvers import ActiveSet, growing_set, prediction, working_set
from boxreg.work import WorkMeter
from boxreg.workloads import nnls_table1
from building import reduced
from judging import assert_certified
from references.problems import FAMILIES, TABLE, generated


def solve(gram, c, lower, upper, start=LOWER, max_rounds=200, rest=0.0, noise=0.0):
    n = len(c)
    states = np.full(n, start, dtype=np.int8)
    rests, noises = np.full(n, rest), np.full(n, noise)
    return block_pivoting(
        FreeSystem(gram), c, lower, upper, states, rests, noises, max_rounds, WorkMeter(1)
    )


@pytest.fixture
def large(change: Callable[..., object]) -> None:
    """Systems of any size are kept and updated, as large ones are."""
    change(small_system=0)


def test_by_hand() -> None:
    """G = I: x is c clipped to the box, and the states say where."""
    c = np.array([-1.0, 0.5, 3.0])
    solved = solve(np.eye(3), c, np.zeros(3), np.ones(3))
    np.testing.assert_array_equal(solved.x, [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(solved.states, [LOWER, FREE, UPPER])


@pytest.mark.parametrize("start", [LOWER, FREE, UPPER])
@pytest.mark.parametrize("bounds", ["box", "half-lines", "free"])
def test_optimality_from_any_start(bounds: str, start: int) -> None:
    """The conditions hold at the end whatever the states were at the beginning.

    (A state at a bound that is not there means `rest`, and is left at once.)
    """
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 25))
        a = rng.standard_normal((n + 5, n))
        gram, c = a.T @ a, 3 * rng.standard_normal(n)
        lower, upper = -rng.random(n), rng.random(n)
        if bounds != "box":
            gone = rng.random(n) < 0.5
            lower = np.where(gone, -np.inf, lower)
            upper = np.where(gone & (bounds == "half-lines"), upper, np.inf)
        if start == UPPER and np.any(np.isinf(upper)):
            upper = np.where(np.isinf(upper), 1e3, upper)
        solved = solve(gram, c, lower, upper, start, rest=0.3)
        gradient = c - gram @ solved.x
        inside = (solved.x > lower) & (solved.x < upper)
        np.testing.assert_allclose(gradient[inside], 0.0, atol=1e-9)
        assert np.all(gradient[solved.x == lower] <= 1e-9)
        assert np.all(gradient[solved.x == upper] >= -1e-9)


def test_the_backup_rule_fires_and_ends() -> None:
    """Full exchanges alone cycle on some Gram matrices; single ones end it."""
    single, _ = _backups(-2)
    assert single > 0


def test_cycles_on_ill_conditioned_matrices_are_given_up() -> None:
    """Single exchanges there would be many, and led by rounding."""
    single, given_up = _backups(-5)
    assert single < _backups(-2)[0]
    assert given_up > 50


def _backups(decades: int) -> tuple[int, int]:
    """Single exchanges on some Gram matrices of that condition, and how many of them were given up."""
    rng = np.random.default_rng(3)
    single = given_up = 0
    for _ in range(300):
        a = (
            rng.standard_normal((12, 12))
            @ np.diag(np.logspace(0, decades, 12))
            @ rng.standard_normal((12, 12))
        )
        gram, c = a.T @ a, rng.standard_normal(12)
        solved = solve(gram, c, np.zeros(12), np.full(12, np.inf), FREE, max_rounds=20_000)
        if solved is None:
            given_up += 1
            continue
        single += solved.single_exchanges
        assert np.all(c - gram @ solved.x <= 1e-5 * np.abs(c).max() + 1e-6 * (solved.x > 0))
    return single, given_up


def test_dependent_columns_go_to_their_bound() -> None:
    """Duplicate columns make G singular: one of them will do."""
    gram = np.ones((2, 2))
    solved = solve(gram, np.ones(2), np.zeros(2), np.full(2, np.inf), FREE)
    assert solved.x.tolist() == [1.0, 0.0]
    rng = np.random.default_rng(5)
    for _ in range(20):
        a = rng.standard_normal((8, 5)) @ rng.standard_normal((5, 12))
        gram, c = a.T @ a, a.T @ rng.standard_normal(8)
        solved = solve(gram, c, np.zeros(12), np.ones(12), FREE, noise=1e-9)
        if solved is not None:
            gradient = c - gram @ solved.x
            assert np.all(gradient[solved.x < 1.0] <= 1e-8)
            assert np.all(gradient[solved.x > 0.0] >= -1e-8)


def test_dependent_columns_without_a_bound_rest() -> None:
    """Two equal columns, both free: one stays where it was told to, the other makes up for it."""
    solved = solve(
        np.ones((2, 2)), np.ones(2), np.full(2, -np.inf), np.full(2, np.inf), FREE, rest=3.0
    )
    assert sorted(solved.x.tolist()) == [-2.0, 3.0]


def test_a_column_that_only_seems_dependent_is_refused() -> None:
    """Where what is left of it matters the Gram matrix cannot tell, and the caller falls back."""
    a = np.array([[1.0, 1.0], [0.0, 1e-9]])
    b = np.array([1.0, 1.0])
    assert solve(a.T @ a, a.T @ b, np.zeros(2), np.full(2, np.inf), FREE) is None
    for sign in (1.0, -1.0):  # whichever way the column at rest wants to move
        nowhere = np.full(2, np.inf)
        assert solve(a.T @ a, a.T @ (sign * b), -nowhere, nowhere, FREE) is None
    np.testing.assert_allclose(boxreg.nnls(a, b)[0], [0.0, 1.0 + 1e-9], rtol=1e-15)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("changes", [1, 3, 8])
def test_bordered_systems_agree_with_new_factors(changes: int) -> None:
    """Whatever enters and leaves, in any mixture, one change after the other."""
    rng = np.random.default_rng(changes)
    a = rng.standard_normal((120, 60))
    gram = a.T @ a
    system = FreeSystem(gram)
    free = rng.random(60) < 0.6
    for _ in range(40):
        pull = rng.standard_normal(60)
        x, dependent = system.solve(free, pull)
        assert not len(dependent)
        assert not x[~free].any()
        np.testing.assert_allclose((gram @ x)[free], pull[free], atol=1e-10)
        flip = rng.choice(60, changes, replace=False)
        free[flip] = ~free[flip]


@pytest.mark.parametrize(("leaving", "factors"), [(0, range(1, 8)), (1, range(1, 12)), (9, [20])])
def test_a_factor_outlives_the_coordinates_it_was_made_of(leaving: int, factors) -> None:
    """Coordinates leave the matrix and others come in; a factor is made anew only where many do."""
    rng = np.random.default_rng(leaving)
    a = rng.standard_normal((300, 260))
    working, system = np.arange(200), FreeSystem((a.T @ a)[:200, :200])
    system.solve(np.ones(200, dtype=bool), np.ones(200))
    made = ghosts = 0
    for new in np.split(np.arange(200, 260), 20):
        kept = np.sort(rng.permutation(len(working))[4 * leaving :])
        working, system = np.append(working[kept], new), system.kept(kept)
        if len(working) < 20:
            working = np.append(working, np.setdiff1d(np.arange(200), working)[:100])
        gram = a[:, working].T @ a[:, working]
        ghosts += np.count_nonzero(system._base < 0)
        factor, system = system._factor, system.grown(gram)
        free = rng.random(len(working)) < 0.98
        pull = rng.standard_normal(len(working))
        x, dependent = system.solve(free, pull)
        assert not len(dependent)
        assert not x[~free].any()
        np.testing.assert_allclose((gram @ x)[free], pull[free], atol=1e-9)
        made += system._factor is not factor
    assert made in factors
    assert (ghosts > 0) == (leaving == 1)


@pytest.mark.usefixtures("large")
def test_factors_of_nearly_dependent_columns_do_not_last() -> None:
    """Within a matrix they are bordered, for the next one they are made anew."""
    a = np.random.default_rng(3).standard_normal((50, 30))
    for near, lasts in ((1.0, True), (0.01, False)):
        a[:, 29] = a[:, 28] + near * np.random.default_rng(4).standard_normal(50)
        gram = a.T @ a
        system = FreeSystem(gram[:29, :29])
        system.solve(np.ones(29, dtype=bool), np.ones(29))
        assert len(system.grown(gram)._base) == 29
        system = FreeSystem(gram)
        system.solve(np.ones(30, dtype=bool), np.ones(30))
        assert system.sound
        assert (len(system.kept(np.arange(1, 30))._base) == 30) == lasts


@pytest.mark.parametrize("size", [1, 7, 40, 128])
def test_small_systems_at_once(size: int) -> None:
    """The solution, and the least share of a column outside the span of those before it."""
    rng = np.random.default_rng(size)
    a = rng.standard_normal((2 * size, size)) * rng.uniform(0.01, 100.0, size)
    free, x = rng.random(size) < 0.7, np.full(size, np.nan)
    free[0] = True
    pull = rng.standard_normal(size)
    own = solve_small(a.T @ a, free, pull, x)
    used = a[:, free]
    np.testing.assert_allclose(x[free], np.linalg.solve(used.T @ used, pull[free]), rtol=1e-9)
    np.testing.assert_array_equal(x[~free], 0.0)
    factor = np.linalg.qr(used, mode="r")
    shares = np.abs(np.diagonal(factor)) / np.linalg.norm(used, axis=0)
    np.testing.assert_allclose(own, shares.min(), rtol=1e-9)


def test_small_systems_that_are_singular() -> None:
    for gram in (np.zeros((1, 1)), np.ones((2, 2)), np.array([[1.0, 2.0], [2.0, 1.0]])):
        free = np.ones(len(gram), dtype=bool)
        assert solve_small(gram, free, np.ones(len(gram)), np.zeros(len(gram))) == 0.0
    assert solve_small(np.zeros((2, 2)), np.zeros(2, dtype=bool), np.ones(2), np.zeros(2)) == 1.0


def test_what_contradicts_a_state() -> None:
    """By hand: G = 2 I, so that the gradient is c - 2 x; in order of the columns below."""
    table = np.array(
        [  # state, x, c, lower, upper, wish
            (FREE, 0.5, 1.0, 0.0, 1.0, FREE),  # inside
            (FREE, -0.5, -1.0, 0.0, 1.0, LOWER),
            (FREE, 1.5, 3.0, 0.0, 1.0, UPPER),
            (LOWER, 0.0, 1.0, 0.0, 1.0, FREE),  # wants to rise
            (LOWER, 0.0, 0.05, 0.0, 1.0, LOWER),  # by less than the noise
            (LOWER, 0.0, -1.0, 0.0, 1.0, LOWER),
            (UPPER, 1.0, 1.0, 0.0, 1.0, FREE),  # wants to fall
            (UPPER, 1.0, 1.95, 0.0, 1.0, UPPER),
            (UPPER, 1.0, 3.0, 0.0, 1.0, UPPER),
            (LOWER, 0.3, -1.0, -np.inf, 1.0, FREE),  # at rest where no bound is: both ways
            (LOWER, 0.3, 2.0, -np.inf, 1.0, FREE),
        ]
    )
    states, x, c, lower, upper, wish = table.T
    found, states = np.zeros(len(x), dtype=np.int8), states.astype(np.int8)
    arrays = (np.ascontiguousarray(v) for v in (c, x))
    box = (np.ascontiguousarray(v) for v in (lower, upper))
    contradictions(2.0 * np.eye(len(x)), *arrays, states, *box, np.full(len(x), 0.1), found)
    np.testing.assert_array_equal(found, wish)


@pytest.mark.usefixtures("large")
def test_small_columns_that_left_do_not_blur_large_ones() -> None:
    """They stay in the factor, a trillion times smaller than what is left."""
    rng = np.random.default_rng(5)
    a = rng.standard_normal((20, 6)) * [1e-7, 1e-3, 1.0, 1e5, 1e5, 1e5]
    system = FreeSystem(a.T @ a)
    system.solve(np.ones(6, dtype=bool), a.T @ rng.standard_normal(20))
    system, rest = system.kept(np.arange(3, 6)), a[:, 3:]
    y = rng.standard_normal(20)
    x, _ = system.solve(np.ones(3, dtype=bool), rest.T @ y)
    np.testing.assert_allclose(x, np.linalg.lstsq(rest, y)[0], rtol=1e-12)


def test_nothing_is_left_of_a_system() -> None:
    """A matrix of which all coordinates leave, and then some come."""
    system = FreeSystem(np.eye(5) + 1.0)
    system.solve(np.ones(5, dtype=bool), np.ones(5))
    system = system.kept(np.zeros(0, dtype=np.intp)).grown(np.array([[2.0]]))
    np.testing.assert_allclose(system.solve(np.array([True]), np.array([3.0]))[0], [1.5])


def test_running_out_of_rounds_is_refused() -> None:
    """No answer rather than a wrong one."""
    rng = np.random.default_rng(1)
    a = rng.standard_normal((40, 30))
    assert (
        solve(a.T @ a, a.T @ rng.standard_normal(40), np.zeros(30), np.ones(30), max_rounds=1)
        is None
    )


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_the_fallback_alone_is_enough(problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """With pivoting switched off the active-set fallback finds the same objective."""
    usual = boxreg.solve(*problem.data, solver="working_set", tol=1e-10)
    monkeypatch.setattr(growing_set, "block_pivoting", lambda *a, **k: None)
    fallen_back = boxreg.solve(*problem.data, solver="working_set", tol=1e-10)
    allowance = usual.gap + fallen_back.gap + 1e-14 * usual.objective
    assert abs(usual.objective - fallen_back.objective) <= allowance


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_singular_working_sets_fall_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generated problems with dependent columns take the fallback, and are solved."""
    calls = []
    fallback = working_set.by_orthogonal_factors
    monkeypatch.setattr(
        working_set, "by_orthogonal_factors", lambda *a: calls.append(1) or fallback(*a)
    )
    for family in FAMILIES:
        for seed in range(6):
            problem = generated(family, seed)
            result = boxreg.solve(*problem.data, solver="working_set", tol=1e-6, max_iter=200)
            assert_certified(result)
    assert calls


def test_few_rounds_and_little_work() -> None:
    """On the paper's kind of problem: a few working sets, far less work than the plain active set."""
    workload = nnls_table1(1500, m=600)
    ours = boxreg.solve(workload.A, workload.y, tol=1e-9)
    steps = boxreg.solve(workload.A, workload.y, solver=ActiveSet.plain(), tol=1e-9)
    assert ours.settings["solver"] == "working_set"
    assert ours.n_iter <= 6
    assert ours.work < steps.work / 2


def test_many_coordinates_inside_start_from_the_bounds(
    change: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where 0 is inside a huge box the first Gram matrix is not that of everything."""
    change(largest_start=10)
    rng = np.random.default_rng(2)
    held = reduced(rng.standard_normal((60, 40)), rng.standard_normal(60), -0.1, 0.1)
    monkeypatch.setattr(prediction, "predicted", lambda point: point)
    first = prediction.first_point(Point(held, np.zeros(40)))
    assert np.all(np.abs(first.x) == 0.1)
    result = boxreg.solve(held.design, held.target, -0.1, 0.1, tol=1e-12)
    assert result.success
