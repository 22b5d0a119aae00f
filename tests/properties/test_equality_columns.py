"""Coordinates without bounds: dual points that are exactly orthogonal to their columns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg.designs import DenseDesign
from boxreg.directions import build_cone
from boxreg.dual_cone import balanced
from boxreg.duality import DualPoint, duality_gap, feasible_nearby
from boxreg.equality_columns import EqualityColumns, EqualityMetric
from boxreg.point import Point
from boxreg.settings import using
from building import reduced
from rational import exact, projected, slopes
from references.exact import exact_solution

METRICS = ("ones", "spread", "vanishing")
KINDS = ("plain", "weights", "costs", "logistic", "huber")


def system(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Columns of any scale, a metric, theta and c."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 9))
    k = int(rng.integers(1, min(m, 4)))
    columns = rng.standard_normal((m, k)) * 10.0 ** rng.uniform(-4, 4, k)
    h = {
        "ones": np.ones(m),
        "spread": 10.0 ** rng.uniform(-5, 5, m),
        "vanishing": np.where(np.arange(m) < k, 1.0, rng.choice([0.0, 1e-12, 0.2], m)),
    }[kind]
    return columns, h, rng.standard_normal(m), columns.sum(axis=0) * rng.standard_normal(k)


def columns_of(columns: np.ndarray, places: list[int]) -> EqualityColumns:
    """These columns as the equality columns at those places of a design."""
    whole = np.ones((len(columns), max(places) + 1))
    whole[:, places] = columns
    return EqualityColumns(DenseDesign(whole), np.array(places))


def rounded_up(values: list[Fraction]) -> np.ndarray:
    """|v| as floats that are not below it."""
    return np.nextafter([float(abs(v)) for v in values], np.inf)


@pytest.mark.parametrize("kind", METRICS)
def test_the_distance_is_proved_row_by_row(kind: str) -> None:
    """|theta'_i - theta_i| <= distance_i for the exact theta', far from and near to feasibility."""
    found = 0
    for seed in range(60):
        columns, h, theta, c = system(seed, kind)
        metric = EqualityMetric.of(columns, h)
        if metric is None:
            continue
        for _ in range(3):
            off = slopes(columns, theta, c)
            chosen = metric.chosen
            there = projected(columns[:, chosen], h, theta, c[chosen])
            assert all(w == 0 for w in slopes(columns[:, chosen], there, c[chosen]))
            bound = metric.distance(rounded_up(off))
            for new, old, most in zip(there, exact(theta), bound, strict=True):
                assert abs(new - old) <= Fraction(float(most))
            theta = theta - metric.correction(np.array([float(v) for v in off]))
            found += 1
    assert found > 100


def test_the_distance_by_hand() -> None:
    """A_F = (3, 4), δ = 5: theta' - theta = -(3, 4) / 5; with h = (4, 1), -(12, 4) · 5 / 52."""
    metric = EqualityMetric.of(np.array([[3.0], [4.0]]), np.ones(2))
    assert metric is not None
    np.testing.assert_allclose(metric.distance(np.array([5.0])), [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(metric.correction(np.array([-5.0])), [-0.6, -0.8], rtol=1e-15)
    metric = EqualityMetric.of(np.array([[3.0], [4.0]]), np.array([4.0, 1.0]))
    assert metric is not None
    expected = np.array([12.0, 4.0]) * 5 / 52
    np.testing.assert_allclose(metric.distance(np.array([5.0])), expected, rtol=1e-6)
    np.testing.assert_allclose(metric.correction(np.array([5.0])), expected, rtol=1e-15)


@pytest.mark.parametrize("far", [1e200, np.inf, np.nan])
def test_products_that_are_not_finite(far: float) -> None:
    """Every row that can move may be anywhere, and nothing is warned of."""
    A = np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    metric = columns_of(A, [0, 1]).metric(None)
    assert metric is not None
    with np.errstate(over="ignore", invalid="raise"):
        bound = metric.distance(np.array([far, 0.0]))
    assert np.all(bound[:2] >= 1e199)
    assert bound[3] == 0.0


def test_dependent_columns_are_left_out() -> None:
    """Equal, combined and zero ones; and those that differ only in rows without curvature."""
    rng = np.random.default_rng(2)
    a = rng.standard_normal((6, 2))
    for third in (a[:, 0], a @ [2.0, -3.0], np.zeros(6), 1e8 * a[:, 1]):
        columns = np.column_stack([a, third])
        metric = EqualityMetric.of(columns, np.ones(6))
        assert metric is not None
        assert len(metric.chosen) == 2
        theta = rng.standard_normal(6)
        off = columns.T @ theta
        moved = theta - metric.correction(off)
        np.testing.assert_allclose(columns.T @ moved / np.abs(columns).max(), 0.0, atol=1e-13)
    apart = np.column_stack([a[:, 0], a[:, 0]])
    apart[5, 1] += 1.0
    hidden = np.where(np.arange(6) == 5, 0.0, 1.0)
    assert len(EqualityMetric.of(apart, np.ones(6)).chosen) == 2
    assert len(EqualityMetric.of(apart, hidden).chosen) == 1
    assert len(EqualityMetric.of(rng.standard_normal((3, 4)), np.ones(3)).chosen) == 3
    assert EqualityMetric.of(np.zeros((3, 2)), np.ones(3)) is None
    held = columns_of(apart, [4, 7])
    assert held.metric(hidden) is held.metric(None)  # which sees that they are independent
    np.testing.assert_array_equal(np.sort(held.covered(held.metric(hidden))), [4, 7])
    assert not len(held.covered(None))


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9, 1e-11, 1e-13, 1e-16])
def test_nearly_dependent_columns(size: float) -> None:
    """Proved independent down to rounding, or left out: in either case the bound holds."""
    for seed in range(10):
        rng = np.random.default_rng([seed, 9])
        a = rng.standard_normal((7, 3))
        columns = np.column_stack([a, a @ [1.0, -1.0, 2.0] + size * rng.standard_normal(7)])
        theta, h = rng.standard_normal(7), rng.uniform(0.1, 2.0, 7)
        metric = EqualityMetric.of(columns, h)
        assert metric is not None
        chosen = columns[:, metric.chosen]
        assert size < 1e-8 or len(metric.chosen) == 4
        there = projected(chosen, h, theta, np.zeros(len(metric.chosen)))
        bound = metric.distance(rounded_up(slopes(columns, theta)))
        for new, old, most in zip(there, exact(theta), bound, strict=True):
            assert abs(new - old) <= Fraction(float(most))


