"""The compiled active set on orthogonal factors: any bounds, costs, and columns however alike."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from scipy import sparse

import boxreg
from boxreg.dense_fit import Fit, fit, nonnegative_fit
from boxreg.settings import using
from judge import make
from references.exact import exact_solution
from references.families import FAMILIES, generated

INF = np.inf


def value(A: np.ndarray, b: np.ndarray, x: np.ndarray, cost: np.ndarray | None = None) -> float:
    """½ ||b - A x||² + cᵀx with long accumulation."""
    wide = np.longdouble
    rest = b.astype(wide) - A.astype(wide) @ x.astype(wide)
    aside = 0.0 if cost is None else cost.astype(wide) @ x.astype(wide)
    return float(rest @ rest / 2 + aside)


def fitted(
    A: np.ndarray,
    b: np.ndarray,
    lower: np.ndarray | float = 0.0,
    upper: np.ndarray | float = INF,
    *,
    cost: np.ndarray | None = None,
    threshold: float = 0.0,
    rounds: int | None = None,
) -> Fit:
    """One call, from the point of the box nearest to 0."""
    n = A.shape[1]
    low, high = np.broadcast_to(lower, n) * 1.0, np.broadcast_to(upper, n) * 1.0
    columns = np.ascontiguousarray(A.T)
    return fit(columns, b, low, high, cost=cost, threshold=threshold, rounds=rounds)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_objective_is_that_of_exact_arithmetic(family: str) -> None:
    """On every family of generated problems with their own bounds: boxes, one-sided and none.

    Where columns depend on each other but for rounding, the exact solution may have entries of 1e16, out
    of reach: then no slope, computed exactly, points into the box by more than its rounding error.
    """
    solved = reached = 0
    for seed in range(40):
        problem = generated(family, seed)
        A, b = np.array(problem.A, dtype=float), np.array(problem.y, dtype=float)
        low, high = np.array(problem.lower, dtype=float), np.array(problem.upper, dtype=float)
        if not A.size:
            continue
        found = fitted(A, b, low, high)
        assert np.all((low <= found.x) & (found.x <= high))
        if not found.solved:
            continue
        solved += 1
        x = [Fraction(t) for t in found.x]
        rest = [
            Fraction(v) - sum((Fraction(a) * t for a, t in zip(row, x, strict=True)), Fraction(0))
            for v, row in zip(b, A, strict=True)
        ]
        size, norms = float(np.linalg.norm(b - A @ found.x)), np.linalg.norm(A, axis=0)
        reach = float(np.linalg.norm(b) + norms @ np.abs(found.x))
        assert found.norm == pytest.approx(size, abs=1e-13 * reach)
        excess = sum((r * r for r in rest), Fraction(0)) / 2
        excess -= exact_solution(A, b, low, high).objective
        if float(excess) <= 1e-13 * float(b @ b) + (1e-13 * reach) ** 2:
            reached += 1
            continue
        noise = 8.0 * np.finfo(float).eps * (len(b) + 2) * reach * norms
        for j in range(len(x)):
            slope = float(
                sum((Fraction(a) * r for a, r in zip(A[:, j], rest, strict=True)), Fraction(0))
            )
            assert slope <= noise[j] or x[j] == high[j]
            assert slope >= -noise[j] or x[j] == low[j]
    assert solved >= 25
    assert reached >= 0.6 * solved


def dictionary(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Columns that resemble their neighbours, and a right-hand side made of three of them."""
    if kind == "decays":
        t, rates = np.linspace(0.0, 1.0, 60), np.geomspace(0.5, 40.0, 80)
        A = np.exp(-np.outer(t, rates))
    elif kind == "peaks":
        t, centres = np.linspace(0.0, 1.0, 90), np.linspace(0.0, 1.0, 150)
        A = np.exp(-(((t[:, None] - centres) / 0.05) ** 2))
    else:
        A = rng.standard_normal((80, 10)) @ rng.standard_normal((10, 60))
        A += 1e-9 * rng.standard_normal(A.shape)
    b = A[:, [5, 20, 50]] @ rng.uniform(0.5, 2.0, 3) + 1e-3 * rng.standard_normal(len(A))
    return A, b


@pytest.mark.parametrize("kind", ["decays", "peaks", "low rank"])
@pytest.mark.parametrize(
    ("lower", "upper"), [(0.0, INF), (0.0, 0.5), (-1.0, 1.0), (-INF, 0.7), (-0.3, INF)]
)
def test_ill_conditioned_columns(kind: str, lower: float, upper: float) -> None:
    """Never worse than SciPy's solvers, whose objective is off by 1e-12 of ½||b||² at most."""
    for seed in range(6):
        A, b = dictionary(kind, np.random.default_rng(seed))
        found = fitted(A, b, lower, upper)
        assert found.solved
        assert np.all((found.x >= lower) & (found.x <= upper))
        rival = scipy.optimize.lsq_linear(
            A, b, (lower, upper), method="bvls", tol=1e-14, max_iter=900
        )
        best = value(A, b, np.clip(rival.x, lower, upper))
        assert value(A, b, found.x) <= best + 1e-12 * (b @ b)


