"""Every step of a proof by itself: its bound holds in rational arithmetic where rounding decides.

A gap or a screening test rests on a chain of bounds, and a whole solve may hide that one of them fails
behind the slack of the others. Here each is judged alone, on pairs made for it (`hard_pairs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from boxreg import validate, verify
from boxreg.dual_cone import DualCone
from boxreg.duality import DualPoint, duality_gap, feasible_nearby
from boxreg.equality_columns import EqualityMetric
from boxreg.point import Point
from boxreg.presolve import unreduced
from boxreg.safe_regions import REGIONS
from boxreg.safe_regions.base import Metric
from boxreg.safe_regions.dome import Cap, cap_reach, half_space
from boxreg.safe_regions.two_point_ball import TwoPointBall
from boxreg.screening import screen
from boxreg.work import WorkMeter
from hard_pairs import KINDS, Pair, apart, gap_of, hard_pair, prediction, residual, tight_pair
from rational import exact, inner, projected, slopes
from references.exact import exact_solution

SEEDS = range(60)


def within(found: np.ndarray, true: list[Fraction], bound: np.ndarray) -> bool:
    """|found_j - true_j| <= bound_j for all j."""
    rows = zip(exact(found), true, exact(bound), strict=True)
    return all(abs(f - t) <= b for f, t, b in rows)


@pytest.fixture(params=KINDS)
def pairs(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Pairs of one kind."""
    few = request.param.startswith("biased")
    return (hard_pair(request.param, seed) for seed in SEEDS[: 8 if few else None])


def test_predictions(pairs: Iterator[Pair]) -> None:
    """||p computed - A x|| is within its bound, and the residual within its own."""
    for pair in pairs:
        point = pair.point()
        off = apart(point.prediction, prediction(pair))
        assert off <= Fraction(point.prediction_error) ** 2
        off = apart(point.residual, residual(pair))
        assert off <= Fraction(point.residual_error) ** 2


def test_residuals_with_weights() -> None:
    """rho_i = ω_i (y_i - p_i): the error of a prediction grows with the largest weight."""
    for seed in SEEDS:
        pair = hard_pair("cancelled", seed)
        weights = np.random.default_rng([seed, 16]).choice([0.25, 1.0, 2.0**20], len(pair.y))
        point = pair.point(sample_weight=weights)
        true = [w * r for w, r in zip(exact(weights), residual(pair), strict=True)]
        assert apart(point.residual, true) <= Fraction(point.residual_error) ** 2


def test_predictions_of_counts() -> None:
    """Row by row, relative to the prediction, where A and x are at least 0."""
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 17])
        m, n = 4, int(rng.integers(1, 40))
        A = rng.random((m, n)) * 10.0 ** rng.uniform(-6.0, 6.0, (m, 1))
        x = rng.random(n)
        posed = validate.problem(A, 1.0 + rng.random(m), 0.0, np.inf, "kullback_leibler")
        low, high = Point(unreduced(posed, WorkMeter(n)), x).prediction_ends
        for i in range(m):
            assert Fraction(low[i]) <= inner(A[i], x) <= Fraction(high[i])


