"""Columns that are nearly all the same: x of 1e10, whose own residual says nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

import boxreg
from boxreg.point import Point
from boxreg.solvers.last_resort import solve_by_active_set
from building import reduced
from rational import exact, inner
from references.problems import generated

RNG = np.random.default_rng(4)


def exact_objective(A: np.ndarray, y: np.ndarray, x: np.ndarray) -> float:
    """½ ||A x - y||² in rational arithmetic, rounded once."""
    residual = [inner(exact(row), exact(x)) - value for row, value in zip(A, exact(y), strict=True)]
    return float(inner(residual, residual) / 2)


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("seed", [9, 60, 78, 222, 252, 342])
def test_no_worse_than_other_solvers_on_columns_of_rank_one(seed: int) -> None:
    """Where gradients at the point alone had led to objectives higher by 6e-11 to 0.2 of P₀.

    Objectives are exact: next to x of size 1e6 those of floats differ in the tenth digit.
    """
    problem = generated("collinear", seed)
    A, y = np.asarray(problem.A, dtype=float), np.asarray(problem.y, dtype=float)
    result = boxreg.solve(A, y, problem.lower, problem.upper)
    others = [lsq_linear(A, y, (problem.lower, problem.upper), method="bvls", tol=1e-15).x]
    if seed == 222:
        others.append(nnls(A, y)[0])
    ours, *theirs = (exact_objective(A, y, x) for x in (result.x, *others))
    rounding = 1e-15 * np.linalg.norm(np.abs(A) @ np.abs(result.x))
    # A lower objective takes x of 1e6 at seed 222; the gap proves how little there is to gain.
    proved = result.gap if result.success else 0.0
    assert ours <= min(theirs) + max(1e-11 * 0.5 * float(y @ y), proved) + rounding**2


@pytest.mark.parametrize("upper", [0.3, np.inf])
@pytest.mark.parametrize("lower", [-0.2, 0.0, -np.inf])
def test_other_coordinates_are_held_still(lower: float, upper: float) -> None:
    """The solution over some columns, rows weighted."""
    A, y = RNG.standard_normal((12, 7)), RNG.standard_normal(12)
    weights = RNG.uniform(0.5, 2.0, 12)
    problem = reduced(A, y, lower, upper, sample_weight=weights)
    start = np.clip(np.full(7, 0.1), lower, upper)
    used = np.array([0, 2, 3, 5, 6])
    found = solve_by_active_set(Point(problem, start), used)
    root = np.sqrt(weights)
    rest = y - A[:, [1, 4]] @ start[[1, 4]]
    expected = lsq_linear(root[:, None] * A[:, used], root * rest, (lower, upper), tol=1e-14)
    np.testing.assert_allclose(found.x[used], expected.x, atol=1e-7)
    np.testing.assert_array_equal(found.x[[1, 4]], start[[1, 4]])
    assert np.all((found.x >= lower) & (found.x <= upper))
