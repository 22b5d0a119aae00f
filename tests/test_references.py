"""The references and the problem generators, tested on their own."""

from __future__ import annotations

import itertools
from fractions import Fraction as F
from random import Random
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from references.enumeration import enumerated_optimum
from references.exact import ExactSolution, KKTError, certify, exact_solution
from references.extended import extended_solution
from references.integers import solve_semidefinite
from references.problems import FAMILIES, TABLE, BoxProblem, generated
from references.start import float_start

Array: TypeAlias = NDArray[np.float64]
Data: TypeAlias = tuple[Array, Array, Array, Array]

INF = np.inf
SEEDS = range(15)

table = pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
extended_precision = pytest.mark.skipif(
    bool(np.finfo(np.longdouble).eps > 1e-18), reason="np.longdouble is no wider than float64 here"
)
families = pytest.mark.parametrize("family", FAMILIES)


def exactly(value: np.longdouble) -> F:
    return F(*value.as_integer_ratio())


# (A, y, lower, upper) and, worked by hand, (x, theta, w, objective).
BY_HAND = {
    "line-fit-inside": (
        ([[1, 1], [1, 2], [1, 3]], [1, 2, 2], [0, 0], [INF, INF]),
        ([F(2, 3), F(1, 2)], [F(-1, 6), F(1, 3), F(-1, 6)], [0, 0], F(1, 12)),
    ),
    "second-at-lower": (
        ([[2, 1], [1, 3]], [2, -1], [0, 0], [INF, INF]),
        ([F(3, 5), 0], [F(4, 5), F(-8, 5)], [0, -4], F(8, 5)),
    ),
    "first-at-upper": (
        ([[1, 2], [3, 1]], [1, 3], [0, -1], [0.5, 1]),
        ([F(1, 2), F(1, 2)], [F(-1, 2), 1], [F(5, 2), 0], F(5, 8)),
    ),
    "degenerate-at-lower": (
        ([[1, 0], [0, 1]], [0, -1], [0, 0], [INF, 1]),
        ([0, 0], [0, -1], [0, -1], F(1, 2)),
    ),
    "fixed-and-negative-lower": (
        ([[3, 1]], [1], [-2, 1], [INF, 1]),
        ([0, 1], [0], [0, 0], 0),
    ),
}


@pytest.mark.parametrize("case", BY_HAND.values(), ids=BY_HAND.keys())
def test_exact_matches_hand_computation(case: tuple[Any, Any]) -> None:
    data, (x, theta, w, objective) = case
    solution = exact_solution(*data)
    assert solution == ExactSolution(x, theta, w, objective)
    assert solution.signs().tolist() == [int(np.sign(v)) for v in w]
    assert solution.signs().dtype == np.int8
    assert solution.objective_float == float(objective)


def test_semidefinite_solve_drops_dependent_columns() -> None:
    columns = np.array([[1, 2, 0, 1], [0, 0, 0, 1], [1, 2, 0, 0]])
    gram = (columns.T @ columns).tolist()
    kept, numerators, denominator = solve_semidefinite(gram, gram[1])
    assert kept == [0, 3]
    assert [F(p, denominator) for p in numerators] == [2, 0]


@st.composite
def tiny_integer_problems(draw: st.DrawFn) -> Data:
    m, n = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    entries = st.integers(-3, 3)
    A = np.array(draw(st.lists(entries, min_size=m * n, max_size=m * n)), float).reshape(m, n)
    y = np.array(draw(st.lists(entries, min_size=m, max_size=m)), float)
    lower = np.array(draw(st.lists(st.integers(-2, 1), min_size=n, max_size=n)), float)
    widths = st.sampled_from([0.0, 0.5, 1.0, 2.0, INF])
    return A, y, lower, lower + draw(st.lists(widths, min_size=n, max_size=n))


@settings(max_examples=150, deadline=None)
@given(tiny_integer_problems(), st.randoms(use_true_random=False))
def test_exact_matches_enumeration_of_all_bound_patterns(data: Data, random: Random) -> None:
    objective, theta = enumerated_optimum(*data)
    start = [random.uniform(-3, 3) for _ in data[2]]
    for solution in exact_solution(*data), exact_solution(*data, start=start):
        assert solution.objective == objective
        assert solution.theta == theta


@families
def test_exact_is_independent_of_its_start(family: str) -> None:
    for seed in SEEDS:
        problem = generated(family, seed)
        finite = np.minimum(problem.upper, problem.lower + 1)
        expected = exact_solution(*problem.data)
        for start in problem.lower, finite, (problem.lower + finite) / 2:
            solution = exact_solution(*problem.data, start=start)
            assert solution.theta == expected.theta
            assert solution.w == expected.w


@pytest.mark.parametrize("family", ["gaussian", "nonnegative", "wide", "tall", "mixed_bounds"])
def test_exact_matches_scipy(family: str) -> None:
    for seed in SEEDS:
        A, y, lower, upper = generated(family, seed).data
        upper = np.maximum(upper, lower + 1e-3)  # SciPy refuses fixed variables
        x = lsq_linear(A, y, (lower, upper), method="bvls", tol=1e-15).x
        theta = np.array(exact_solution(A, y, lower, upper).theta, dtype=float)
        np.testing.assert_allclose(y - A @ x, theta, rtol=0, atol=1e-12 * (1 + abs(y).max()))