def test_predictions_of_dropped_columns() -> None:
    """Columns leave in turn, with values that cancel each other: the offset's error is carried along."""
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 8])
        m, n = 3, 8
        A = rng.standard_normal((m, n))
        A[:, 1::2] = -A[:, ::2]
        values = np.repeat(10.0 ** rng.uniform(0.0, 8.0, n // 2), 2) + rng.random(n)
        pair = Pair(A, rng.standard_normal(m), values, values, values, np.zeros(m))
        problem = pair.reduced()
        true = prediction(pair)
        for left in (6, 4, 2):
            problem = problem.keep(np.arange(2, left + 2))
            assert problem.offset_error > 0.0
            point = Point(problem, values[-left:])
            assert apart(point.prediction, true) <= Fraction(point.prediction_error) ** 2


def test_products(pairs: Iterator[Pair]) -> None:
    """w_j of a dual point by a product, and of the residual, is within its uncertainty."""
    for pair in pairs:
        point = pair.point()
        problem = point.problem
        for dual in (DualPoint.at(pair.theta, problem), DualPoint.residual(point)):
            true = slopes(pair.A, dual.theta)
            assert within(dual.correlation, true, dual.uncertainty(problem))


def test_products_with_a_cost() -> None:
    """A cost that is large beside the products, or equal to them but for rounding."""
    for seed in SEEDS:
        pair = hard_pair("gaussian", seed)
        rng = np.random.default_rng([seed, 5])
        small = 10.0 ** -rng.uniform(0.0, 6.0) * pair.theta
        for c in (rng.standard_normal(len(pair.x)), pair.A.T @ small):
            problem = pair.reduced(linear=c)
            dual = DualPoint.at(small, problem)
            for _ in range(3):
                assert within(
                    dual.correlation, slopes(pair.A, dual.theta, c), dual.uncertainty(problem)
                )
                dual = dual.toward(DualPoint.zero(problem), 0.3)
            assert within(
                dual.correlation, slopes(pair.A, dual.theta, c), dual.uncertainty(problem)
            )


@pytest.mark.parametrize("move", ["plus", "toward"])
def test_products_by_linearity(move: str) -> None:
    """Dual points made of the one before, by small steps: errors add up, and so do the bounds."""
    for seed in range(10):
        rng = np.random.default_rng([seed, 6])
        a = rng.standard_normal((1, 2))
        pair = Pair(a, rng.standard_normal(1), -np.ones(2), np.ones(2), np.zeros(2), np.ones(1))
        problem = pair.reduced()
        dual = DualPoint.at(rng.standard_normal(1), problem)
        for _ in range(400):
            other = rng.standard_normal(1)
            if move == "plus":
                dual = dual.plus(1e-6 * (rng.random() - 0.5), DualPoint.direction(other, problem))
            else:
                dual = dual.toward(DualPoint.at(other, problem), 1e-6 * rng.random())
        assert within(dual.correlation, slopes(a, dual.theta), dual.uncertainty(problem))


def test_products_of_a_direction() -> None:
    """Of a long sum, whose error is more than that of adding it to another point."""
    for seed in range(8):
        pair = hard_pair("biased_rows", seed)
        problem = pair.reduced()
        dual = DualPoint.zero(problem).plus(1.0, DualPoint.direction(pair.theta, problem))
        assert within(dual.correlation, slopes(pair.A, dual.theta), dual.uncertainty(problem))


def test_gaps(pairs: Iterator[Pair]) -> None:
    """The gap is at least P(x) - D(theta), of the residual, of any theta, and of points between."""
    for pair in pairs:
        point = pair.point()
        problem = point.problem
        given, rho = DualPoint.at(pair.theta, problem), DualPoint.residual(point)
        for dual in (given, rho, given.toward(rho, 0.3)):
            true = gap_of(pair, dual.theta)
            assert true is not None
            assert Fraction(duality_gap(point, dual)) >= true


def test_gaps_with_a_cost() -> None:
    """The same with a cost that the products nearly equal, over a wide box."""
    for seed in SEEDS:
        pair = hard_pair("orthogonal", seed)
        rng = np.random.default_rng([seed, 7])
        theta = pair.theta + pair.A @ rng.standard_normal(len(pair.x))
        c = pair.A.T @ theta
        point = pair.point(linear=c)
        dual = DualPoint.at(theta, point.problem)
        true = gap_of(pair, theta, c)
        assert true is not None
        assert Fraction(duality_gap(point, dual)) >= true


def test_a_gap_that_underflows() -> None:
    """A cost and a box so small that their product is 0 in float64, at a perfect fit."""
    tiny = 1e-170 * np.ones(1)
    for side in (1.0, -1.0):
        pair = Pair(np.eye(1), np.zeros(1), -tiny, tiny, np.zeros(1), np.zeros(1))
        point = pair.point(linear=side * tiny)
        true = gap_of(pair, np.zeros(1), side * tiny)
        assert true is not None
        assert true > 0
        assert Fraction(duality_gap(point, DualPoint.zero(point.problem))) >= true


def test_brackets_that_underflow() -> None:
    """x is fixed, so that the bracket is all there is of the gap, and its square is below float64."""
    for seed in SEEDS:
        pair = hard_pair("faint", seed)
        fixed = Pair(pair.A, pair.y, pair.x, pair.x, pair.x, pair.theta)
        point = fixed.point()
        true = gap_of(fixed, pair.theta)
        assert true is not None
        assert Fraction(duality_gap(point, DualPoint.at(pair.theta, point.problem))) >= true


def test_gaps_with_free_columns() -> None:
    """theta stands for the point next to it that is orthogonal to the free columns, however far off."""
    for seed in range(80):
        rng = np.random.default_rng([seed, 22])
        m, n, k = 6, 4, int(rng.integers(1, 3))
        A, y, x = rng.standard_normal((m, n)), rng.standard_normal(m), rng.standard_normal(n)
        free = np.arange(n) < k
        room = float(seed % 4 < 2)  # 0: nothing but the bracket is left of the gap
        lower, upper = np.where(free, -np.inf, x - room), np.where(free, np.inf, x + room)
        theta = y - A @ x
        if seed % 2:
            for _ in range(2):
                theta = theta - A[:, :k] @ np.linalg.lstsq(A[:, :k], theta)[0]
            theta = theta + 10.0 ** -rng.uniform(0.0, 17.0) * rng.standard_normal(m)
        pair = Pair(A, y, lower, upper, x, theta)
        point = Point(pair.reduced().with_equalities(), x)
        near = projected(A[:, :k], np.ones(m), theta, np.zeros(k))
        true = gap_of(pair, near)
        assert true is not None
        dual = DualPoint.at(theta, point.problem)
        assert Fraction(duality_gap(point, dual)) >= true
        shifted, moved = feasible_nearby(point, dual)
        assert moved is not None
        assert within(theta, near, moved)
        assert within(dual.correlation, slopes(A, near), shifted.uncertainty(point.problem))


def test_distances_with_a_basis_that_is_not_quite_orthonormal() -> None:
    """U = M V with V a little off: what that costs is in the distance; far off, there is no proof."""
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 24])
        m, k = 5, int(rng.integers(1, 3))
        columns, _ = np.linalg.qr(rng.standard_normal((m, k)))
        theta, ones = rng.standard_normal(m), np.ones(m)
        for size in (1.0, 0.85, 1.1):
            made = EqualityMetric._proved(np.arange(k), columns, size * np.eye(k), ones, np.ones(k))
            assert made is not None
            off = np.abs(columns.T @ theta) * (1.0 + 1e-12)
            near = projected(columns, ones, theta, np.zeros(k))
            assert within(theta, near, made.distance(off))
        for size in (2.0, 0.5, 0.0):
            worse = (np.arange(k), columns, size * np.eye(k), ones, np.ones(k))
            assert EqualityMetric._proved(*worse) is None


