"""Norm bounds, updated factors, work accounts and the schedule of checks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg.smoothness import Smoothness
from boxreg.solvers import ActiveSet
from boxreg.spectral import SquaredNorm
from boxreg.stopping import CheckSchedule
from boxreg.updated_qr import UpdatedQR
from boxreg.workloads import FIGURE1_BOXES, bvls_figure1, bvls_table2, nnls_table1
from building import reduced
from references.problems import FAMILIES, TABLE, generated


def true_squared_norm(problem, smoothness=None) -> float:
    """Largest eigenvalue of the Gram matrix of the open columns of √L A, scaled to unit norm."""
    used = np.flatnonzero(problem.open)
    if not len(used):
        return 0.0
    columns = problem.design.columns(used)
    if smoothness is not None:
        columns = smoothness.root_times(columns.T).T
    norms = np.linalg.norm(columns, axis=0)
    return float(np.linalg.norm(columns / norms, 2) ** 2)


def estimate(problem) -> SquaredNorm:
    """The bound for the problem's own constants."""
    return SquaredNorm.estimate(problem, problem.smoothness)


@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_norm_bound_is_never_too_small(problem) -> None:
    """On the table, dense, sparse and as an operator; and not much too large."""
    norms = np.linalg.norm(problem.A, axis=0)
    operator = boxreg.operator(aslinearoperator(problem.A), norms)
    for design in (problem.A, sparse.csc_array(problem.A), operator):
        held = reduced(design, problem.y, problem.lower, problem.upper)
        weights = Smoothness.made(1.0 + np.arange(len(problem.y)) ** 2)
        for smoothness in (held.smoothness, Smoothness(7.0), weights):
            if design is operator and smoothness.rows is not None:
                continue  # norms under weights are bounds there, see below
            true = true_squared_norm(held, smoothness)
            bound = SquaredNorm.estimate(held, smoothness).value
            assert bound >= true
            assert bound <= max(1.1 * true, 1.1)


@pytest.mark.parametrize("family", FAMILIES)
def test_norm_bound_on_generated_problems(family: str) -> None:
    """The same on hostile ones."""
    for seed in range(40):
        held = reduced(*generated(family, seed).data)
        assert estimate(held).value >= true_squared_norm(held) * (1 - 1e-12)


@pytest.mark.parametrize("shape", [(200, 300), (300, 200), (100, 1000)])
def test_norm_bound_on_larger_matrices(shape: tuple[int, int]) -> None:
    """Gaussian (a Lanczos estimate) and non-negative (a proved bound), and after columns left."""
    rng = np.random.default_rng(0)
    for A in (rng.standard_normal(shape), np.abs(rng.standard_normal(shape))):
        held = reduced(A, rng.standard_normal(shape[0]), 0.0, 1.0)
        found = estimate(held)
        true = true_squared_norm(held)
        assert true <= found.value <= 1.1 * true
        kept = np.arange(0, shape[1], 3)
        fewer = held.fix(np.arange(shape[1]) % 3 > 0, np.zeros(shape[1], bool)).keep(kept)
        assert true_squared_norm(fewer) <= found.restrict(fewer, kept).value


def test_norm_bound_of_an_operator_with_weights() -> None:
    """||√L A d||² <= Λ sum_j r_j² d_j² with the bounds r_j on the norms that are at hand."""
    rng = np.random.default_rng(3)
    A, weights = rng.standard_normal((30, 20)), Smoothness.made(rng.uniform(0.1, 9.0, 30))
    operator = boxreg.operator(aslinearoperator(A), np.linalg.norm(A, axis=0))
    held = reduced(operator, rng.standard_normal(30), 0.0, 1.0)
    reach = held.reach_under(weights)
    exact = np.linalg.norm(weights.root_times(A.T), axis=1)
    assert np.all(reach >= exact)
    true = float(np.linalg.norm(weights.root_times((A / reach).T), 2) ** 2)
    assert SquaredNorm.estimate(held, weights).value >= true


@pytest.mark.parametrize("weighted", [False, True])
def test_a_norm_estimate_that_is_too_small_is_corrected(weighted: bool) -> None:
    """A bound that a step contradicts is raised at once, and the objective still falls."""
    from boxreg.point import Point
    from boxreg.solvers.projected_gradient import GradientState, ProjectedGradient

    rng = np.random.default_rng(1)
    terms = {"sample_weight": rng.uniform(0.5, 2.0, 30)} if weighted else {}
    held = reduced(rng.standard_normal((30, 20)), rng.standard_normal(30), -1.0, 1.0, **terms)
    wrong = SquaredNorm(1e-3, held.smoothness, np.ones(20))
    state = GradientState(Point(held, np.zeros(20)), squared_norm=wrong)
    state = ProjectedGradient().step(state, 50)
    assert state.squared_norm.value > 0.3 * true_squared_norm(held, held.smoothness)
    after = ProjectedGradient().step(state, 2000)
    exact = boxreg.solve(held.design, held.target, -1.0, 1.0, tol=1e-12, **terms)
    assert after.point.objective == pytest.approx(exact.objective, rel=1e-6)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(0, 5))