def assert_extended_covers_exact(problem: BoxProblem) -> None:
    exact, extended = exact_solution(*problem.data), extended_solution(*problem.data)
    for value, error, reference in zip(extended.w, extended.w_error, exact.w, strict=True):
        assert abs(exactly(value) - reference) <= exactly(error)
    error = abs(exactly(extended.objective) - exact.objective)
    assert error <= exactly(extended.objective_error)
    undecided = extended.signs() == 0
    assert (undecided | (extended.signs() == exact.signs())).all()
    np.testing.assert_array_equal(extended.x, np.clip(extended.x, problem.lower, problem.upper))


@families
def test_extended_covers_exact_on_generated_problems(family: str) -> None:
    for seed in SEEDS:
        assert_extended_covers_exact(generated(family, seed))


@extended_precision
@table
def test_extended_covers_exact_and_decides_table(problem: BoxProblem) -> None:
    assert_extended_covers_exact(problem)
    exact, extended = exact_solution(*problem.data), extended_solution(*problem.data)
    np.testing.assert_array_equal(extended.signs(), exact.signs())
    scale = exact.objective + F(1, 10**20) * sum(F(v) ** 2 for v in problem.y.tolist())
    assert abs(exactly(extended.objective) - exact.objective) <= scale / 10**16


@extended_precision
def test_extended_solves_medium_problem() -> None:
    rng = np.random.default_rng(0)
    m, n = 120, 200
    A = np.abs(rng.standard_normal((m, n)))
    A[:, -40:] = A[:, :40]
    y = A @ np.where(rng.random(n) < 0.1, 1.0, 0.0) + rng.standard_normal(m)
    upper = np.where(np.arange(n) % 2, INF, 0.5)
    solution = extended_solution(A, y, np.zeros(n), upper)
    inside = (solution.x > 0) & (solution.x < upper)
    assert (np.abs(solution.w[inside]) <= solution.w_error[inside]).all()
    assert (solution.signs()[solution.x == 0] <= 0).all()
    assert (solution.signs()[solution.x == upper] >= 0).all()
    assert solution.objective_error <= 1e-13 * solution.objective
    assert solution.w_error.max() <= 1e-11 * np.abs(solution.w).max()


@families
def test_certify_rejects_every_small_move_that_changes_the_fit(family: str) -> None:
    for seed in SEEDS:
        problem = generated(family, seed)
        solution = exact_solution(*problem.data)
        for j, step in itertools.product(range(len(solution.x)), (F(1, 10**40), F(-1, 10**40))):
            moved = list(solution.x)
            moved[j] += step
            stays = float(problem.lower[j]) <= moved[j] <= float(problem.upper[j])
            if problem.A[:, j].any() or not stays:
                # Theta is unique, so no point with another fit is a solution.
                with pytest.raises(KKTError, match="outside" if not stays else "wrong sign"):
                    certify(*problem.data, moved)


@pytest.mark.parametrize("family", ["planted_degenerate", "zero_residual"])
def test_planted_coordinates_are_exactly_degenerate(family: str) -> None:
    at_bound = 0
    for seed in range(150):
        problem = generated(family, seed)
        solution = exact_solution(*problem.data)
        assert problem.planted
        for j in problem.planted:
            assert solution.w[j] == 0
            at_bound += solution.x[j] in (problem.lower[j], problem.upper[j])
    assert at_bound >= 150


def test_nearly_degenerate_multipliers_are_tiny_and_of_both_signs() -> None:
    signs = []
    for seed in range(150):
        problem = generated("nearly_degenerate", seed)
        solution = exact_solution(*problem.data)
        w = np.array(solution.w, dtype=float)
        sizes = np.linalg.norm(problem.A, axis=0) * np.sqrt(2 * solution.objective_float)
        signs += np.sign(w[(w != 0) & (abs(w) < 2e-12 * sizes)]).tolist()
    assert signs.count(-1) > 50
    assert signs.count(1) > 20


@families
def test_generation_is_deterministic_read_only_and_mixes_bounds(family: str) -> None:
    bounded = set()
    for seed in range(30):
        problem, again = generated(family, seed), generated(family, seed)
        assert (problem.name, problem.planted) == (again.name, again.planted)
        for first, second in zip(problem.data, again.data, strict=True):
            np.testing.assert_array_equal(first, second)
            assert not first.flags.writeable
        assert max(problem.A.shape) <= 8
        assert (problem.lower <= problem.upper).all()
        bounded.update(np.isfinite(problem.upper).tolist())
    assert bounded == {False, True}


def test_table_names_are_unique() -> None:
    assert len({p.name for p in TABLE}) == len(TABLE)


@table
def test_projected_gradient_solves_table(problem: BoxProblem) -> None:
    norms = np.linalg.norm(problem.A, axis=0)
    norms[norms == 0] = 1
    A, y = problem.A / norms, problem.y
    lower, upper = problem.lower * norms, problem.upper * norms
    solution = np.array(exact_solution(*problem.data).x, dtype=float) * norms
    top = np.where(np.isinf(upper), lower + 10 * np.abs(solution - lower).max(), upper)
    step = 1 / max(float(np.linalg.norm(A, 2)) ** 2, 1e-300)
    x = lower
    for _ in range(20_000):
        theta = y - A @ x
        w = A.T @ theta
        gap = np.maximum(w, 0) @ np.maximum(top - x, 0) + np.maximum(-w, 0) @ (x - lower)
        if gap <= 1e-10 * (max(y @ y, theta @ theta) / 2 if y.any() else 1.0):
            return
        x = np.clip(x + step * w, lower, upper)
    pytest.fail(f"relative gap {gap:.1e} after 20,000 iterations")


@table
def test_float_start_is_inside_the_box(problem: BoxProblem) -> None:
    x = float_start(*problem.data)
    np.testing.assert_array_equal(x, np.clip(x, problem.lower, problem.upper))
