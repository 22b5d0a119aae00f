"""Safe regions hold the dual solution; the ball lies inside the sphere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from boxreg.directions import build_cone
from boxreg.duality import DualPoint, duality_gap
from boxreg.point import Point
from boxreg.safe_regions import REGIONS, Dome, GapSphere, TwoPointBall
from boxreg.safe_regions.dome import Cap, cap_reach, half_space
from boxreg.screening import screen
from building import reduced
from references.exact import exact_solution
from references.extended import extended_solution
from references.problems import FAMILIES, TABLE, generated


def pairs(A, y, lower, upper, seed, solution=None, **terms):
    """Primal-dual pairs far from and near to the solution, with their gaps."""
    problem = reduced(A, y, lower, upper, **terms)
    cone = build_cone(problem, "auto")
    problem = problem.with_equalities(cone.implicit)
    rng = np.random.default_rng(seed)
    if solution is None:
        solution = extended_solution(A, y, lower, upper).x
    solution = np.array([float(v) for v in solution])
    for distance in (0.0, 1e-9, 1e-4, 1e-1, 1.0):
        noise = distance * np.abs(rng.standard_normal(len(solution)))
        x = np.clip(solution + noise, problem.lower, problem.upper)
        point = Point(problem, x)
        dual = cone.push(DualPoint.residual(point), point)
        gap = duality_gap(point, dual)
        equalities = point.equalities(dual.theta)
        if np.isfinite(gap) and (equalities is None or equalities.proved):
            yield point, dual, gap


@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_ball_is_inside_the_sphere_and_screens_a_superset(problem) -> None:
    """Never wider in any column, so whatever the sphere screens the ball screens."""
    for point, dual, gap in pairs(*problem.data, seed=1):
        ball = TwoPointBall().correlation_range(point, dual, gap)
        sphere = GapSphere().correlation_range(point, dual, gap)
        assert np.all(ball[0] >= sphere[0])
        assert np.all(ball[1] <= sphere[1])
        by_ball = screen(point, dual, gap, TwoPointBall())
        by_sphere = screen(point, dual, gap, GapSphere())
        for wide, narrow in zip(by_ball, by_sphere, strict=True):
            assert np.all(wide[narrow])


@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_dome_is_inside_the_ball(problem) -> None:
    """Never wider in any column."""
    for point, dual, gap in pairs(*problem.data, seed=1):
        ball = TwoPointBall().correlation_range(point, dual, gap)
        dome = Dome().correlation_range(point, dual, gap)
        assert np.all(dome[0] >= ball[0])
        assert np.all(dome[1] <= ball[1])


@pytest.mark.parametrize("upper", [np.inf, 1.0])
def test_dome_screens_more_where_columns_face_one_way(upper: float) -> None:
    """A >= 0, near the solution: a strict superset of what the ball screens."""
    rng = np.random.default_rng(4)
    A = np.abs(rng.standard_normal((60, 200)))
    y = A[:, :10] @ rng.uniform(0.3, 0.7, 10) + rng.standard_normal(60)
    more = 0
    for point, dual, gap in pairs(A, y, np.zeros(200), np.full(200, upper), seed=0):
        by_ball = screen(point, dual, gap, TwoPointBall())[0]
        by_dome = screen(point, dual, gap, Dome())[0]
        assert np.all(by_dome[by_ball])
        more += np.count_nonzero(by_dome) - np.count_nonzero(by_ball)
    assert more > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_half_space_holds_the_dual_solution(family: str) -> None:
    """<g, theta*> <= level in exact arithmetic, at every distance from the solution."""
    for seed in range(9):
        problem = generated(family, seed)
        theta = exact_solution(*problem.data).theta
        size = float(np.sqrt(float(sum(t * t for t in theta)))) * (1.0 + 1e-12)
        for point, _, gap in pairs(*problem.data, seed=seed):
            g, level = half_space(point, gap, size)
            product = sum(
                (Fraction(float(a)) * t for a, t in zip(g, theta, strict=True)), Fraction(0)
            )
            assert product <= Fraction(level)


@pytest.mark.parametrize(("lower", "upper", "products"), [(0.0, np.inf, 0), (-0.1, np.inf, 1)])
def test_the_half_space_of_non_negative_x_is_known(lower: float, upper: float, products) -> None:
    """A x is at hand; other bounds take a product with the support."""
    rng = np.random.default_rng(5)
    A, y = rng.standard_normal((20, 30)), rng.standard_normal(20)
    held = Point(reduced(A, y, lower, upper), np.full(30, 0.5))
    expected = A @ (held.x - lower)
    assert held.prediction is not None
    before = held.problem.work.total
    g, _ = half_space(held, 1.0, 1.0)
    np.testing.assert_allclose(g, expected, atol=1e-12)
    assert held.problem.work.total - before == products


def test_columns_that_are_gone_are_no_part_of_the_half_space() -> None:
    """Nor where A x is at hand: the prediction holds what they were fixed at."""
    rng = np.random.default_rng(6)
    A, y = rng.standard_normal((20, 30)), rng.standard_normal(20)
    lower, upper = np.zeros(30), np.full(30, np.inf)
    lower[0] = upper[0] = 2.0
    problem = reduced(A, y, lower, upper).keep(np.arange(1, 30))
    held = Point(problem, np.full(29, 0.5))
    g, _ = half_space(held, 1.0, 1.0)
    np.testing.assert_allclose(g, A[:, 1:] @ held.x, atol=1e-12)
    np.testing.assert_allclose(held.prediction, g + 2.0 * A[:, 0], atol=1e-12)


@pytest.mark.parametrize("depth", [-0.9, -0.3, 0.0, 0.4, 1.1])
def test_cap_reach_is_the_maximum(depth: float) -> None:
    """Against points of the disc of radius 1.2, for columns at all angles to the normal."""
    radius, angles = 1.2, np.linspace(0.0, np.pi, 37)
    norms = np.linspace(0.5, 2.0, 37)
    reach = cap_reach(norms * np.cos(angles), np.zeros(37), Cap(norms, depth, radius))
    turn = np.linspace(0.0, 2.0 * np.pi, 20_001)
    ring = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    chord = np.sqrt(radius**2 - depth**2) * np.linspace(-1.0, 1.0, 2001)
    chord = np.column_stack([np.full(2001, depth), chord])
    inside = np.concatenate([ring[ring[:, 0] <= depth], chord])
    columns = norms[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    found = (columns @ inside.T).max(axis=1)
    assert np.all(reach >= found)
    np.testing.assert_allclose(reach, found, atol=1e-6)


def test_dome_by_hand() -> None:
    """A = (1, 1; 0, 1), y = (2, -1), x = (1, 0) >= 0: A s = (1, 0), the half-space is theta_1 <= 0.

    rho = (1, -1). theta = (-0.1, -1) is feasible with G = ½ 1.1² + 0.1, the ball has centre (0.45, -1)
    and radius² = G - ¼ 1.1² = 0.4025. The plane is 0.45 below the centre: a_1ᵀtheta is at most 0, and
    a_2ᵀtheta at most 0 - 1 + √(0.4025 - 0.45²).
    """
    problem = reduced(np.array([[1.0, 1.0], [0.0, 1.0]]), [2.0, -1.0])
    point = Point(problem, np.array([1.0, 0.0]))
    dual = DualPoint.at(np.array([-0.1, -1.0]), problem)
    low, high = Dome().correlation_range(point, dual, duality_gap(point, dual))
    np.testing.assert_allclose(high, [0.0, -1.0 + np.sqrt(0.2)], atol=1e-4)
    ball = TwoPointBall().correlation_range(point, dual, duality_gap(point, dual))
    assert ball[1][1] > 0.0
    np.testing.assert_allclose(low, ball[0], atol=1e-5)


@pytest.mark.parametrize("name", sorted(REGIONS))
@pytest.mark.parametrize("family", FAMILIES)
def test_region_holds_the_dual_solution(name: str, family: str) -> None:
    """Low <= a_jᵀ theta* <= high for every column, theta* from exact arithmetic."""
    region = REGIONS[name]()
    for seed in range(15):
        problem = generated(family, seed)
        exact = exact_solution(*problem.data).w
        for point, dual, gap in pairs(*problem.data, seed=seed):
            low, high = region.correlation_range(point, dual, gap)
            for j, w in enumerate(exact):
                assert low[j] <= w <= high[j]


def test_ball_by_hand() -> None:
    """A = I, y = (1, -1), x = 0 in [0, 2]²: theta = rho = y, G = 2, so the radius is √2, not 2."""
    problem = reduced(np.eye(2), [1.0, -1.0], 0.0, 2.0)
    point = Point(problem, np.zeros(2))
    dual = DualPoint.residual(point)
    gap = duality_gap(point, dual)
    assert gap == pytest.approx(2.0, rel=1e-7)
    low, high = TwoPointBall().correlation_range(point, dual, gap)
    np.testing.assert_allclose(high - low, 2 * np.sqrt(2), rtol=1e-7)
    low, high = GapSphere().correlation_range(point, dual, gap)
    np.testing.assert_allclose(high - low, 4.0, rtol=1e-7)