def test_gaps_are_infinite_where_theta_is_not_feasible() -> None:
    """Products of either sign next to 0, without the bound that makes one of them harmless."""
    for seed in SEEDS:
        pair = hard_pair("orthogonal", seed)
        for lower, upper in ((0.0, np.inf), (-np.inf, 0.0)):
            n = len(pair.x)
            cut = Pair(
                pair.A, pair.y, np.full(n, lower), np.full(n, upper), np.zeros(n), pair.theta
            )
            point = cut.point()
            gap = duality_gap(point, DualPoint.at(pair.theta, point.problem))
            true = gap_of(cut, pair.theta)
            assert gap == np.inf or (true is not None and Fraction(gap) >= true)


@pytest.mark.parametrize("size", [np.inf, np.nan])
def test_gaps_are_infinite_where_slopes_have_overflowed(size: float) -> None:
    """An infinite slope of a coordinate that is at the bound it points to: 0 · inf proves nothing."""
    pair = hard_pair("gaussian", 0)
    n = len(pair.x)
    cut = Pair(pair.A, pair.y, np.zeros(n), np.ones(n), np.ones(n), pair.theta)
    point = cut.point()
    for slope in (size, -size):
        slopes = np.full(n, 0.5)
        slopes[0] = slope
        assert duality_gap(point, DualPoint(pair.theta, slopes, 0.0)) == np.inf


@pytest.mark.parametrize("size", [1.09431887e-307, 1e-310])
def test_gaps_at_a_prediction_that_cancels_at_the_end_of_the_range(size: float) -> None:
    """Its computed value is 0 and so is theta, which is optimal; the true objective is no float64."""
    A, y = np.array([[-0.20332957, 0.0014721]]), np.zeros(1)
    x = np.array([size, -size * A[0, 0] / A[0, 1]])
    n = len(x)
    pair = Pair(A, y, np.zeros(n), np.full(n, np.inf), x, np.zeros(1))
    point = pair.point()
    true = gap_of(pair, pair.theta)
    assert true is not None
    assert 0 < true < Fraction(2.0**-1074)
    assert point.prediction[0] == 0.0
    assert Fraction(duality_gap(point, DualPoint.at(pair.theta, point.problem))) >= true
    assert not verify(A, y, x, np.zeros(1), gap=0.0)


def test_gaps_at_a_cancelled_prediction() -> None:
    """theta = rho as computed: all there is of the gap is what rounding did to the prediction."""
    for seed in SEEDS:
        pair = hard_pair("cancelled", seed)
        point = pair.point()
        far = pair.theta + 1e-3 * np.sign(pair.A.sum(axis=1))
        for theta in (point.residual, far):
            wide = Pair(pair.A, pair.y, pair.x, pair.x, pair.x, theta)
            there = wide.point()
            true = gap_of(wide, theta)
            assert true is not None
            assert Fraction(duality_gap(there, DualPoint.at(theta, there.problem))) >= true


