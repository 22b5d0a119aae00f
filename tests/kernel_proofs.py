"""The proofs of compiled kernels, step by step, as plain Python: `test_kernel_proofs` runs this file.

Kernels for CPUs (with `NUMBA_DISABLE_JIT=1`, for most have no way in from Python when compiled) and
those for GPUs (in numba's simulator, `NUMBA_ENABLE_CUDASIM=1`) certify points at which rounding decides;
their gaps are judged in rational arithmetic, or in 60 digits where there are logarithms.
"""

from __future__ import annotations

import zlib
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from boxreg import validate
from boxreg.batch.shared import _way, way_for
from boxreg.batch.terms import Terms
from boxreg.kernels import certified_fit, many_kullback_leibler, many_least_squares
from boxreg.kernels.box_certificates import (
    Way,
    describe,
    gamma,
    least_squares_gap,
    new_box,
    prediction_error,
    push,
    size_of,
    soften,
)
from boxreg.kernels.kullback_leibler_certificates import kullback_leibler_gap, shrink
from boxreg.kernels.orthogonal_factor import new_factor
from boxreg.losses import LeastSquares
from boxreg.rounding import SLACK
from hard_pairs import Pair, gap_of, hard_pair, residual
from rational import exact, inner, projected, slopes
from references.exact import exact_solution

INF = np.inf
BOXES = ("box", "nonnegative", "mixed", "free")
FAR = 2.0**30


def shared_pairs(bounds: str, seed: int, count: int) -> tuple[np.ndarray, list[Pair]]:
    """One A, and points x of its box with right-hand sides of every difficulty."""
    rng = np.random.default_rng([BOXES.index(bounds), seed, 13])
    n = int(rng.integers(1, 4))
    m = n + int(rng.integers(2, 5))
    A = rng.standard_normal((m, n))
    if bounds in ("nonnegative", "mixed"):
        A = np.abs(A)
    lower, upper = np.zeros(n), np.full(n, INF)
    if bounds == "box":
        lower, upper = np.full(n, -1e9), np.full(n, 1e9)
    elif bounds == "mixed":
        flipped = rng.random(n) < 0.5
        A = np.where(flipped, -A, A)
        lower, upper = np.where(flipped, -INF, 0.0), np.where(flipped, 0.0, INF)
    elif bounds == "free":
        lower, upper = np.full(n, -1e9), np.full(n, 1e9)
        lower[0], upper[0] = -INF, INF
    pairs = []
    for k in range(count):
        x = np.clip(rng.standard_normal(n), lower, upper)
        if k % 4 == 1:
            x = x * 10.0 ** rng.uniform(3.0, 8.0)
        if k % 4 == 2:
            x = np.zeros(n)
        y = A @ x + 10.0 ** -rng.uniform(0.0, 8.0) * rng.standard_normal(m)
        if k % 4 in (2, 3):  # y - A x is orthogonal to all columns but for rounding
            rest = y - A @ x
            for _ in range(2):
                rest = rest - A @ np.linalg.lstsq(A, rest)[0]
            y = A @ x + rest
        pairs.append(Pair(A, y, lower, upper, x, np.zeros(m)))
    return A, pairs


def model_of(A: np.ndarray) -> SimpleNamespace:
    """What certificates need of A."""
    posed = validate.problem(A, np.zeros(len(A)), 0.0, INF, "least_squares")
    norms = posed.survey.norms
    return SimpleNamespace(
        rows=A,
        columns=A.T.copy(),
        norms=norms,
        gram=A.T @ A,
        ridge=np.zeros(0),
        inverse=1.0 / norms,
    )


def no_terms() -> Any:
    """Neither costs nor a ridge term."""
    nothing = np.zeros(0)
    return many_least_squares.Terms(nothing, nothing, nothing, 0)


def way_of(pair: Pair) -> Any:
    """The direction, and the metric of free columns."""
    zero = np.zeros(len(pair.y))
    return _way(validate.problem(pair.A, zero, pair.lower, pair.upper, "least_squares"), len(zero))


def answers_for(pair: Pair) -> SimpleNamespace:
    m, n = pair.A.shape
    return SimpleNamespace(
        gaps=np.full(1, INF),
        objectives=np.zeros(1),
        X=np.zeros((1, n)),
        theta=np.zeros((1, m)),
        targets=np.zeros(1),
    )