def test_updated_factors_stay_factors(moves: list[int], seed: int) -> None:
    """After any sequence of additions and removals Q R is the matrix and Q is orthonormal."""
    rng = np.random.default_rng(seed)
    factor, columns = UpdatedQR(12, capacity=1), []
    for move in moves:
        if move < 6 or not columns:
            column = rng.standard_normal(12)
            if factor.append(column):
                columns.append(column)
        else:
            position = move % len(columns)
            factor.remove(position)
            del columns[position]
        A = np.array(columns).T.reshape(12, len(columns))
        np.testing.assert_allclose(factor.q @ factor.r, A, atol=1e-12)
        np.testing.assert_allclose(factor.q.T @ factor.q, np.eye(len(columns)), atol=1e-13)
        assert np.allclose(np.tril(factor.r, -1), 0.0)


def test_dependent_columns_are_not_added() -> None:
    """A column in the span, the thirteenth of twelve dimensions, and the zero column."""
    rng = np.random.default_rng(0)
    factor = UpdatedQR(12)
    A = rng.standard_normal((12, 12))
    assert all(factor.append(a) for a in A[:, :5].T)
    assert not factor.append(A[:, :5] @ np.ones(5))
    assert not factor.append(np.zeros(12))
    assert all(factor.append(a) for a in A[:, 5:].T)
    assert not factor.append(rng.standard_normal(12))
    assert factor.size == 12


WORKLOADS = [
    (nnls_table1(500, m=400), "coordinate_descent"),
    (nnls_table1(500, m=400), ActiveSet.plain()),
    (nnls_table1(120, m=200, variant="printed"), "coordinate_descent"),
    (nnls_table1(300, m=200, variant="printed"), ActiveSet.plain()),
    (nnls_table1(600, m=600, variant="printed"), ActiveSet.plain()),
    (bvls_table2(300, m=300), "projected_gradient"),
    (bvls_table2(300, m=300), "chambolle_pock"),
    (bvls_table2(150, m=300, variant="printed"), "projected_gradient"),
    (bvls_table2(150, m=300, variant="printed"), "chambolle_pock"),
]


@pytest.mark.parametrize(("workload", "solver"), WORKLOADS, ids=lambda v: getattr(v, "name", v))
def test_screening_saves_work(workload, solver: object) -> None:
    """On small versions of the paper's tables; `make ratios` measures them at full size.

    Where nothing is proved before the last check, as for the active set on printed data, it is free.
    """
    common = {"solver": solver, "tol": 0.0, "atol": 1e-6}
    problem = (workload.A, workload.y, workload.lower, workload.upper)
    off = boxreg.solve(*problem, screening=False, **common)
    on = boxreg.solve(*problem, screening=True, **common)
    assert on.success
    assert off.success
    early = bool(on.history.preserved[-2] < len(on.x))
    assert on.work < off.work if early else on.work == off.work
    assert early or "printed" in workload.name


@pytest.mark.parametrize("box", FIGURE1_BOXES)
@pytest.mark.parametrize("solver", ["projected_gradient", "chambolle_pock"])
def test_screening_never_costs_much(solver: str, box: float) -> None:
    """From all coordinates at a bound to none: work at most 1/0.95 of the plain run's."""
    problem = bvls_figure1(box, m=400, n=200)
    arguments = (problem.A, problem.y, problem.lower, problem.upper)
    off = boxreg.solve(*arguments, solver=solver, screening=False, tol=0.0, atol=1e-6)
    on = boxreg.solve(*arguments, solver=solver, tol=0.0, atol=1e-6)
    assert on.work <= off.work / 0.95


def test_work_counts_products() -> None:
    """Columns are counted in units of all n; A x and Aᵀv count 1 each."""
    from boxreg.work import WorkMeter

    meter = WorkMeter(10)
    meter.add(10)
    meter.add(5)
    assert meter.total == 1.5
    held = reduced(np.ones((4, 10)), np.ones(4))
    held.predict(np.ones(10))
    held.correlate(np.ones(4))
    assert held.work.total == 2.0


def test_checks_grow_apart_and_stop_in_time() -> None:
    """The period is the solver's, then a share of the steps, cut where the target comes near."""
    schedule = CheckSchedule(10, 0.1)
    assert schedule.next(0, 1e9, 1e-9) == 10
    assert schedule.next(10, 1e-8, 1e-9) == 10  # the first fall tells nothing of the next
    assert schedule.next(20, 0.9, 1e-9) == 10
    assert schedule.next(1000, 0.8, 1e-9) == 100
    assert schedule.next(1100, 1e-4, 0.99e-4) == 1
    assert CheckSchedule(1, 0.0).next(1000, 1.0, 0.5) == 1


def test_workloads_are_what_they_say() -> None:
    """Shapes, unit columns, signs, sparsity and determinism of the paper's problems."""
    coded, printed = nnls_table1(200, m=100), nnls_table1(200, m=100, variant="printed")
    np.testing.assert_allclose(np.linalg.norm(coded.A, axis=0), 1.0)
    assert coded.y.min() == 0.0
    assert printed.A.min() >= 0.0
    assert printed.y.shape == (100,)
    np.testing.assert_array_equal(coded.A, nnls_table1(200, m=100).A)
    box = bvls_figure1(0.5, m=40, n=20)
    assert (box.lower, box.upper) == (-0.5, 0.5)
    assert bvls_table2(20, m=40).upper == 1.0
    assert FIGURE1_BOXES[0] == pytest.approx(0.1)
    assert FIGURE1_BOXES[-1] == pytest.approx(5.0)
