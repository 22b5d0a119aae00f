"""Dual updates, directions and the dual cone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg import driver
from boxreg.directions import DIRECTIONS, build_cone
from boxreg.dual_cone import interior_margin
from boxreg.dual_updates import DUAL_UPDATES, Extrapolated, Oracle, SupportPolish, Translation
from boxreg.duality import DualPoint, duality_gap
from boxreg.extrapolation import DEPTH
from boxreg.point import Point
from boxreg.solvers import CoordinateDescent
from building import reduced
from references.exact import exact_solution
from references.problems import TABLE, generated

RNG = np.random.default_rng(11)
POSITIVE = np.abs(RNG.standard_normal((20, 30)))
SIGNED_TALL = RNG.standard_normal((40, 12))
ORTHOGONAL = np.linalg.qr(RNG.standard_normal((20, 8)))[0]
Y = RNG.standard_normal(20)
OPPOSITE = np.column_stack([SIGNED_TALL, -SIGNED_TALL[:, 0]])

PROPOSITION_2 = {
    # case: (A, direction that proves it)
    "1: full column rank": (SIGNED_TALL, "least_squares"),
    "2: orthogonal columns": (ORTHOGONAL, "mean"),
    "3: non-negative": (POSITIVE, "ones"),
    "4: a column correlated with all": (POSITIVE, "most_correlated"),
}


def margin(A: np.ndarray, direction: object, upper: object = np.inf) -> float:
    """The margin of the direction that `build_cone` settles on."""
    problem = reduced(A, np.ones(A.shape[0]), 0.0, upper)
    cone = build_cone(problem, direction)
    assert cone.direction is not None
    return interior_margin(cone.direction, problem, problem.unbounded)


@pytest.mark.parametrize("case", PROPOSITION_2)
def test_proposition_2(case: str) -> None:
    """Each case has its direction, and `auto` finds one too."""
    A, direction = PROPOSITION_2[case]
    assert margin(A, direction) > 0
    assert margin(A, "auto") > 0


@pytest.mark.parametrize("direction", sorted(set(DIRECTIONS) - {"least_squares"}))  # rank 20 < 30
def test_named_directions_on_nonnegative_data(direction: str) -> None:
    """All of them are interior where A > 0 and y > 0, and all give the same answer."""
    y = POSITIVE @ np.maximum(RNG.standard_normal(30), 0) + 0.1
    problem = reduced(POSITIVE, y)
    cone = build_cone(problem, direction)
    assert interior_margin(cone.direction, problem, problem.unbounded) > 0
    result = boxreg.solve(
        POSITIVE, y, direction=direction, dual="translation", solver="coordinate_descent"
    )
    assert result.success
    assert result.certificate.rigorous


def test_a_caller_s_direction_is_checked() -> None:
    """One that is inside is used; one that is not is refused, with the column that objects."""
    assert margin(POSITIVE, -np.ones(20)) > 0
    with pytest.raises(ValueError, match=r"direction: the vector given is not strictly inside"):
        boxreg.solve(POSITIVE, Y, direction=np.ones(20))
    with pytest.raises(ValueError, match=r"direction: 'ones' is not strictly inside"):
        boxreg.solve(SIGNED_TALL, np.ones(40), direction="ones")


def test_only_columns_without_upper_bound_constrain_the_direction() -> None:
    """With mixed bounds, t need not please the columns that have two finite bounds."""
    A = POSITIVE.copy()
    A[:, ::2] *= -1.0
    upper = np.where(np.arange(30) % 2, np.inf, 1.0)
    assert margin(A, "ones", upper) > 0
    assert build_cone(reduced(A, Y, 0.0, 1.0), "auto").direction is None


@pytest.mark.parametrize("make", [np.asarray, sparse.csc_array, aslinearoperator])
def test_a_general_cone_is_searched(make) -> None:
    """Columns around a hidden axis, where neither -1 nor the mean nor least squares is interior."""
    rng = np.random.default_rng(5)
    axis = rng.standard_normal(10)
    axis /= np.linalg.norm(axis)
    A = rng.standard_normal((10, 40))
    A -= np.outer(axis, axis @ A)
    A = A + np.outer(axis, 0.05 * np.abs(rng.standard_normal(40)) + 0.02)
    design = make(A)
    if make is aslinearoperator:
        design = boxreg.operator(design, np.linalg.norm(A, axis=0))
    problem = reduced(design, rng.standard_normal(10))
    cone = build_cone(problem, "auto")
    assert not cone.implicit.any()
    assert interior_margin(cone.direction, problem, problem.unbounded) > 0
    result = boxreg.solve(design, rng.standard_normal(10), tol=1e-6)
    assert result.success


def test_no_interior_direction_is_said_and_solved() -> None:
    """Columns a and -a: the solution is not unique; it is found, and the status text says so."""
    y = RNG.standard_normal(40)
    for solver in ("active_set", "coordinate_descent", "projected_gradient"):
        result = boxreg.solve(OPPOSITE, y, solver=solver)
        assert result.success
        assert "not unique" in result.message
        assert not result.certificate.rigorous
        assert any("slight error in 2 columns" in r for r in result.certificate.remarks)
    reference = exact_solution(OPPOSITE, y, np.zeros(13), np.full(13, np.inf))
    assert result.objective == pytest.approx(reference.objective_float, rel=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_still_provable_is_screened(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside opposite columns, a block of its own rows is screened all the same.

    The rows of the opposite columns are fitted exactly, so that leaving them out of theta costs
    nothing and all that is settled in the block can be proved.
    """
    rng = np.random.default_rng(seed)
    block = np.abs(rng.standard_normal((30, 25)))
    pair = np.array([1.0, -2.0, 0.5, 3.0])
    A = np.zeros((34, 27))
    A[:30, :25] = block
    A[30:, 25], A[30:, 26] = pair, -pair
    y = np.concatenate([block[:, :3].sum(axis=1) + rng.standard_normal(30), -0.5 * pair])
    monkeypatch.setattr(driver, "_PATIENCE", 0)  # so that the run does not end before it screens
    result = boxreg.solve(A, y, solver=CoordinateDescent.plain(), dual="line_search", tol=1e-10)
    signs = exact_solution(A, y, np.zeros(27), np.full(27, np.inf)).signs()
    assert "not unique" in result.message
    assert np.count_nonzero(result.screened[:25]) >= 10
    assert not np.any((result.screened == -1) & (signs >= 0))
    assert not result.screened[25:].any()


