"""From what the caller asks for to the inner problem: row maps, linear rows, costs and ridge rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import validate
from boxreg.designs.stacked import IdentityDesign, StackedDesign
from boxreg.duality import DualPoint
from boxreg.losses import LOSSES, KullbackLeibler, LeastSquares
from boxreg.losses.stacked import StackedLoss
from boxreg.losses.weighted import Weighted
from boxreg.point import Point
from boxreg.row_map import RowMap
from building import reduced
from rational import exact, inner, slopes

RNG = np.random.default_rng(8)
COUNTS = np.array([0.0, 3.0, 0.0, 1.0, 7.0, 0.0, 2.0, 0.0])
POSITIVE = RNG.uniform(0.0, 1.0, (8, 5)) / 3.0


def test_row_maps_by_hand() -> None:
    """Rows 1 and 3 of four are kept, and two rows of a ridge term follow."""
    rows = RowMap(np.array([1, 3]), np.array([0.0, 0.0, -2.0, 0.0]))
    theta = np.array([5.0, 6.0, 7.0, 8.0])
    whole = rows.expand(theta)
    np.testing.assert_array_equal(whole, [0.0, 5.0, -2.0, 6.0, 7.0, 8.0])
    np.testing.assert_array_equal(rows.restrict(whole), theta)
    np.testing.assert_array_equal(rows.known, [0.0, 0.0, -2.0, 0.0])
    for i, value in ((0, 1e-300), (2, np.nextafter(-2.0, 0.0))):
        other = whole.copy()
        other[i] = value
        assert rows.restrict(other) is None
    short = rows.expand(theta[:2])
    np.testing.assert_array_equal(short, [0.0, 5.0, -2.0, 6.0])
    np.testing.assert_array_equal(rows.restrict(short), theta[:2])


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_theta_goes_there_and_back(loss: str, weighted: bool, ridge: float) -> None:
    """The result's theta covers the rows of the data and the ridge; verify takes it back."""
    y = np.where(COUNTS > 2, 1.0, -1.0) if loss in ("logistic", "squared_hinge") else COUNTS
    y = y + 0.5 if loss == "beta_divergence" else y
    terms: dict[str, Any] = {"ridge": ridge, "loss": loss}
    if weighted:
        terms["sample_weight"] = np.where(np.arange(8) == 1, 0.0, 1.0 + np.arange(8))
    result = boxreg.solve(POSITIVE, y, 0.0, 2.0, **terms)
    assert len(result.theta) == 8 + (5 if ridge else 0)
    if weighted:
        assert result.theta[1] == 0.0
    if loss == "kullback_leibler":
        ones = terms.get("sample_weight", np.ones(8))
        np.testing.assert_array_equal(result.theta[:8][COUNTS == 0], -ones[COUNTS == 0])
    assert boxreg.verify(POSITIVE, y, lower=0.0, upper=2.0, x=result.x, theta=result.theta, **terms)
    if weighted:
        result.theta[1] = 1e-9  # no dual point of this problem, however small
        assert not boxreg.verify(
            POSITIVE, y, lower=0.0, upper=2.0, x=result.x, theta=result.theta, **terms
        )


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("weights", [None, RNG.uniform(0.1, 3.0, 8)])
@pytest.mark.parametrize("hold", [np.asarray, sparse.csc_array])
def test_costs_of_linear_rows_are_known_up_to_their_error(hold, weights, given: bool) -> None:
    """|c_j - exact| <= unit size_j and |c_j| <= size_j; c is the sum over rows with y = 0."""
    for seed in range(10):
        rng = np.random.default_rng([seed, 3])
        A = rng.uniform(0.0, 1.0, (8, 5)) * 10.0 ** rng.uniform(-6, 6, (8, 5))
        mine = rng.standard_normal(5) * 10.0 ** rng.uniform(-6, 6, 5)
        terms = {"sample_weight": weights, "linear": mine if given else None}
        posed = validate.problem(hold(A), COUNTS, 0.0, 1.0, KullbackLeibler(0.25), **terms)
        assert posed.cost is not None
        assert posed.cost.unit > 0.0
        assert posed.row_map is not None
        assert posed.design.shape == (4, 5)
        flat = np.flatnonzero(COUNTS == 0.0)
        share = np.ones(8) if weights is None else weights
        for j in range(5):
            true = inner(A[flat, j], share[flat]) + (Fraction(float(mine[j])) if given else 0)
            size = Fraction(float(posed.cost.size[j]))
            off = abs(Fraction(float(posed.cost.c[j])) - true)
            assert off <= Fraction(posed.cost.unit) * size
            assert abs(Fraction(float(posed.cost.c[j]))) <= size
        constant = sum(exact(share[flat])) / 4  # f(0) = b in every linear row
        assert posed.constant == pytest.approx(float(constant), rel=1e-14)


