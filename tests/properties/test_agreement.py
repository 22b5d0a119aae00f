"""Every solver, region and storage finds the reference solution of every problem of the table."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import boxreg
from judging import DUALS, REGIONS, SOLVERS, VARIANTS, assert_certified, assert_feasible
from references.extended import ExtendedSolution, extended_solution
from references.problems import TABLE, BoxProblem

pytestmark = pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")

_REFERENCES: dict[str, ExtendedSolution] = {}


def reference(problem: BoxProblem) -> ExtendedSolution:
    if problem.name not in _REFERENCES:
        _REFERENCES[problem.name] = extended_solution(*problem.data)
    return _REFERENCES[problem.name]


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("solver", VARIANTS)
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_agrees_with_reference(problem: BoxProblem, solver: str, storage: str) -> None:
    """Objective within 1e-9 of the reference's: relative to P*, or to P₀ where P* is as good as 0.

    With every region and every dual update.
    """
    A = sparse.csr_array(problem.A) if storage == "sparse" else problem.A
    known = reference(problem)
    optimum = float(0.5 * np.sum(known.theta**2))
    signs = np.sign(np.where(np.abs(known.w) > known.w_error, known.w, 0))
    for region, dual in product(REGIONS, DUALS):
        result = boxreg.solve(
            *(A, problem.y, problem.lower, problem.upper),
            solver=VARIANTS[solver],
            region=region,
            dual=DUALS[dual],
            tol=1e-10,
        )
        scale = optimum if optimum > 1e-12 * result.scale else result.scale
        assert abs(result.objective - optimum) <= 1e-9 * scale, (region, dual)
        assert_feasible(result, problem)
        assert_certified(result)
        assert not np.any((result.screened == -1) & (signs > 0))
        assert not np.any((result.screened == 1) & (signs < 0))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_screening_changes_nothing_but_the_cost(problem: BoxProblem, solver: str) -> None:
    """With and without screening the objectives agree within their gaps."""
    plain = boxreg.solve(*problem.data, solver=solver, tol=1e-10, screening=False)
    screened = boxreg.solve(*problem.data, solver=solver, tol=1e-10)
    assert not plain.screened.any()
    allowance = plain.gap + screened.gap + 1e-14 * plain.objective
    assert abs(plain.objective - screened.objective) <= allowance


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("power", [-20, 20])
def test_scaling_changes_x_in_proportion(solver: str, power: int) -> None:
    """(A, y) → (cA, cy) keeps x; the powers of two nearest 1e±20 make it exact up to rounding."""
    problem = next(p for p in TABLE if p.name == "nnls-tall-nonnegative")
    c = 2.0 ** round(power * np.log2(10))
    plain = boxreg.solve(*problem.data, solver=solver, tol=1e-12)
    scaled = boxreg.solve(c * problem.A, c * problem.y, solver=solver, tol=1e-12)
    np.testing.assert_allclose(scaled.x, plain.x, rtol=1e-12, atol=1e-14)
    assert scaled.n_iter == plain.n_iter