def box_of(pair: Pair) -> Any:
    box = new_box(len(pair.x))
    describe(pair.lower, pair.upper, box)
    return box


def assert_bound(pair: Pair, theta: np.ndarray, gap: float, free: bool) -> None:
    """The gap is at least P(x) - D(theta), or P(x) - P* where theta stands for one nearby."""
    if not free:
        true = gap_of(pair, theta)
        assert true is not None
    else:
        near = np.maximum(pair.lower, -FAR), np.minimum(pair.upper, FAR)
        known = exact_solution(pair.A, pair.y, *near)
        true = inner(residual(pair), residual(pair)) / 2 - known.objective
    assert Fraction(gap) >= true


@pytest.mark.parametrize("bounds", BOXES)
def test_least_squares(bounds: str) -> None:
    proved = 0
    for seed in range(40):
        A, pairs = shared_pairs(bounds, seed, 4)
        way, model = way_of(pairs[0]), model_of(A)
        for pair in pairs:
            rest = pair.y - A @ pair.x
            answers = answers_for(pair)
            arguments = (pair.y, pair.x, rest, rest.copy(), A.T @ rest, 0, answers)
            many_least_squares._judge(model, no_terms(), box_of(pair), way, *arguments)
            if answers.gaps[0] < INF:
                proved += 1
                assert_bound(pair, answers.theta[0], answers.gaps[0], bounds == "free")
    assert proved >= 150


