"""Directions strictly inside the dual cone, and what `push` makes of a point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg.directions import DIRECTIONS, build_cone
from boxreg.dual_cone import completed, excess_over_cone, interior_margin
from boxreg.duality import DualPoint, duality_gap
from boxreg.point import Point
from boxreg.solvers import CoordinateDescent
from building import mirrored, reduced
from rational import largest_product
from references.exact import exact_solution
from references.problems import generated

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


def margin(A: np.ndarray, direction: object, upper: object = np.inf, lower: object = 0.0) -> float:
    """The margin of the direction that `build_cone` settles on."""
    problem = reduced(A, np.ones(A.shape[0]), lower, upper)
    cone = build_cone(problem, direction)
    assert cone.direction is not None
    return interior_margin(cone.direction, problem, problem.constrained)


@pytest.mark.parametrize("case", PROPOSITION_2)
def test_proposition_2(case: str) -> None:
    """Each case has its direction, and `auto` finds one too."""
    A, direction = PROPOSITION_2[case]
    assert margin(A, direction) > 0
    assert margin(A, "auto") > 0
    turned, _, lower, upper = mirrored(A, Y, 0.0, np.inf, np.arange(A.shape[1]) % 2 == 0)
    # The same cone, half of its half-spaces written the other way.
    assert margin(turned, direction, upper, lower) == pytest.approx(margin(A, direction), rel=1e-3)
    assert margin(turned, "auto", upper, lower) > 0


@pytest.mark.parametrize("direction", ["auto", "mean", "least_squares"])
def test_directions_are_orthogonal_to_free_columns(direction: str) -> None:
    """Whichever is asked for, up to rounding; and still inside the cone of the others."""
    lower = np.where(np.arange(12) < 3, -np.inf, 0.0)
    problem = reduced(SIGNED_TALL[:, :12], np.ones(40), lower, np.inf)
    assert problem.free.sum() == 3
    t = build_cone(problem, direction).direction
    assert t is not None
    assert interior_margin(t, problem, problem.constrained) > 0.0
    np.testing.assert_allclose(t.correlation[:3], 0.0, atol=1e-12)


@pytest.mark.parametrize("direction", sorted(set(DIRECTIONS) - {"least_squares"}))  # rank 20 < 30
def test_named_directions_on_nonnegative_data(direction: str) -> None:
    """All of them are interior where A > 0 and y > 0, and all give the same answer."""
    y = POSITIVE @ np.maximum(RNG.standard_normal(30), 0) + 0.1
    problem = reduced(POSITIVE, y)
    cone = build_cone(problem, direction)
    assert interior_margin(cone.direction, problem, problem.constrained) > 0
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
    assert interior_margin(cone.direction, problem, problem.constrained) > 0
    result = boxreg.solve(design, rng.standard_normal(10), tol=1e-6)
    assert result.success


def test_no_interior_direction_is_said_and_solved() -> None:
    """Columns a and -a: the solution is not unique; it is found, and the status text says so."""
    y = RNG.standard_normal(40)
    for solver in ("active_set", "coordinate_descent", "projected_gradient"):
        result = boxreg.solve(OPPOSITE, y, solver=solver)
        assert result.success
        assert "not unique" in result.message
        assert result.certificate.rigorous  # that -a depends on a is proved in rational arithmetic
    reference = exact_solution(OPPOSITE, y, np.zeros(13), np.full(13, np.inf))
    assert result.objective == pytest.approx(reference.objective_float, rel=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_still_provable_is_screened(seed: int, change: Callable[..., object]) -> None:
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
    change(direction_after=0)  # so that the run does not end before it screens
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


@pytest.mark.parametrize("terms", ["plain", "mirrored", "weights", "costs"])
def test_pushed_points_are_feasible_in_exact_arithmetic(terms: str) -> None:
    """A theta that `push` returns satisfies ±(a_jᵀ theta - c_j) <= 0 exactly, not just as computed."""
    for seed in range(0, 60, 3):  # seeds divisible by 3 have no upper bounds
        data = generated("nonnegative", seed)
        m, n = data.A.shape
        which = np.arange(n) % 2 == (0 if terms == "mirrored" else 2)
        A, y, lower, upper = mirrored(*data.data, which)
        linear = np.sin(1.0 + np.arange(n)) if terms == "costs" else np.zeros(n)
        weights = 1.0 + np.arange(m) % 3 if terms == "weights" else np.ones(m)
        problem = reduced(A, y, lower, upper, linear=linear, sample_weight=weights)
        point = Point(problem, np.where(which, upper, lower))
        cone = build_cone(problem, "auto")
        theta = cone.push(DualPoint.residual(point), point).theta
        assert largest_product(data.A, theta, linear * np.where(which, -1.0, 1.0)) <= 0


@pytest.mark.parametrize("bounds", [(0.0, np.inf), (-np.inf, np.inf), (-1.0, 2.0), (-np.inf, 0.5)])
@pytest.mark.parametrize("loss", ["least_squares", "huber", "logistic"])
def test_a_ridge_term_makes_every_dual_point_feasible(
    loss: str, bounds: tuple[float, float]
) -> None:
    """With entries in its rows that nothing betters; w follows theta, some columns dropped or not."""
    labels = np.where(Y > 0.0, 1.0, -1.0) if loss == "logistic" else Y
    problem = reduced(POSITIVE * RNG.choice([-1.0, 1.0], 30), labels, *bounds, loss, ridge=0.7)
    point = Point(problem, np.clip(RNG.standard_normal(30), *bounds))
    for held in (problem, problem.keep(np.arange(0, 30, 2)) if bounds[1] == 2.0 else problem):
        here = Point(held, point.x[held.index])
        theta = -0.3 * here.residual if loss != "logistic" else 0.5 * here.residual
        start = DualPoint.at(theta, held)
        dual = completed(start, here)
        np.testing.assert_allclose(dual.correlation, held.correlate(dual.theta), atol=1e-12)
        assert not np.any(held.constrained & (excess_over_cone(dual, here) > 0.0))
        rows = held.own_rows
        assert rows is not None
        best = here.objective - duality_gap(here, dual)
        assert np.isfinite(best)
        for change in (1e-3, -1e-3, 0.1, -0.1):
            other = dual.theta.copy()
            other[rows] += change * RNG.random(len(rows))
            gap = duality_gap(here, DualPoint.at(other, held))
            assert here.objective - gap <= best + 1e-9 * abs(best)


def test_without_a_ridge_term_dual_points_stay() -> None:
    problem = reduced(POSITIVE, Y)
    dual = DualPoint.residual(Point(problem, np.ones(30)))
    assert completed(dual, Point(problem, np.ones(30))) is dual