def test_a_cone_that_is_everything() -> None:
    """Then theta = 0 is the only dual point and the minimum is 0."""
    A = RNG.standard_normal((6, 40))
    result = boxreg.solve(A, RNG.standard_normal(6), tol=1e-12)
    assert result.success
    assert result.objective < 1e-12
    assert not result.theta.any()


@pytest.mark.parametrize("searching", [SupportPolish, Extrapolated])
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_line_search_never_loses(problem, searching) -> None:
    """Its gap is at most that of standing still and that of the translated residual."""
    current = reduced(*problem.data)
    cone = build_cone(current, "auto")
    best = DualPoint.zero(current)
    update = searching().start(current)
    rng = np.random.default_rng(0)
    for _ in range(8):
        spread = np.abs(rng.standard_normal(len(current.lower)))
        point = Point(current, np.clip(spread, current.lower, current.upper))
        before = duality_gap(point, best, cone.implicit)
        translated = next(Translation().propose(point, best, cone, None))
        for candidate in update.propose(point, best, cone, None):
            gap = duality_gap(point, candidate, cone.implicit)
            assert gap <= before
            assert gap <= duality_gap(point, translated, cone.implicit)
            best = candidate


@pytest.mark.parametrize("dual", ["auto", *sorted(DUAL_UPDATES)])
def test_every_update_on_a_box(dual: str) -> None:
    """All of them solve a problem with finite bounds to the same objective."""
    problem = next(p for p in TABLE if p.name == "bvls-wide-nonnegative")
    plain = boxreg.solve(*problem.data, solver="projected_gradient", tol=1e-11)
    result = boxreg.solve(*problem.data, solver="projected_gradient", dual=dual, tol=1e-11)
    assert result.success
    assert result.objective == pytest.approx(plain.objective, rel=1e-10)