def proved_by_one_call(
    pair: Pair, target: float = 0.0, weights: Any = (), cost: Any = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """The gap that the certified call proves of a point, however bad, its theta and what it screens."""
    m, n = pair.A.shape
    columns, x = pair.A.T.copy(), np.array(pair.x, dtype=float)
    cost = np.zeros(n) if cost is None else cost
    posed, task, where = certified_fit.pose(
        *(columns, pair.y, np.array(weights, dtype=float), cost, pair.lower, pair.upper, x)
    )
    theta, screened = np.zeros(m), np.zeros(n, dtype=np.int8)
    factor = new_factor(min(m, n), m)
    gap, *_ = certified_fit.prove(posed, task, where, factor, 0, theta, screened, target)
    return gap, theta, screened


def feasible_theta(pair: Pair, theta: np.ndarray, weights: Any, cost: Any) -> Any:
    """theta, or the point next to it that is exactly orthogonal to the columns without bounds."""
    free = np.isinf(pair.lower) & np.isinf(pair.upper)
    if not free.any():
        return theta
    return projected(pair.A[:, free], weights, theta, cost[free])


TERMS = ("none", "weights", "costs", "both")


def terms_for(pair: Pair, kind: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Weights over twelve orders of magnitude, and costs of which some are what slopes are."""
    m, n = pair.A.shape
    weights, cost = np.ones(m), np.zeros(n)
    if kind in ("weights", "both"):
        weights = 10.0 ** rng.uniform(-6.0, 6.0, m)
    if kind in ("costs", "both"):
        cost = pair.A.T @ (weights * (pair.y - pair.A @ pair.x)) * rng.choice([1.0, 0.5], n)
        cost = np.where(rng.random(n) < 0.3, rng.standard_normal(n), cost)
    return {"weights": weights, "cost": cost}


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("bounds", BOXES)
def test_what_the_certified_call_proves(bounds: str, terms: str) -> None:
    """At solutions but for rounding, far from them, and where theta = 0 is all there is."""
    moved = 0
    rng = np.random.default_rng([BOXES.index(bounds), TERMS.index(terms)])
    for seed in range(40):
        _, pairs = shared_pairs(bounds, seed, 4)
        for pair in pairs:
            given = terms_for(pair, terms, rng)
            for target in (INF, -1.0):
                gap, theta, _ = proved_by_one_call(pair, target, **given)
                if gap == INF:
                    continue
                moved += theta.any()
                near = feasible_theta(pair, theta, **given)
                true = gap_of(pair, near, given["cost"], given["weights"])
                assert true is not None
                assert Fraction(gap) >= true
    assert moved >= 100


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bounds", BOXES)
def test_what_the_certified_call_screens(bounds: str, weighted: bool) -> None:
    """Only where w* has the sign for it; weights are powers of 4, whose roots scale rows exactly."""
    rng, some = np.random.default_rng(BOXES.index(bounds)), 0
    for seed in range(40):
        for pair in shared_pairs(bounds, seed, 4)[1]:
            roots = 2.0 ** rng.integers(-8, 9, len(pair.y)) if weighted else np.ones(len(pair.y))
            near = np.maximum(pair.lower, -FAR), np.minimum(pair.upper, FAR)
            w = exact_solution(pair.A * roots[:, None], pair.y * roots, *near).w
            _, _, screened = proved_by_one_call(pair, INF, roots**2)
            assert all(s * v > 0 for s, v in zip(screened, w, strict=True) if s)
            some += screened.any()
    assert some >= (5 if bounds in ("nonnegative", "mixed") else 0)


def test_plain_theta_is_zero_where_nothing_else_serves() -> None:
    """A gap below any target is never found, so that theta = 0 is tried: it proves P(x) - P* <= P(x)."""
    for seed in range(20):
        for pair in shared_pairs("nonnegative", seed, 4)[1]:
            gap, theta, _ = proved_by_one_call(pair, target=-1.0)
            assert not theta.any()
            assert_bound(pair, theta, gap, False)


@pytest.mark.parametrize("weight", [1.0, 4.0, 2.0**-6])
def test_the_certified_call_at_the_boundary_of_its_region(weight: float) -> None:
    """theta* = 0 is on the sphere of the two-point ball: x₀ < 1 = y - u₁, and x₁ is at its bound u₁.

    A = (1, a) with one row: w*_1 = 0, so that x₁ is not screened, however small the gap.
    """
    for k in range(1, 60):
        short, a = 2.0**-k, 1.0 if k % 2 else 3.0
        A, upper = np.array([[1.0, a]]), np.array([1.0, 1.0])
        x, y = np.array([1.0 - short, 1.0]), np.array([1.0 + a])
        pair = Pair(A, y, np.zeros(2), upper, x, np.zeros(1))
        gap, theta, screened = proved_by_one_call(pair, target=INF, weights=[weight])
        true = gap_of(pair, theta, weights=[weight])
        assert true is not None
        assert Fraction(gap) >= true
        assert not screened.any()
        assert gap <= 1.01 * weight * short**2 + 1e-12


def test_a_free_column_of_zeros_with_a_cost_has_no_dual_point() -> None:
    """w_j = -c_j for every theta: the problem has no minimum, whatever the other free column is."""
    A, free = np.array([[1.0, 0.0], [1.0, 0.0]]), np.full(2, INF)
    pair = Pair(A, np.array([1.0, 2.0]), -free, free, np.array([1.5, 0.0]), np.zeros(2))
    assert proved_by_one_call(pair, INF)[0] < 1e-12
    assert proved_by_one_call(pair, INF, cost=np.array([0.0, 1e-9]))[0] == INF


@pytest.mark.parametrize("weight", [1.0, 2.0**-300, 2.0**300])
def test_a_faint_residual_is_no_dual_point(weight: float) -> None:
    """Below 1e-150 products with it may underflow: theta = 0 takes its place."""
    for seed in range(20):
        pair = hard_pair("faint", seed)
        faint = max(weight, 1.0) ** 0.5  # so that rho is as faint as without weights
        pair = Pair(pair.A, *(v / faint**2 for v in (pair.y, *pair.data[2:], pair.x)), pair.theta)
        weights = np.full(len(pair.y), weight)
        gap, theta, screened = proved_by_one_call(pair, 1.0, weights)
        assert not theta.any()
        assert not screened.any()
        true = gap_of(pair, theta, weights=weights)
        assert true is not None
        assert Fraction(gap) >= true


def test_weights_and_costs_by_hand() -> None:
    """x = y - c/ω inside; at the lower bound where c > ω y; theta = c, or ω y, and w* = ω y - c."""
    A, weights, cost = np.eye(3), np.array([4.0, 2.0, 8.0]), np.array([4.0, 6.0, -8.0])
    upper, y = np.array([INF, INF, 3.0]), np.array([3.0, 1.0, 5.0])
    pair = Pair(A, y, np.zeros(3), upper, np.array([2.0, 0.0, 3.0]), np.zeros(3))
    gap, theta, screened = proved_by_one_call(pair, INF, weights, cost)
    np.testing.assert_allclose(theta, [4.0, 2.0, 16.0], rtol=1e-12)
    np.testing.assert_array_equal(screened, [0, -1, 1])
    assert gap <= 1e-12


def test_the_certified_call_screens_what_it_can() -> None:
    """Signs of w* that are clear, at both bounds."""
    A, y = np.eye(3), np.array([5.0, -5.0, 0.5])
    pair = Pair(A, y, np.zeros(3), np.ones(3), np.array([1.0, 0.0, 0.5]), np.zeros(3))
    gap, theta, screened = proved_by_one_call(pair, target=INF)
    assert gap <= 1e-13
    np.testing.assert_array_equal(screened, [1, -1, 0])
    np.testing.assert_array_equal(theta, [4.0, -5.0, 0.0])


def test_columns_without_bounds_that_depend_on_each_other() -> None:
    """Two copies of one column: nothing is proved of theta, and theta = 0 proves what P(x) is."""
    A = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    free = np.full(2, INF)
    pair = Pair(A, np.array([1.0, 2.0, 1e-3]), -free, free, np.array([0.5, 0.5]), np.zeros(3))
    gap, theta, _ = proved_by_one_call(pair)
    assert not theta.any()
    assert 0.5e-6 <= gap <= 0.6e-6


def true_gap_with_terms(
    pair: Pair, theta: np.ndarray, weights: np.ndarray, mu: np.ndarray, cost: np.ndarray
) -> Any:
    """P(x) - D(theta), √ω ∘ theta in place of theta, in 60 digits; None where it is not feasible.

    D(theta) = sum_i θ_i y_i - θ_i² / (2 ω_i) - sum_j sup { t v_j - ½ μ_j t² : l_j <= t <= u_j }, with
    v = Aᵀθ - c.
    """
    A, d = [[_mp(v) for v in exact(row)] for row in pair.A], [_mp(v) for v in exact(weights)]
    x, y = [_mp(v) for v in exact(pair.x)], [_mp(v) for v in exact(pair.y)]
    c, ridge = [_mp(v) for v in exact(cost)], [_mp(v) for v in exact(mu)]
    t = [mpmath.sqrt(w) * _mp(v) for w, v in zip(d, exact(theta), strict=True)]
    total = mpmath.mpf(0)
    for row, w, target, dual in zip(A, d, y, t, strict=True):
        rest = target - sum(a * v for a, v in zip(row, x, strict=True))
        total += w * rest * rest / 2 - dual * target + (dual * dual / (2 * w) if w else 0)
    for j, (price, m) in enumerate(zip(c, ridge, strict=True)):
        v = sum(row[j] * dual for row, dual in zip(A, t, strict=True)) - price
        low, high = mpmath.mpf(pair.lower[j]), mpmath.mpf(pair.upper[j])
        if m:
            best = min(max(v / m, low), high)
        elif v > 0 or (v == 0 and low == -INF):
            best = high if v > 0 else mpmath.mpf(0)
        else:
            best = low if v < 0 else max(low, mpmath.mpf(0))
        if not mpmath.isfinite(best):
            return None
        total += price * x[j] + m * x[j] * x[j] / 2 + best * v - m * best * best / 2
    return total


def with_terms(pair: Pair, kind: str, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Weights, μ and costs; those that are not of this kind say nothing."""
    m, n = pair.A.shape
    weights, mu, cost = np.ones(m), np.zeros(n), np.zeros(n)
    if kind in ("weights", "all"):
        weights = 10.0 ** rng.uniform(-2.0, 2.0, m)
        weights[rng.random(m) < 0.1] = 0.0
    if kind in ("ridge", "faint ridge", "all"):
        mu = 10.0 ** rng.uniform(-8.0 if kind == "faint ridge" else -2.0, 2.0, n)
    if kind == "all":
        mu[rng.random(n) < 0.4] = 0.0
    if kind in ("costs", "all"):  # such that x is next to the minimum, where rounding decides
        w = pair.A.T @ (weights * (pair.y - pair.A @ pair.x)) - mu * pair.x
        at_bound = (pair.x == pair.lower) | (pair.x == pair.upper)
        side = np.where(np.isposinf(pair.upper), 1.0, -1.0)
        cost = w + side * rng.choice([0.0, 1e-12, 1e-3]) * at_bound
    return weights, mu, cost


@pytest.mark.parametrize("kind", ["none", "weights", "ridge", "faint ridge", "costs", "all"])
@pytest.mark.parametrize("bounds", ["box", "nonnegative", "mixed"])
def test_least_squares_with_terms(bounds: str, kind: str) -> None:
    """Gaps of points at which rounding decides, against the dual objective at theta in 60 digits."""
    proved = 0
    for seed in range(12):
        A, pairs = shared_pairs(bounds, seed, 4)
        for k, pair in enumerate(pairs):
            weights, mu, cost = with_terms(pair, kind, generator(bounds, kind, seed, k))
            given = {"sample_weight": weights} if kind in ("weights", "all") else {}
            terms = Terms.of({**given, "ridge": mu, "linear": cost}, A.shape)
            question = SimpleNamespace(
                design=validate.design(A), loss=LeastSquares(), terms=given, levels=None
            )
            rows, y = terms.stacked(A), np.zeros((1, len(A)))
            terms.scale(pair.y[None], y)
            model = model_of(rows)
            model.ridge = mu if mu.any() else model.ridge
            shared = SimpleNamespace(terms=terms, model=model)
            way, soft = way_for(question, shared, (pair.lower, pair.upper))
            told = many_least_squares.Terms(soft, cost, np.zeros(0), terms.scaled)
            box, answers = box_of(pair), answers_for(pair)
            soften(soft, box)
            rest = y[0] - rows @ pair.x
            w = rows.T @ rest
            many_least_squares._charge(model, told, pair.x, w, box)
            arguments = (y[0], pair.x, rest, rest.copy(), w, 0, answers)
            many_least_squares._judge(model, told, box, way, *arguments)
            if answers.gaps[0] < INF:
                proved += 1
                with mpmath.workdps(60):
                    true = true_gap_with_terms(pair, answers.theta[0], weights, mu, cost)
                assert true is not None
                assert mpmath.mpf(float(answers.gaps[0])) >= true
    assert proved >= 35


def test_theta_0_where_no_direction_is_known() -> None:
    """Columns a and -a leave no direction: P(x) - P* <= P(x) = ½ (2⁻²⁰)² at x = (1, 0)."""
    A = np.array([[1.0, -1.0], [0.0, 0.0]])
    pair = Pair(
        A,
        np.array([1.0, 2.0**-20]),
        np.zeros(2),
        np.full(2, INF),
        np.array([1.0, 0.0]),
        np.zeros(2),
    )
    rest = pair.y - A @ pair.x
    for w in (A.T @ rest, np.array([1e-3, -1e-3])):  # where nothing has to move, theta stays
        answers = answers_for(pair)
        arguments = (pair.y, pair.x, rest, rest.copy(), w, 0, answers)
        many_least_squares._judge(model_of(A), no_terms(), box_of(pair), way_of(pair), *arguments)
        assert 2.0**-41 <= answers.gaps[0] <= 1.001 * 2.0**-41
        assert not answers.theta[0].any()


def test_theta_0_says_nothing_of_costs() -> None:
    """½ (1 - x₁ + x₂)² + x₁ / 2 is ½ at (1, 0), where the residual is 0, and 3/8 at (½, 0)."""
    A, x = np.array([[1.0, -1.0]]), np.array([1.0, 0.0])
    pair = Pair(A, np.ones(1), np.zeros(2), np.full(2, INF), x, np.zeros(1))
    told = many_least_squares.Terms(np.zeros(0), np.array([0.5, 0.0]), np.zeros(0), 0)
    model, box, answers, rest, w = (
        model_of(A),
        box_of(pair),
        answers_for(pair),
        np.zeros(1),
        np.zeros(2),
    )
    many_least_squares._charge(model, told, x, w, box)
    arguments = (pair.y, x, rest, rest.copy(), w, 0, answers)
    many_least_squares._judge(model, told, box, way_of(pair), *arguments)
    assert answers.gaps[0] >= 0.125


def test_a_ridge_term_and_a_cost_that_cancel() -> None:
    """y = x and c = -fl(μ x): w is 0 as computed, fl(μ x) - μ x in truth, and the box is wide."""
    one, off = np.ones((1, 1)), 0
    for k in range(100):
        rng = generator("cancel", k)
        x, mu = rng.random(1) + 0.5, 1e6 * (rng.random(1) + 0.5)
        pair = Pair(one, x, np.full(1, -1e9), np.full(1, 1e9), x, np.zeros(1))
        told = many_least_squares.Terms(np.zeros(1), -(mu * x), np.zeros(0), 0)
        model, box, answers = model_of(one), box_of(pair), answers_for(pair)
        model.ridge, w, rest = mu, np.zeros(1), np.zeros(1)
        many_least_squares._charge(model, told, x, w, box)
        arguments = (x, x, rest, rest.copy(), w, 0, answers)
        many_least_squares._judge(model, told, box, way_of(pair), *arguments)
        with mpmath.workdps(60):
            true = true_gap_with_terms(pair, answers.theta[0], np.ones(1), mu, told.cost)
        off += true > 0
        assert mpmath.mpf(float(answers.gaps[0])) >= true
    assert off >= 50


def test_free_columns_with_weights() -> None:
    """One column without bounds: P(x) - P* = ½ (x - x*)² aᵀWa, exactly."""
    for k in range(60):
        rng = generator("free", k)
        m = int(rng.integers(2, 5))
        A, y = rng.standard_normal((m, 1)), rng.standard_normal(m)
        weights = 10.0 ** rng.uniform(-6.0, 6.0, m)
        a, d, target = exact(A[:, 0]), exact(weights), exact(y)
        square = sum(w * v * v for w, v in zip(d, a, strict=True))
        best = sum(w * v * t for w, v, t in zip(d, a, target, strict=True)) / square
        x = np.array([float(best) * (1.0 + rng.choice([0.0, 1e-12, 1e-6, 1.0]))])
        pair = Pair(A, y, np.full(1, -INF), np.full(1, INF), x, np.zeros(m))
        terms = Terms.of({"sample_weight": weights}, A.shape)
        rows, scaled = terms.stacked(A), np.zeros((1, m))
        terms.scale(y[None], scaled)
        model, answers, rest = model_of(rows), answers_for(pair), scaled[0] - rows @ x
        question = SimpleNamespace(
            design=validate.design(A), loss=LeastSquares(), terms={}, levels=None
        )
        shared = SimpleNamespace(terms=terms, model=model)
        way, soft = way_for(question, shared, (pair.lower, pair.upper))
        told = many_least_squares.Terms(soft, np.zeros(0), np.zeros(0), terms.scaled)
        arguments = (scaled[0], x, rest, rest.copy(), rows.T @ rest, 0, answers)
        many_least_squares._judge(model, told, box_of(pair), way, *arguments)
        assert answers.gaps[0] < INF
        assert Fraction(float(answers.gaps[0])) >= (Fraction(float(x[0])) - best) ** 2 * square / 2


def generator(*seed: Any) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(repr(seed).encode()), 3])