def test_the_plain_metric_is_computed_once() -> None:
    """And those with weights each time."""
    held = columns_of(np.eye(3)[:, :2], [0, 1])
    assert held.metric(None) is held.metric(None)
    assert held.metric(np.ones(3)) is not held.metric(np.ones(3))
    assert columns_of(np.zeros((3, 2)), [0, 1]).metric(np.ones(3)) is None


def posed(seed: int, kind: str) -> tuple[Point, np.ndarray, dict[str, Any]]:
    """A point of a small problem with two free coordinates, one half-line each way and a box."""
    rng = np.random.default_rng([seed, 5])
    A = rng.standard_normal((9, 5))
    y = rng.standard_normal(9)
    terms: dict[str, Any] = {}
    if kind == "weights":
        terms["sample_weight"] = rng.uniform(0.1, 5.0, 9)
    if kind == "costs":
        terms["linear"] = A.T @ rng.standard_normal(9)
    if kind in ("logistic", "huber"):
        terms["loss"] = kind
        y = np.sign(y) if kind == "logistic" else 3 * y
    lower = np.array([-np.inf, -np.inf, -np.inf, 0.0, -1.0])
    upper = np.array([np.inf, np.inf, 0.0, np.inf, 1.0])
    problem = reduced(A, y, lower, upper, **terms)
    x = np.clip(0.3 * rng.standard_normal(5), lower, upper)
    return Point(problem, x), A, terms


@pytest.mark.parametrize("kind", KINDS)
def test_feasible_nearby(kind: str) -> None:
    """An exactly orthogonal theta' is within the distance given, its slopes within the error given."""
    for seed in range(12):
        point, A, terms = posed(seed, kind)
        problem, c = point.problem, terms.get("linear")
        assert point.equalities(np.zeros(9)).proved
        start = DualPoint.residual(point)
        for dual in (start, balanced(start, point)):
            still = problem.at_domain_end(dual.theta)
            if still is not None and np.count_nonzero(~still) < 2:
                continue  # too few rows may move
            used = point.equalities(dual.theta).metric
            plain = used is problem.equality.metric(None, still)
            h = np.ones(9) if plain else point.curvature
            h = h if still is None else np.where(still, 0.0, h)
            near, moved = feasible_nearby(point, dual)
            assert moved is not None
            costs = None if c is None else c[:2]
            there = projected(A[:, :2], h, dual.theta, costs)
            for new, old, most in zip(there, exact(dual.theta), moved, strict=True):
                assert abs(new - old) <= Fraction(float(most))
            off = near.uncertainty(problem)
            for w, seen, most in zip(slopes(A, there, c), near.correlation, off, strict=True):
                assert abs(w - Fraction(float(seen))) <= Fraction(float(most))
        if still is None:  # after balancing: rounding only
            assert np.max(moved) <= 1e-10 * np.max(np.abs(start.theta))


def test_nothing_moves_without_free_columns() -> None:
    """The same object, and no distance."""
    point = Point(reduced(np.eye(3), np.ones(3)), np.zeros(3))
    dual = DualPoint.residual(point)
    assert feasible_nearby(point, dual) == (dual, None)
    assert point.equalities(dual.theta) is None