def test_polish_is_exact_once_the_support_is_right() -> None:
    """From a poor x with the right support the polished gap is far below the translated one."""
    problem = next(p for p in TABLE if p.name == "nnls-wide-nonnegative")
    solution = np.array([float(v) for v in exact_solution(*problem.data).x])
    current = reduced(*problem.data)
    cone = build_cone(current, "auto")
    point = Point(current, solution * (1.0 + 0.01 * np.sin(np.arange(len(solution)))))
    current.work.add(10_000)  # late enough in a run for its budget
    zero = DualPoint.zero(current)
    translated = next(Translation().propose(point, zero, cone, None))
    *_, polished = SupportPolish().propose(point, zero, cone, None)
    optimum = exact_solution(*problem.data).objective_float
    suboptimality = point.objective - optimum
    assert duality_gap(point, translated) > 20 * suboptimality
    assert duality_gap(point, polished) < 3 * suboptimality


def test_the_residual_needs_finite_bounds() -> None:
    """Refused, with what to use instead."""
    with pytest.raises(ValueError, match=r"dual: 'residual' needs every upper bound to be finite"):
        boxreg.solve(POSITIVE, Y, dual="residual")


def test_the_oracle_screens_sooner() -> None:
    """With the dual solution given, less work is needed; a run may be repeated with one instance."""
    problem = next(p for p in TABLE if p.name == "nnls-wide-nonnegative")
    exact = exact_solution(*problem.data)
    oracle = Oracle(np.array([float(t) for t in exact.theta]))
    plain = boxreg.solve(*problem.data, solver="coordinate_descent")
    first = boxreg.solve(*problem.data, solver="coordinate_descent", dual=oracle)
    again = boxreg.solve(*problem.data, solver="coordinate_descent", dual=oracle)
    assert first.work < plain.work
    assert again.work == first.work
    assert not np.any((first.screened == -1) & (exact.signs() >= 0))


def test_pushed_points_are_feasible_in_exact_arithmetic() -> None:
    """A theta that `push` returns satisfies a_jᵀ theta <= 0 exactly, not just as computed."""
    for seed in range(0, 60, 3):  # seeds divisible by 3 have no upper bounds
        data = generated("nonnegative", seed)
        problem = reduced(*data.data)
        point = Point(problem, np.asarray(data.lower, dtype=float))
        cone = build_cone(problem, "auto")
        theta = cone.push(DualPoint.residual(point), problem).theta
        assert largest_product(data, theta) <= 0


@pytest.mark.parametrize("name", ["extrapolated", "support_polish"])
def test_proposals_are_feasible_in_exact_arithmetic(name: str) -> None:
    """Whatever the gap takes for feasible along a run is so, at each of 15 checks."""
    proposals = 0
    for seed in range(0, 30, 3):
        data = generated("nonnegative", seed)
        solver = CoordinateDescent.plain()
        state = solver.start(Point(reduced(*data.data), np.asarray(data.lower, dtype=float)))
        problem = state.point.problem
        cone = build_cone(problem, "auto")
        update = DUAL_UPDATES[name]().start(problem)
        best = DualPoint.zero(problem)
        for _ in range(15):
            state = solver.step(state, 1)
            for candidate in update.propose(state.point, best, cone, None):
                if np.isfinite(duality_gap(state.point, candidate)):
                    proposals += 1
                    assert largest_product(data, candidate.theta) <= 0
                    best = candidate
    assert proposals > 100


def test_extrapolated_residuals_come_closer() -> None:
    """Once the support is settled the extrapolated point is far better than the translated residual."""
    rng = np.random.default_rng(1)
    A = np.abs(rng.standard_normal((40, 15)))
    problem = reduced(A, A @ rng.uniform(1.0, 2.0, 15) + 0.05 * rng.standard_normal(40))
    solver = CoordinateDescent.plain()
    state = solver.start(Point(problem, np.zeros(15)))
    cone, update, best = build_cone(problem, "auto"), Extrapolated(), DualPoint.zero(problem)
    state = solver.step(state, 200)
    for _ in range(DEPTH + 1):
        state = solver.step(state, 10)
        proposals = list(update.propose(state.point, best, cone, None))
    translated = next(Translation().propose(state.point, best, cone, None))
    gap = duality_gap(state.point, proposals[-1])
    assert gap < 0.5 * duality_gap(state.point, translated)


def largest_product(data, theta: np.ndarray) -> Fraction:
    """max_j a_jᵀ theta over the columns without upper bound, exactly."""
    A = np.asarray(data.A, dtype=float)
    exact = [Fraction(float(t)) for t in theta]
    return max(
        sum((Fraction(float(a)) * t for a, t in zip(A[:, j], exact, strict=True)), Fraction(0))
        for j in np.flatnonzero(np.isinf(data.upper))
    )