def test_a_ridge_term_with_costs_by_hand() -> None:
    """P(x) = ½ (3 - x)² + x² / 4 + x / 2 with x = 1: w = 2 - ½ - ½ = 1, P* = P(5/3), gap w² / (2 μ) = 1.

    At x = 0 with y = -3 the slope -3 - ½ points out of the box: nothing is missing, whatever μ is.
    """
    one = np.ones((1, 1))
    for y, x, gap in ((3.0, 1.0, 1.0), (-3.0, 0.0, 0.0)):
        pair = Pair(one, np.array([y]), np.zeros(1), np.full(1, INF), np.array([x]), np.zeros(1))
        terms = Terms.of({"ridge": 0.5, "linear": 0.5}, (1, 1))
        model = model_of(one)
        model.ridge, soft = terms.ridge, terms.soft(model.norms, 0.0)
        told = many_least_squares.Terms(soft, terms.cost, np.zeros(0), 0)
        box, answers, rest = box_of(pair), answers_for(pair), pair.y - pair.x
        soften(soft, box)
        w = rest.copy()
        many_least_squares._charge(model, told, pair.x, w, box)
        arguments = (pair.y, pair.x, rest, rest.copy(), w, 0, answers)
        many_least_squares._judge(
            model, told, box, way_of(pair)._replace(t=np.zeros(0)), *arguments
        )
        assert gap <= answers.gaps[0] <= gap + 1e-6 * max(gap, 1e-6)
        assert answers.objectives[0] == 0.5 * (y - x) ** 2 + 0.25 * x * x + 0.5 * x


