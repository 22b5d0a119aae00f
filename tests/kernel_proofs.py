"""The proofs of compiled kernels, step by step, as plain Python: `test_kernel_proofs` runs this file.

Kernels for CPUs (with `NUMBA_DISABLE_JIT=1`, for most have no way in from Python when compiled) and
those for GPUs (in numba's simulator, `NUMBA_ENABLE_CUDASIM=1`) certify points at which rounding decides;
their gaps are judged in rational arithmetic, or in 60 digits where there are logarithms.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from boxreg import validate
from boxreg.batch.shared import _way
from boxreg.kernels import certified_fit, many_kullback_leibler, many_least_squares
from boxreg.kernels.box_certificates import (
    describe,
    gamma,
    least_squares_gap,
    new_box,
    prediction_error,
    size_of,
)
from boxreg.kernels.kullback_leibler_certificates import kullback_leibler_gap, shrink
from boxreg.kernels.orthogonal_active_set import begin
from boxreg.kernels.orthogonal_factor import new_factor
from boxreg.rounding import SLACK
from hard_pairs import Pair, gap_of, residual
from rational import exact, inner, slopes
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
    return SimpleNamespace(rows=A, columns=A.T.copy(), norms=posed.survey.norms, gram=A.T @ A)


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
            arguments = (pair.x, rest, rest.copy(), A.T @ rest, 0, answers)
            many_least_squares._judge(model, box_of(pair), way, *arguments)
            if answers.gaps[0] < INF:
                proved += 1
                assert_bound(pair, answers.theta[0], answers.gaps[0], bounds == "free")
    assert proved >= 150


def proved_by_one_call(pair: Pair, target: float = 0.0) -> tuple[float, np.ndarray, np.ndarray]:
    """The gap that the certified call proves of a point, however bad, its theta and what it screens."""
    m, n = pair.A.shape
    columns, x = pair.A.T.copy(), np.array(pair.x, dtype=float)
    task, where = begin(columns, pair.y, np.zeros(n), pair.lower, pair.upper, x, False)
    theta, screened = np.zeros(m), np.zeros(n, dtype=np.int8)
    factor = new_factor(min(m, n), m)
    gap, *_ = certified_fit.prove(task, where, factor, 0, theta, screened, target)
    return gap, theta, screened


@pytest.mark.parametrize("bounds", BOXES)
def test_what_the_certified_call_proves(bounds: str) -> None:
    """At solutions but for rounding, far from them, and where theta = 0 is all there is."""
    moved = 0
    for seed in range(40):
        _, pairs = shared_pairs(bounds, seed, 4)
        for pair in pairs:
            gap, theta, screened = proved_by_one_call(pair, target=INF)
            if gap < INF:
                moved += theta.any()
                assert_bound(pair, theta, gap, bounds == "free")
            near = np.maximum(pair.lower, -FAR), np.minimum(pair.upper, FAR)
            w = exact_solution(pair.A, pair.y, *near).w
            assert all(s * v > 0 for s, v in zip(screened, w, strict=True) if s)
            gap, theta, _ = proved_by_one_call(pair, target=-1.0)
            assert not theta.any()
            assert_bound(pair, theta, gap, bounds == "free")
    assert moved >= 100


def test_the_certified_call_at_the_boundary_of_its_region() -> None:
    """theta* = 0 is on the sphere of the two-point ball: x₀ < 1 = y - u₁, and x₁ is at its bound u₁.

    A = (1, a) with one row: w*_1 = 0, so that x₁ is not screened, however small the gap.
    """
    for k in range(1, 60):
        short, a = 2.0**-k, 1.0 if k % 2 else 3.0
        A, upper = np.array([[1.0, a]]), np.array([1.0, 1.0])
        x, y = np.array([1.0 - short, 1.0]), np.array([1.0 + a])
        pair = Pair(A, y, np.zeros(2), upper, x, np.zeros(1))
        gap, theta, screened = proved_by_one_call(pair, target=INF)
        assert Fraction(gap) >= gap_of(pair, theta)
        assert not screened.any()
        assert gap <= 1.01 * short**2 * 1.0 + 1e-12


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