def test_costs_move_x_along_columns_that_depend_on_each_other() -> None:
    """x₀ + x₁ = 3 fits; x₁ costs less, and has room for 2 only: x = (1, 2), by hand."""
    A, b = np.ones((1, 2)), np.array([3.0])
    found = fitted(A, b, upper=np.array([INF, 2.0]), cost=np.array([0.5, 0.25]))
    assert found.solved
    np.testing.assert_allclose(found.x, [0.5, 2.0], rtol=1e-15)  # x₀ = 3 - 2 - 0.5
    found = fitted(A, b, upper=np.array([INF, 2.0]), cost=np.array([0.5, 0.75]))
    np.testing.assert_allclose(found.x, [2.5, 0.0], rtol=1e-15)


@pytest.mark.parametrize("seed", range(30))
def test_costs_on_integers_against_every_choice_of_bounds(seed: int) -> None:
    """Small boxes, columns that depend on each other: the best vertex or face is found by L-BFGS-B."""
    rng = np.random.default_rng(seed)
    m, n = 3, 6
    A = rng.integers(-2, 3, (m, n)) * 1.0
    b, cost = rng.integers(-4, 5, m) * 1.0, rng.integers(-3, 4, n) / 4.0
    found = fitted(A, b, -1.0, 2.0, cost=cost)
    rival = scipy.optimize.minimize(
        lambda x: (0.5 * np.sum((A @ x - b) ** 2) + cost @ x, A.T @ (A @ x - b) + cost),
        np.zeros(n),
        jac=True,
        bounds=[(-1.0, 2.0)] * n,
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    assert found.solved
    assert value(A, b, found.x, cost) <= rival.fun + 1e-9


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200, 1e-200])
def test_declines_norms_that_are_not_usual(bad: float) -> None:
    """NaN, inf, and norms whose squares leave the range of float64."""
    A = np.random.default_rng(1).random((6, 4))
    A[:, 2] = bad
    assert not fitted(A, np.ones(6)).solved
    if bad != 1e-200:
        b = np.ones(6)
        b[1] = bad
        assert not fitted(np.ones((6, 2)), b).solved


def test_as_many_columns_as_rows_and_no_more() -> None:
    """With m independent columns nothing is left to fit, and none can be added."""
    rng = np.random.default_rng(7)
    for m, n in ((3, 40), (8, 200), (1, 5)):
        for draw in (rng.random, rng.standard_normal):
            A, b = draw((m, n)), draw(m)
            found = fitted(A, b)
            assert found.solved
            assert np.count_nonzero(found.x) <= m
            assert found.norm == pytest.approx(float(scipy.optimize.nnls(A, b)[1]), abs=1e-12)


def test_fixed_variables_and_zero_columns_stay() -> None:
    """lower = upper, and a column that says nothing."""
    A = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    found = fitted(A, np.array([3.0, 1.0]), np.array([0.0, 0.0, 1.0]), np.array([9.0, 9.0, 1.0]))
    assert found.solved
    np.testing.assert_array_equal(found.x, [2.0, 0.0, 1.0])


def test_too_few_rounds_are_told() -> None:
    """The best point so far, and a warning."""
    rng = np.random.default_rng(2)
    A, b = rng.random((80, 60)), rng.random(80)
    short, whole = fitted(A, b, rounds=1), fitted(A, b)
    assert not short.solved
    assert whole.solved
    assert short.norm > whole.norm
    with pytest.warns(boxreg.ConvergenceWarning, match="maxiter: 1 steps"):
        boxreg.nnls(A, b, maxiter=1)