@pytest.mark.parametrize("bounds", ["nonnegative", "mixed"])
def test_points_that_are_not_feasible_prove_nothing(bounds: str) -> None:
    """Residuals as they are, not moved into the cone: a finite gap only where they are inside."""
    outside = 0
    for seed in range(40):
        A, pairs = shared_pairs(bounds, seed, 4)
        way, model = way_of(pairs[0]), model_of(A)
        for pair in pairs:
            rest = pair.y - A @ pair.x
            error = gamma(len(rest) + 2) * size_of(rest) * SLACK
            drift, _ = prediction_error(pair.x, model.norms)
            gap = least_squares_gap(
                pair.x, A.T @ rest, rest, rest, model.norms, box_of(pair), way, error, drift
            )
            true = gap_of(pair, rest)
            outside += true is None
            assert gap == INF or (true is not None and Fraction(gap) >= true)
    assert outside >= 40


@pytest.mark.parametrize("size", [1.09431887e-307, 1e-310])
def test_a_prediction_that_cancels_at_the_end_of_the_range(size: float) -> None:
    """Its computed value is 0 and so is theta, which is optimal; the true objective is no float64."""
    A, y, theta = np.array([[-0.20332957, 0.0014721]]), np.zeros(1), np.zeros(1)
    x = np.array([size, -size * A[0, 0] / A[0, 1]])
    pair, model = Pair(A, y, np.zeros(2), np.full(2, INF), x, theta), model_of(A)
    true = gap_of(pair, theta)
    assert true is not None
    assert true > 0
    drift, _ = prediction_error(x, model.norms)
    gap = least_squares_gap(
        x, np.zeros(2), theta, theta, model.norms, box_of(pair), way_of(pair), 0.0, drift
    )
    assert Fraction(gap) >= true


