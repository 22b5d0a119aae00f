"""Safe regions with weights, costs, and bounds that are infinite on either side."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from boxreg.duality import DualPoint, duality_gap
from boxreg.point import Point
from boxreg.safe_regions import REGIONS, Dome, GapSphere, TwoPointBall
from boxreg.safe_regions.base import Metric
from boxreg.safe_regions.dome import half_space
from boxreg.screening import screen
from boxreg.smoothness import Smoothness
from building import reduced
from properties.test_regions import pairs
from rational import exact, inner
from references.problems import FAMILIES, generated
from references.variants import KINDS, ON_A_GRID, Variant, variant

SEEDS = range(6)


def variants(family: str, kind: str) -> list[Variant]:
    """Those of a family that have a solution."""
    if kind not in ("mirrored", "free") and family not in ON_A_GRID:
        return []
    found = [variant(generated(family, seed), kind, seed) for seed in SEEDS]
    return [v for v in found if v is not None]


@pytest.mark.parametrize("kind", KINDS)
def test_region_holds_the_dual_solution(kind: str) -> None:
    """Low <= w*_j <= high for every column and region, w* from exact arithmetic."""
    judged = 0
    for family in FAMILIES:
        for known in variants(family, kind):
            for point, dual, gap in pairs(*known.data, 0, known.x, **known.terms):
                for region in REGIONS.values():
                    low, high = region().correlation_range(point, dual, gap)
                    judged += 1
                    for j, w in enumerate(known.w):
                        assert low[j] <= w <= high[j], (family, region.name, j)
    assert judged > 200


@pytest.mark.parametrize("kind", KINDS)
def test_screening_agrees_with_the_dual_solution(kind: str) -> None:
    """Screened to the lower bound only if w*_j < 0, to the upper one only if w*_j > 0."""
    screened = 0
    for family in ON_A_GRID:
        for known in variants(family, kind):
            _, _, lower, upper = known.data
            signs = np.array([(w > 0) - (w < 0) for w in known.w])
            for point, dual, gap in pairs(*known.data, 0, known.x, **known.terms):
                for region in REGIONS.values():
                    at_lower, at_upper = screen(point, dual, gap, region())
                    open_ = lower < upper
                    assert np.all(signs[at_lower & open_] < 0)
                    assert np.all(signs[at_upper & open_] > 0)
                    assert np.all(np.isfinite(lower[at_lower]))
                    assert np.all(np.isfinite(upper[at_upper]))
                    screened += np.count_nonzero(at_lower | at_upper)
    assert screened > 100


@pytest.mark.parametrize("kind", KINDS)
def test_smaller_regions_are_inside_larger_ones(kind: str) -> None:
    """The dome in the ball, the ball in the sphere, in every column."""
    for family in ON_A_GRID:
        for known in variants(family, kind):
            for point, dual, gap in pairs(*known.data, 0, known.x, **known.terms):
                sphere, ball, dome = (
                    region().correlation_range(point, dual, gap)
                    for region in (GapSphere, TwoPointBall, Dome)
                )
                assert np.all((dome[0] >= ball[0]) & (ball[0] >= sphere[0]))
                assert np.all((dome[1] <= ball[1]) & (ball[1] <= sphere[1]))


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("free", "everything")])
def test_half_space_holds_the_dual_solution(kind: str) -> None:
    """<g, theta*> <= level in exact arithmetic, at every distance from the solution."""
    judged = 0
    for family in ON_A_GRID:
        for known in variants(family, kind):
            size = float(np.linalg.norm([float(t) for t in known.theta])) * (1.0 + 1e-12)
            for point, _, gap in pairs(*known.data, 0, known.x, **known.terms):
                g, level = half_space(point, gap, size)
                assert inner(g, known.theta) <= Fraction(level)
                judged += 1
    assert judged > 50


@pytest.mark.parametrize("rows", [np.full(4, 3.0), np.array([0.25, 1.0, 9.0, 100.0])])
def test_smoothness_by_hand(rows: np.ndarray) -> None:
    """L v, √L v and v / √L, with one number where all are equal."""
    made, v = Smoothness.made(rows), np.array([1.0, -2.0, 3.0, 0.5])
    assert made.largest == rows.max()
    assert (made.rows is None) == bool(np.all(rows == rows[0]))
    np.testing.assert_allclose(made.times(v), rows * v, rtol=1e-15)
    np.testing.assert_allclose(made.root_times(v), np.sqrt(rows) * v, rtol=1e-15)
    np.testing.assert_allclose(made.over_root(v), v / np.sqrt(rows), rtol=1e-15)
    assert made.known
    assert not Smoothness.made(np.array([1.0, np.inf])).known
    assert Smoothness.made(np.zeros(0)) == Smoothness(1.0)


@pytest.mark.parametrize("weights", [np.ones(5), np.full(5, 4.0), np.linspace(0.1, 9.0, 5)])
def test_the_metric_by_definition(weights: np.ndarray) -> None:
    """√(sum v_i² / ω_i), its greatest value for a Euclidean norm, and |a_jᵀv| <= reach_j ||v||."""
    rng = np.random.default_rng(4)
    A, y = rng.standard_normal((5, 7)), rng.standard_normal(5)
    problem = reduced(A, y, 0.0, 1.0, sample_weight=weights)
    point = Point(problem, np.zeros(7))
    metric = Metric.of(point, DualPoint.residual(point), 1.0)
    np.testing.assert_allclose(metric.reach, np.sqrt(weights @ A**2), rtol=1e-7)
    for _ in range(20):
        v = rng.standard_normal(5)
        size = float(np.sqrt(np.sum(v**2 / weights)))
        assert metric.norm_at_least(v) <= size * (1.0 - 1e-9)
        assert metric.norm_at_least(v) == pytest.approx(size, rel=1e-7)
        assert size <= metric.at_most(float(np.linalg.norm(v)))
        assert np.all(np.abs(A.T @ v) <= metric.reach * size * (1 + 1e-12))
    assert metric.at_most(1.0) == pytest.approx(1.0 / np.sqrt(weights.min()), rel=1e-7)


def test_a_weighted_ball_by_hand() -> None:
    """A = I, ω = (4, 1), y = (1, -1), x = 0 in [0, 2]²: theta = rho = (4, -1).

    G = 2 u_1 w_1⁺ - … = 8: the box term of the first coordinate alone; the radius of the ball is √G,
    of the sphere √(2 G), and the reach of the columns (2, 1).
    """
    problem = reduced(np.eye(2), [1.0, -1.0], 0.0, 2.0, sample_weight=[4.0, 1.0])
    point = Point(problem, np.zeros(2))
    dual = DualPoint.residual(point)
    gap = duality_gap(point, dual)
    assert gap == pytest.approx(8.0, rel=1e-7)
    for region, radius in ((TwoPointBall(), np.sqrt(8.0)), (GapSphere(), 4.0)):
        low, high = region.correlation_range(point, dual, gap)
        np.testing.assert_allclose(high, [4.0 + 2.0 * radius, -1.0 + radius], rtol=1e-6)
        np.testing.assert_allclose(low, [4.0 - 2.0 * radius, -1.0 - radius], rtol=1e-6)


def test_local_constants_leave_infinite_reach_only_where_a_column_meets_them() -> None:
    """Rows without a constant: +inf for the columns that have an entry there."""
    A = np.array([[1.0, 0.0], [2.0, 3.0]])
    problem = reduced(A, np.ones(2), 0.0, 1.0)
    reach = problem.reach_under(Smoothness.made(np.array([np.inf, 4.0])))
    assert reach[0] == np.inf
    assert reach[1] == pytest.approx(6.0, rel=1e-7)
    assert exact([reach[1]])[0] >= 6