def contained(pair: Pair, best: list[Fraction], name: str) -> None:
    """w*_j is in the range that the region gives, for the pair's theta and the residual.

    With the gap as computed, and with the least that a region may be given: the true one, rounded up.
    """
    point = pair.point()
    true = slopes(pair.A, best)
    signs = np.array([(w > 0) - (w < 0) for w in true])
    for dual in (DualPoint.at(pair.theta, point.problem), DualPoint.residual(point)):
        for gap in (duality_gap(point, dual), rounded_up(gap_of(pair, dual.theta))):
            low, high = REGIONS[name]().correlation_range(point, dual, gap)
            for down, w, up in zip(exact(low), true, exact(high), strict=True):
                assert down <= w <= up
            at_lower, at_upper = screen(point, dual, gap, REGIONS[name]())
            assert np.all(signs[at_lower] == -1)
            assert np.all(signs[at_upper] == 1)


def rounded_up(value: Fraction | None) -> float:
    """The least float that is no less; theta must be feasible."""
    assert value is not None
    near = float(value)
    return near if Fraction(near) >= value else float(np.nextafter(near, np.inf))


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("kind", ["gaussian", "cancelled", "orthogonal", "zero_column"])
def test_regions(name: str, kind: str) -> None:
    for seed in SEEDS:
        pair = hard_pair(kind, seed)
        contained(pair, exact_solution(*pair.data).theta, name)


@pytest.mark.parametrize("name", REGIONS)
def test_regions_that_are_met_at_their_boundary(name: str) -> None:
    """theta* is as far from theta, and from rho, as the gap allows: no smaller region would do."""
    for seed in SEEDS:
        pair, best = tight_pair(seed)
        contained(pair, best, name)
        # The solution's own theta, and a point x whose residual is as far off as its objective.
        rng = np.random.default_rng([seed, 9])
        wide = Pair(
            pair.A,
            pair.y,
            pair.lower - 1e6,
            pair.upper + 1e6,
            rng.integers(-3, 4, len(pair.x)).astype(float),
            pair.theta,
        )
        known = exact_solution(*wide.data)
        at_best = np.array([float(t) for t in known.theta])
        contained(Pair(wide.A, wide.y, wide.lower, wide.upper, wide.x, at_best), known.theta, name)


@pytest.mark.parametrize("name", REGIONS)
def test_regions_with_predictions_that_are_as_wrong_as_they_may_be(name: str) -> None:
    """The computed prediction is off by all of its error, in the direction that hurts the region."""
    for seed in SEEDS:
        pair, _ = tight_pair(seed)
        rng = np.random.default_rng([seed, 25])
        x = rng.integers(-3, 4, len(pair.x)).astype(float)
        far = np.full(len(x), 1e6)
        known = exact_solution(pair.A, pair.y, -far, far)
        theta = np.array([float(t) for t in known.theta])
        wide = Pair(pair.A, pair.y, -far, far, x, theta)
        gap = rounded_up(gap_of(wide, theta))
        rho = pair.y - pair.A @ x
        apart_by = np.linalg.norm(theta - rho)
        if apart_by == 0.0:
            continue
        for share in (1e-3, -1e-3, 0.3, -0.3):
            point = wide.point()
            point.prediction = pair.A @ x + share * (theta - rho)
            point.prediction_error = abs(share) * apart_by * (1.0 + 1e-12)
            dual = DualPoint.at(theta, point.problem)
            low, high = REGIONS[name]().correlation_range(point, dual, gap)
            true = slopes(pair.A, known.theta)
            for down, w, up in zip(exact(low), true, exact(high), strict=True):
                assert down <= w <= up


@pytest.mark.parametrize("name", REGIONS)
def test_regions_around_the_solution_itself(name: str) -> None:
    """x = x* = 0 and theta = theta* = y, exactly: what is left of the range is the error of products."""
    for seed in range(8):
        pair = hard_pair("biased_rows", seed)
        A, y = -pair.A, pair.y
        known = Pair(A, y, np.zeros(1), np.ones(1), np.zeros(1), y)
        contained(known, exact(y), name)