def test_slopes_with_costs_are_as_uncertain_as_they_say() -> None:
    """|w_j computed - exact| <= uncertainty_j, for costs given and for those of linear rows."""
    for seed in range(20):
        rng = np.random.default_rng([seed, 4])
        A = rng.uniform(0.0, 1.0, (8, 5))
        given = 1e6 * rng.standard_normal(5)
        problem = reduced(A, COUNTS, 0.0, 1.0, "kullback_leibler", linear=given)
        theta = rng.standard_normal(4)
        dual = DualPoint.at(theta, problem)
        other = dual.plus(0.3, DualPoint.direction(rng.standard_normal(4), problem))
        both = (dual, other, dual.toward(other, 0.7), DualPoint.zero(problem))
        some, flat = COUNTS > 0.0, COUNTS == 0.0
        true_costs = [inner(A[flat, j], np.ones(4)) + Fraction(given[j]) for j in range(5)]
        for point in both:
            off = point.uncertainty(problem)
            products = slopes(A[some], point.theta)
            for j in range(5):
                w = products[j] - true_costs[j]
                assert abs(w - Fraction(point.correlation[j])) <= Fraction(off[j])


def test_kept_costs() -> None:
    """The costs of some columns; those that are dropped go to the constant."""
    costs = np.array([1.0, -2.0, 4.0])
    problem = reduced(np.eye(3), np.ones(3), 0.0, [1.0, 0.5, 2.0], linear=costs)
    closed = problem.fix(np.array([False] * 3), np.array([False, True, True]))
    fewer = closed.keep(np.array([0]))
    assert fewer.cost is not None
    np.testing.assert_array_equal(fewer.cost.c, [1.0])
    np.testing.assert_array_equal(fewer.cost.size, [1.0])
    assert fewer.constant == -2.0 * 0.5 + 4.0 * 2.0
    whole = Point(problem, np.array([0.25, 0.5, 2.0]))
    assert Point(fewer, np.array([0.25])).objective == whole.objective


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_the_objective_is_what_was_asked_for(name: str) -> None:
    """sum ω f(Ax) + cᵀx + ½ μ ||x||², whatever became of the rows."""
    rng = np.random.default_rng(5)
    y = np.where(COUNTS > 2, 1.0, -1.0) if name in ("logistic", "squared_hinge") else COUNTS
    y = y + 0.5 if name == "beta_divergence" else y
    weights, linear = np.where(np.arange(8) % 4, 1.5, 0.0), rng.standard_normal(5)
    problem = reduced(POSITIVE, y, 0.0, 1.0, name, sample_weight=weights, linear=linear, ridge=0.7)
    x = rng.uniform(0.1, 1.0, 5)
    loss = LOSSES[name]()
    expected = weights @ loss.values(POSITIVE @ x, loss.accept(y)) + linear @ x + 0.35 * x @ x
    assert Point(problem, x).objective == pytest.approx(expected, rel=1e-13)
    gradient = -POSITIVE.T @ (weights * loss.derivatives(POSITIVE @ x, loss.accept(y)))
    expected = gradient - linear - 0.7 * x
    np.testing.assert_allclose(Point(problem, x).correlation, expected, rtol=1e-12, atol=1e-13)


def test_least_squares_stay_least_squares() -> None:
    """With weights and any ridge the loss is one of weighted squares, the ridge weight exact."""
    plain = reduced(POSITIVE, COUNTS, ridge=np.eye(2, 5))
    assert isinstance(plain.loss, LeastSquares)
    assert plain.design.shape == (10, 5)
    ridged = reduced(POSITIVE, COUNTS, ridge=0.3)
    assert isinstance(ridged.loss, Weighted)
    assert isinstance(ridged.design, StackedDesign)
    assert isinstance(ridged.design.bottom, IdentityDesign)
    np.testing.assert_array_equal(ridged.loss.weights, [1.0] * 8 + [0.3] * 5)
    both = reduced(POSITIVE, COUNTS, ridge=0.3, sample_weight=np.full(8, 2.0))
    np.testing.assert_array_equal(both.loss.weights, [2.0] * 8 + [0.3] * 5)
    assert isinstance(reduced(POSITIVE, COUNTS, loss="huber", ridge=0.3).loss, StackedLoss)