@pytest.mark.parametrize("bounds", BOXES)
def test_least_squares_on_a_card(bounds: str) -> None:
    from numba import config

    if not config.ENABLE_CUDASIM:
        pytest.skip("numba's simulator is off")
    from boxreg.kernels.cuda.certificates import Pair as Arrays
    from boxreg.kernels.cuda.certificates import judge as judged

    proved = 0
    for seed in range(3):
        A, pairs = shared_pairs(bounds, seed, 8)
        way, model, count = way_of(pairs[0]), model_of(A), len(pairs)
        way = way if len(way.t) else way._replace(t=np.zeros(len(A)), products=np.zeros(A.shape[1]))
        X = np.array([pair.x for pair in pairs])
        residuals = np.array([pair.y - A @ pair.x for pair in pairs])
        low, high = pairs[0].lower[None], pairs[0].upper[None]
        gaps, steps = np.empty(count), np.empty(count)
        arrays = Arrays(X, residuals, residuals @ A, low, high, model.norms)
        judged[1, 2](arrays, way, gaps, steps)
        for k, pair in enumerate(pairs):
            if gaps[k] < INF:
                proved += 1
                theta = residuals[k] + steps[k] * way.t if steps[k] > 0.0 else residuals[k]
                assert_bound(pair, theta, gaps[k], bounds == "free")
    assert proved >= 20