def test_the_threshold_keeps_columns_out() -> None:
    """A slope below atol does not free its column."""
    A, b = np.eye(3), np.array([1.0, 0.1, -1.0])
    np.testing.assert_array_equal(boxreg.nnls(A, b, atol=0.5)[0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(boxreg.nnls(A, b)[0], [1.0, 0.1, 0.0])


ARRAYS: dict[str, Callable[[np.ndarray], object]] = {
    "by columns": np.asfortranarray,
    "strided": lambda A: np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda A: np.frombuffer(A.tobytes()).reshape(A.shape),
    "another dtype object": lambda A: A.view(np.dtype(A.dtype.str).newbyteorder("=")),
    "big-endian": lambda A: A.astype(">f8"),
    "unaligned": lambda A: np.frombuffer(b"0" + A.tobytes(), offset=1).reshape(A.shape),
    "list": lambda A: A.tolist(),
    "matrix": lambda A: A.view(np.matrix),
    "masked, nothing hidden": np.ma.masked_array,
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_the_same_numbers_in_any_array(kind: str) -> None:
    """All of them take the compiled call, and leave the caller's array as it was."""
    rng = np.random.default_rng(3)
    A, b = rng.random((30, 8)), rng.random(30)
    expected = nonnegative_fit(A, b, 0.0, None)
    given = ARRAYS[kind](A)
    found = nonnegative_fit(given, b, 0.0, None)
    assert found is not None
    assert expected is not None
    np.testing.assert_array_equal(np.asarray(given), A)
    np.testing.assert_array_equal(found.x, expected.x)
    again = boxreg.nnls(given, ARRAYS["list"](b))
    np.testing.assert_array_equal(again[0], expected.x)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.bool_])
def test_other_kinds_of_numbers(dtype: type) -> None:
    """As in float64, into which they go without loss."""
    rng = np.random.default_rng(5)
    A, b = rng.integers(0, 2, (20, 6)).astype(dtype), rng.integers(0, 2, 20).astype(dtype)
    x, norm = boxreg.nnls(A, b)
    expected = scipy.optimize.nnls(A.astype(float), b.astype(float))
    np.testing.assert_allclose(x, expected[0], atol=1e-12)
    assert norm == pytest.approx(expected[1])


@pytest.mark.parametrize(
    ("A", "b", "message"),
    [
        (np.ones((3, 2)), np.ones(4), "b: expected a vector with 3 entries"),
        (np.ones((3, 2)), np.ones((3, 2)), "b: expected a vector with 3 entries"),
        (np.ones(3), np.ones(3), "A: expected a matrix"),
        (np.full((3, 2), np.nan), np.ones(3), "A: contains NaN"),
        (np.ones((3, 2)), np.full(3, np.inf), "b: contains inf"),
        ([["a", "b"]], [1.0], "A"),
    ],
)
def test_what_cannot_be_solved_is_explained(A: object, b: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        boxreg.nnls(A, b)


def test_solve_begins_with_the_compiled_answer() -> None:
    """The first check of a small problem proves it; a limit on steps is a limit on everything."""
    rng = np.random.default_rng(4)
    for A in (rng.random((40, 20)), rng.standard_normal((40, 20))):
        for bounds in ((0.0, INF), (-0.05, 0.1), (-INF, 0.02), (-INF, INF)):
            result = boxreg.solve(A, rng.random(40), *bounds, tol=1e-10)
            assert result.success
            assert 0 < result.n_iter <= 3 * 20 + 30
            assert result.settings["solver"] == "compiled_active_set"
            assert result.certificate.rigorous
    with pytest.warns(boxreg.ConvergenceWarning):
        assert not boxreg.solve(A, np.ones(40), max_iter=0).success


def test_terms_and_sparse_columns_are_part_of_the_small_problem() -> None:
    """Weights, a ridge term, costs: nothing is left to do for the general solver."""
    rng = np.random.default_rng(6)
    A, y = np.where(rng.random((40, 20)) < 0.3, rng.random((40, 20)), 0.0), rng.random(40)
    terms = {"sample_weight": rng.random(40), "ridge": 0.3, "linear": np.full(20, 0.1)}
    for name in (*terms, "all"):
        chosen = terms if name == "all" else {name: terms[name]}
        for held in (A, sparse.csc_array(A)):
            result = boxreg.solve(held, y, **chosen)
            assert result.settings["solver"] == "compiled_active_set"
            with using(small_entries=0):
                general = boxreg.solve(held, y, **chosen)
            assert result.objective == pytest.approx(general.objective, rel=1e-7)


def test_calls_that_overlap_in_time() -> None:
    """The answers are each call's own."""
    rng = np.random.default_rng(8)
    problems = [(rng.random((100, k)), rng.random(100)) for k in (90, 45, 90, 60)]
    alone = [nonnegative_fit(A, b, 0.0, None) for A, b in problems]
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda p: nonnegative_fit(*p, 0.0, None), problems * 50))
    for index, found in enumerate(again):
        expected = alone[index % 4]
        assert found is not None
        assert expected is not None
        np.testing.assert_array_equal(found.x, expected.x)


def test_where_the_largest_slopes_lead_nowhere() -> None:
    """A wide problem of integers that SciPy's order does not solve in its 3 n steps."""
    problem = make("wide-planted-least_squares-nonnegative", 1015)
    x, norm = boxreg.nnls(problem.A, problem.y)
    assert problem.excess(x) <= Fraction(1e-12) * problem.optimum
    assert norm == pytest.approx(np.sqrt(2.0 * float(problem.optimum)), rel=1e-9)
