"""Safe regions hold the dual solution; the ball lies inside the sphere."""

from __future__ import annotations

import numpy as np
import pytest

from boxreg.directions import build_cone
from boxreg.duality import DualPoint, duality_gap
from boxreg.point import Point
from boxreg.safe_regions import REGIONS, GapSphere, TwoPointBall
from boxreg.screening import screen
from building import reduced
from references.exact import exact_solution
from references.extended import extended_solution
from references.problems import FAMILIES, TABLE, generated


def pairs(A, y, lower, upper, seed):
    """Primal-dual pairs far from and near to the solution, with their gaps."""
    problem = reduced(A, y, lower, upper)
    cone = build_cone(problem, "auto")
    rng = np.random.default_rng(seed)
    solution = np.asarray(extended_solution(A, y, lower, upper).x, dtype=float)
    for distance in (0.0, 1e-9, 1e-4, 1e-1, 1.0):
        noise = distance * np.abs(rng.standard_normal(len(solution)))
        x = np.clip(solution + noise, problem.lower, problem.upper)
        point = Point(problem, x)
        dual = cone.push(DualPoint.residual(point), problem)
        gap = duality_gap(point, dual)
        if np.isfinite(gap):
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