def divergence_gap(
    A: np.ndarray, y: np.ndarray, b: np.ndarray, pair: Pair, theta: np.ndarray
) -> Any:
    """The gap of a Kullback–Leibler problem in 60 digits; None where theta is not feasible."""
    t = exact(theta)
    total = mpmath.mpf(0)
    for row, count, background, value in zip(A, exact(y), exact(b), t, strict=True):
        product = (inner(row, pair.x) + background) * (1 + value)
        if count == 0:
            total += _mp(product)
        else:
            ratio = _mp(product) / _mp(count)
            total += _mp(count) * (ratio - 1 - mpmath.log(ratio))
    ends = zip(slopes(A, t), pair.lower, pair.upper, exact(pair.x), strict=True)
    for w, low, high, x in ends:
        if w > 0 and high == INF:
            return None
        total += _mp((Fraction(high) - x) * w if w > 0 else (x - Fraction(low)) * -w)
    return total


def _mp(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("bounded", [False, True])
def test_kullback_leibler(bounded: bool) -> None:
    proved = 0
    with mpmath.workdps(60):
        for seed in range(80):
            rng = np.random.default_rng([seed, 14])
            m, n = int(rng.integers(2, 6)), int(rng.integers(1, 4))
            A = rng.random((m, n)) * 10.0 ** rng.uniform(-3.0, 3.0, n)
            x = rng.random(n) * 10.0 ** rng.uniform(-3.0, 3.0, n)
            if seed % 10 == 9:  # many equal terms: errors of predictions have one sign
                m, n = 2, 1000
                A, x = np.full((m, n), 1.0 + rng.random()), np.full(n, 1.0 + rng.random())
            b = np.where(rng.random(m) < 0.5, 0.0, rng.random(m))
            y = A @ x + b
            if seed % 10 == 8:  # products that cancel after many terms of one sign
                m, n = 300, 1
                A, x, b = np.full((m, n), 1.0 + rng.random()), 1.0 + rng.random(n), np.zeros(m)
                y = (A @ x) * np.where(np.arange(m) < 200, 1.25, 0.5)
            if seed % 4 == 1 and m < 300:
                y = y * (1.0 + 1e-3 * rng.standard_normal(m))
            if seed % 4 == 2 and m < 300:
                y = np.where(np.arange(m) == 0, 0.0, y)
            if seed % 4 == 3 and m < 300:
                y = y * 10.0 ** rng.uniform(-8.0, 0.0, m)
            upper = x * 1e12 if bounded else np.full(n, INF)
            pair = Pair(A, y, np.zeros(n), upper, x, np.zeros(m))
            room = SimpleNamespace(
                x=x, p=A @ x, q=A @ x + b, theta=np.zeros(m), v=np.zeros(m), w=np.zeros(n),
                slopes=np.zeros(n), sums=A.sum(axis=0), box=box_of(pair),
            )  # fmt: skip
            answers = answers_for(pair)
            many_kullback_leibler._proved(model_of(A), y, b, room, 0, answers)
            if answers.gaps[0] < INF:
                proved += 1
                true = divergence_gap(A, y, b, pair, answers.theta[0])
                assert true is not None
                assert mpmath.mpf(float(answers.gaps[0])) >= true
    assert proved >= 60


def test_kullback_leibler_with_predictions_that_are_as_wrong_as_they_may_be() -> None:
    """x is fixed, so that the brackets are all there is of the gap."""
    with mpmath.workdps(60):
        for seed in range(40):
            rng = np.random.default_rng([seed, 26])
            m, n = 3, 40
            A, x = rng.random((m, n)), rng.random(n)
            y, b = A @ x, np.zeros(m)
            theta = rng.choice([-1.0, 1.0], m) * 10.0 ** -rng.uniform(5.0, 9.0, m)
            pair = Pair(A, y, x, x, x, theta)
            p = (A @ x) * (1.0 + 0.9 * gamma(n + 4) * rng.choice([-1.0, 1.0]))
            norms = model_of(A).norms
            gap = kullback_leibler_gap(x, p, A.T @ theta, theta, y, b, norms, box_of(pair), 0.0)
            assert mpmath.mpf(float(gap)) >= divergence_gap(A, y, b, pair, theta)


def test_dual_points_of_counts_on_their_way() -> None:
    """Moved towards -1: products within their error, and none above 0 in exact arithmetic."""
    moved = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 27])
        m, n = (200, 1) if seed % 3 == 0 else (3, 3)
        A, theta = rng.random((m, n)), rng.uniform(-1.0, 0.5, m)
        if seed % 3 == 0:
            A, theta = np.full((m, n), rng.random()), np.full(m, rng.random())
        pair = Pair(A, np.ones(m), np.zeros(n), np.full(n, INF), np.zeros(n), theta)
        norms, w = model_of(A).norms, A.T @ theta
        error = gamma(m + 2) * size_of(theta) * SLACK
        new = shrink(w, theta, np.ones(m), A.sum(axis=0), norms, box_of(pair), error)
        if new >= 0.0:
            true = slopes(A, theta)
            moved += new != error
            assert all(
                abs(Fraction(v) - t) <= Fraction(new) * Fraction(size)
                for v, t, size in zip(w, true, norms, strict=True)
            )
            assert max(true) <= 0
    assert moved >= 10


def test_a_push_goes_beyond_the_errors_of_slopes() -> None:
    """The identity, t = -1 and theta = (-1, 2) with x >= 0: w_2 = 2 ends three errors below 0."""
    box, none = new_box(2), np.empty(0)
    describe(np.zeros(2), np.full(2, np.inf), box)
    t = np.full(2, -1.0)
    way = Way(t, t.copy(), np.sqrt(2.0), 0.0, np.empty(0, dtype=np.intp), none, 1.0, none)
    theta, error = np.array([-1.0, 2.0]), 1e-6
    w = theta.copy()
    after = push(w, theta, np.ones(2), box, way, error)
    np.testing.assert_array_equal(w, theta)
    assert -3.1e-6 < w[1] <= -3.0 * error
    assert error <= after < 1.01 * error