def test_the_centre_of_the_ball() -> None:
    """The products of (theta + rho) / 2, rho that of the true prediction."""
    for kind in ("gaussian", "cancelled", "long"):
        for seed in SEEDS:
            pair = hard_pair(kind, seed)
            point = pair.point()
            dual = DualPoint.at(pair.theta, point.problem)
            gap = duality_gap(point, dual)
            ball = TwoPointBall().ball(point, dual, gap, Metric.of(point, dual, gap))
            halves = zip(exact(pair.theta), residual(pair), strict=True)
            true = slopes(pair.A, [(t + r) / 2 for t, r in halves])
            assert within(ball.correlation, true, ball.uncertainty)


def test_the_half_space() -> None:
    """<g, theta*> <= level, on solutions with x*_j inside: <A s, theta*> is 0 but for rounding."""
    for seed in range(120):
        rng = np.random.default_rng([seed, 10])
        n = int(rng.integers(1, 4))
        m = n + int(rng.integers(1, 3))
        A = rng.standard_normal((m, n))
        scale = 10.0 ** rng.uniform(0.0, 6.0)
        y = A @ (scale * (1.0 + rng.random(n))) + rng.standard_normal(m)
        x = scale * (1.0 + rng.random(n))
        upper = np.where(rng.random(n) < 0.5, np.inf, 4.0 * scale)
        pair = Pair(A, y, np.zeros(n), upper, x, y)
        known = exact_solution(A, y, np.zeros(n), np.minimum(upper, 1e12))
        point = pair.point()
        size = float(np.sqrt(float(sum(t * t for t in known.theta)))) * (1.0 + 1e-12)
        excess = float(sum(t * t for t in residual(pair)) / 2 - known.objective)
        g, level = half_space(point, excess * (1.0 + 1e-12), size)
        assert inner(exact(g), known.theta) <= Fraction(level)


def test_the_reach_of_a_cap() -> None:
    """Against the maximum over the cap in 60 digits, for columns that are nearly along its axis too."""
    rng = np.random.default_rng(11)
    with mpmath.workdps(60):
        for _ in range(300):
            axis = rng.standard_normal(4)
            column = rng.standard_normal(4) + rng.choice([0.0, 10.0, -10.0, 1e8]) * axis
            radius = float(10.0 ** rng.uniform(-6.0, 2.0))
            depth = radius * float(rng.uniform(-0.999, 0.999))
            a, g = (mpmath.matrix(v.tolist()) for v in (column, axis))
            along = (a.T * g)[0] / mpmath.norm(g)
            across = mpmath.sqrt(max(mpmath.norm(a) ** 2 - along**2, 0))
            true = radius * mpmath.norm(a)
            if radius * along > depth * mpmath.norm(a):
                true = along * depth + across * mpmath.sqrt(mpmath.mpf(radius) ** 2 - depth**2)
            size = np.linalg.norm(column)
            unsure = np.array([1e-15])
            found = cap_reach(
                np.array([float(along)]), unsure, Cap(np.array([size]), depth, radius)
            )
            assert mpmath.mpf(float(found[0])) >= true


@pytest.mark.parametrize("kind", ["gaussian", "long", "orthogonal"])
def test_points_pushed_into_the_cone(kind: str) -> None:
    """Feasible in exact arithmetic, proved so, and proved again by a product."""
    for seed in SEEDS:
        pair = hard_pair(kind, seed)
        rng = np.random.default_rng([seed, 12])
        side = rng.choice([-1.0, 1.0], len(pair.x))
        t = rng.standard_normal(len(pair.y))
        A = np.where(side * (pair.A.T @ t) > 0.0, -1.0, 1.0) * pair.A
        A = A - np.outer(t, side) / (t @ t) * rng.choice([1.0, 1e-3, 1e-7])
        lower = np.where(side > 0.0, 0.0, -np.inf)
        upper = np.where(side > 0.0, np.inf, 0.0)
        cut = Pair(A, pair.y, lower, upper, np.zeros(len(side)), pair.theta)
        point = cut.point()
        problem = point.problem
        nothing = np.zeros(len(side), dtype=bool)
        anchor = DualPoint.at(t * 10.0 ** rng.uniform(-3.0, 6.0), problem)
        direction = DualPoint.direction(t, problem)
        for cone in (DualCone(direction, nothing), DualCone(None, nothing, anchor=anchor)):
            for theta in (pair.theta, -t + pair.theta):
                pushed = cone.push(DualPoint.at(theta, problem), point)
                assert gap_of(cut, pushed.theta) is not None
                again = DualPoint.at(pushed.theta, problem)
                for dual in (pushed, again):
                    gap = duality_gap(point, dual)
                    assert gap < np.inf
                    assert Fraction(gap) >= gap_of(cut, pushed.theta)