def dependent(kind: str) -> np.ndarray:
    """Three columns of rank two: exactly, or as far as float64 can tell."""
    first, third = np.ones(4), np.arange(4.0)
    if kind == "exactly":
        return np.column_stack([first, first, third])
    first = np.array([0.1, 0.7, 1.3, -0.9])
    return np.column_stack([first, third / 3.0, first / 3.0 + third / 7.0])


@pytest.mark.parametrize("kind", ["exactly", "up to rounding"])
def test_dependent_free_columns(kind: str) -> None:
    """The minimum is found and the gap small; it is proved where the dependence is exact."""
    A, y = dependent(kind), np.array([1.0, 0.0, 2.0, 5.0])
    point = Point(reduced(A, y, -np.inf), np.zeros(3))
    assert point.equalities(point.residual).dependent.sum() == (kind != "exactly")
    expected = 0.5 * np.linalg.lstsq(A[:, 1:], y)[1][0]
    for solver in ("auto", "active_set", "coordinate_descent"):
        result = boxreg.solve(A, y, -np.inf, solver=solver, tol=1e-8)
        assert result.objective == pytest.approx(expected, rel=1e-7)
        assert result.success
        assert result.certificate.rigorous == (kind == "exactly")
        assert np.all(np.isfinite(result.x))


@pytest.mark.parametrize("kind", ["plain", "costs"])
def test_gaps_with_free_coordinates_are_bounds(kind: str) -> None:
    """P(x) - P* <= gap in exact arithmetic; and at the solution next to nothing."""
    for seed in range(12):
        rng = np.random.default_rng([seed, 6])
        A = np.round(64 * rng.standard_normal((8, 4))) / 64
        y, shift = rng.integers(-3, 4, (2, 8)).astype(float)
        shift *= kind == "costs"
        linear = A.T @ shift  # exact: cᵀx = shiftᵀA x moves the target by -shift, and a constant
        lower = np.array([-np.inf, -np.inf, 0.0, 0.0])
        far = np.maximum(lower, -(2.0**20))
        known = exact_solution(A, y - shift, far, np.full(4, np.inf))
        assert all(known.x[j] > far[j] for j in range(2))
        problem = reduced(A, y, lower, np.inf, linear=linear)
        cone = build_cone(problem, "auto")
        solution = np.array([float(v) for v in known.x])
        for distance in (0.0, 1e-6, 0.3):
            x = np.maximum(solution + distance * rng.standard_normal(4), lower)
            point = Point(problem, x)
            gap = duality_gap(point, cone.push(DualPoint.residual(point), point))
            rows = [sum((a * b for a, b in zip(exact(row), exact(x), strict=True))) for row in A]
            rest = [a - b for a, b in zip(exact(y - shift), rows, strict=True)]
            assert sum(r * r for r in rest) / 2 - known.objective <= Fraction(gap)
            if distance == 0.0:
                assert gap <= 1e-10


def test_too_many_columns_stay_in_doubt() -> None:
    """Where factors would take too long the gap is computed under the assumption, and nothing more."""
    rng = np.random.default_rng(4)
    A, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    x = np.linalg.lstsq(A, y)[0]
    proved = boxreg.verify(A, y, x, y - A @ x, -np.inf, np.inf)
    assert proved
    with using(equality_operations=100.0):
        doubtful = boxreg.verify(A, y, x, y - A @ x, -np.inf, np.inf)
        assert doubtful.verdict.name == "NOT_PROVED"
        assert doubtful.reasons[0].startswith("assumption (dependent columns): 6 ")
        assert np.isfinite(doubtful.gap)
        assert boxreg.verify(A, y, x, np.zeros(20), -np.inf, np.inf)  # theta = 0 needs no factors


def test_theta_zero_beside_costs() -> None:
    """P(x) = (x - 1)² + 10 x is 1 at 0 and -15 at its minimum, -4; theta = 0 would prove 1 - 0."""
    A, y = np.ones((2, 1)), np.ones(2)
    assert boxreg.verify(A, y, [0.0], [0.0, 0.0], -np.inf, np.inf, gap=1.0 + 1e-6)
    certificate = boxreg.verify(A, y, [0.0], [0.0, 0.0], -np.inf, np.inf, linear=[10.0])
    assert certificate.gap >= 16.0


def test_rows_at_the_end_of_a_domain_stay() -> None:
    """A row that cannot move has no part in the way to the equality columns."""
    held = columns_of(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 1.0]]), [0, 1])
    still = np.array([False, True, False, False])
    for h in (None, np.array([1.0, 1.0, 2.0, 3.0])):
        metric = held.metric(h, still)
        assert metric is not None
        assert metric.distance(np.ones(2))[1] == 0.0
        assert np.all(metric.distance(np.ones(2))[[0, 2, 3]] > 0.0)
