"""Verdicts, refutations and the ℓ∞-penalised problem's proofs, step by step in rational arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import boxreg
from boxreg import validate
from boxreg.batch.verification import BatchCertificate
from boxreg.certificate import Verdict
from boxreg.duality import DualPoint
from boxreg.linf.merged import Merged
from boxreg.linf.proof import gap_of, load, prove, squeezable
from boxreg.losses import Huber, LeastSquares, SquaredHinge
from boxreg.losses.weighted import Weighted
from boxreg.point import Point
from boxreg.presolve import unreduced
from boxreg.refutation import _fall
from boxreg.work import WorkMeter
from hard_pairs import Pair, hard_pair, residual, square_of
from rational import exact, inner, slopes
from references.antisparse import exact_antisparse
from references.exact import exact_solution

FAR = 2.0**40


def excess_of(pair: Pair) -> Fraction:
    """P(x) - P*."""
    near = np.maximum(pair.lower, -FAR), np.minimum(pair.upper, FAR)
    return square_of(residual(pair)) / 2 - exact_solution(pair.A, pair.y, *near).objective


def opened(pair: Pair, seed: int) -> Pair:
    """The pair without some of its bounds, theta made feasible but for rounding."""
    rng = np.random.default_rng([seed, 18])
    some = rng.random(len(pair.x)) < 0.5
    lower = np.where(some & (rng.random(len(some)) < 0.7), -np.inf, pair.lower)
    upper = np.where(some & (rng.random(len(some)) < 0.7), np.inf, pair.upper)
    a = pair.A[:, np.isinf(lower) | np.isinf(upper)]
    theta = pair.theta
    for _ in range(2):
        theta = theta - a @ np.linalg.lstsq(a, theta)[0]
    return Pair(pair.A, pair.y, lower, upper, pair.x, theta)


@pytest.mark.parametrize("kind", ["gaussian", "cancelled", "orthogonal", "small_x"])
@pytest.mark.parametrize("bounds", ["boxes", "opened"])
def test_verdicts(kind: str, bounds: str) -> None:
    """What is called proved is true, what is called refuted is false, claims next to the truth too."""
    counts = dict.fromkeys(Verdict, 0)
    for seed in range(40):
        pair = hard_pair(kind, seed)
        pair = opened(pair, seed) if bounds == "opened" else pair
        truth = excess_of(pair)
        given = (pair.A, pair.y, pair.x, pair.theta, pair.lower, pair.upper)
        found = boxreg.verify(*given)
        if found.verdict is Verdict.PROVED:
            assert Fraction(found.gap) >= truth
        near = float(truth)
        claims = {0.0, near, np.nextafter(near, 0.0), 0.5 * near, (1.0 - 1e-12) * near, 2.0 * near}
        if np.isfinite(found.gap):
            claims |= {found.gap, 0.5 * (found.gap + near)}
        for claim in claims:
            verdict = boxreg.verify(*given, gap=float(claim)).verdict
            counts[verdict] += 1
            if verdict is Verdict.PROVED:
                assert truth <= Fraction(claim)
            if verdict is Verdict.REFUTED:
                assert truth > Fraction(claim)
    assert counts[Verdict.NOT_PROVED] > 0
    if kind == "gaussian":
        assert counts[Verdict.REFUTED] > 0


def test_x_outside_the_box_is_refuted() -> None:
    """By one rounding error, at either end."""
    for seed in range(20):
        pair = hard_pair("gaussian", seed)
        for x in (np.nextafter(pair.lower, -np.inf), np.nextafter(pair.upper, np.inf)):
            given = (pair.A, pair.y, x, pair.theta, pair.lower, pair.upper)
            assert boxreg.verify(*given).verdict is Verdict.REFUTED


def huber_objective(pair: Pair, x: np.ndarray, delta: Fraction) -> Fraction:
    rest = [abs(r) for r in residual(Pair(pair.A, pair.y, x, x, x, pair.theta))]
    return sum((r * r / 2 if r <= delta else delta * (r - delta / 2) for r in rest), Fraction(0))


def exact_bracket(loss: str, p: float, theta: float, y: float) -> Fraction | None:
    """f(p) + f*(-theta) + p theta; None where f* is infinite. Huber's threshold is ½."""
    p, t, y = Fraction(p), Fraction(theta), Fraction(y)
    if loss == "huber":
        delta, r = Fraction(1, 2), abs(p - y)
        value = r * r / 2 if r <= delta else delta * (r - delta / 2)
        return None if abs(t) > delta else value + t * t / 2 - t * y + p * t
    a, margin = y * t, max(1 - y * p, Fraction(0))
    return None if a < 0 else margin**2 / 2 + a * a / 2 - a + p * t


@pytest.mark.parametrize("loss", ["huber", "squared_hinge"])
def test_brackets(loss: str) -> None:
    """At theta = -f'(p) as computed, next to it, and beyond the end of the domain by one rounding."""
    chosen = Huber(0.5) if loss == "huber" else SquaredHinge()
    for seed in range(300):
        rng = np.random.default_rng([seed, 28])
        y = rng.standard_normal(1) if loss == "huber" else rng.choice([-1.0, 1.0], 1)
        p = rng.choice([1e-9, 1e-3, 0.5, 3.0]) * rng.standard_normal(1)
        p = p if seed % 2 else y + p
        rho = chosen.residual(p, y)
        ends = [np.array([0.5]), np.nextafter([0.5], 1.0), np.nextafter([0.0], -y)]
        for theta in (rho, rho * (1.0 - 1e-12), rho + 1e-9, 0.5 * rho, *ends):
            true = exact_bracket(loss, float(p[0]), float(theta[0]), float(y[0]))
            found = float(chosen.fenchel_young_terms(p, theta, y)[0])
            assert found == np.inf if true is None else Fraction(found) >= true


def test_derivatives_with_weights() -> None:
    """ω (p - y) is within its error of the true one, for weights that are no powers of two."""
    for seed in range(60):
        rng = np.random.default_rng([seed, 29])
        p, y, weights = rng.standard_normal(4), rng.standard_normal(4), rng.uniform(0.1, 10.0, 4)
        loss = Weighted(LeastSquares(), weights)
        found = loss.derivatives(p, y)
        rows = zip(found, loss.derivative_errors(p, found, y), weights, p, y, strict=True)
        for value, error, *data in rows:
            w, a, b = exact(data)
            assert abs(Fraction(value) - w * (a - b)) <= Fraction(error)


@pytest.mark.parametrize("loss", ["least_squares", "huber"])
def test_a_fall_of_the_objective(loss: str) -> None:
    """Between two points, never more than the objective falls; also where they are very near."""
    proved = 0
    for seed in range(100):
        pair = hard_pair("gaussian", seed)
        rng = np.random.default_rng([seed, 19])
        delta = 0.5
        chosen = Huber(delta) if loss == "huber" else loss
        posed = validate.problem(*pair.data, chosen)
        problem = unreduced(posed, WorkMeter(len(pair.x)))
        point = Point(problem, pair.x)
        length = 10.0 ** -rng.uniform(0.0, 14.0)
        x = np.clip(pair.x + length * point.correlation, pair.lower, pair.upper)
        found = _fall(point, Point(problem, x))
        if loss == "huber":
            true = huber_objective(pair, pair.x, Fraction(delta))
            true -= huber_objective(pair, x, Fraction(delta))
        else:
            there = Pair(pair.A, pair.y, x, x, x, pair.theta)
            true = (square_of(residual(pair)) - square_of(residual(there))) / 2
        assert Fraction(found) <= max(true, 0)
        proved += found > 0.0
    assert proved >= 30


def merged_of(A: np.ndarray, y: np.ndarray, penalty: float) -> Merged:
    posed = validate.problem(A, y, -1.0, 1.0, "least_squares")
    return Merged.of(posed, penalty, WorkMeter(A.shape[1]))


def exact_load(A: np.ndarray, theta: np.ndarray) -> Fraction:
    return sum((abs(w) for w in slopes(A, theta)), Fraction(0))


def test_loads() -> None:
    """||Aᵀθ||₁ is within its error: many equal terms, products that cancel, columns merged."""
    for seed in range(24):
        rng = np.random.default_rng([seed, 20])
        m, n = 3, 300 if seed % 3 == 0 else int(rng.integers(2, 6))
        A, theta = rng.standard_normal((m, n)), rng.standard_normal(m)
        if seed % 3 == 0:
            A, theta = np.full((m, n), rng.random()), np.full(m, rng.random())
        elif seed % 3 == 1:
            A = A - np.outer(theta, theta @ A) / (theta @ theta)
        merged = merged_of(A, np.zeros(m), 1.0)
        dual = DualPoint.at(theta, merged.whole)
        value, error = load(merged, dual)
        assert abs(Fraction(value) - exact_load(A, theta)) <= Fraction(error)
        w = A.T @ theta
        some = np.abs(w) > 1e-12
        some[0] = False
        squeezed = merged.squeeze(some & (w < 0.0), some & (w > 0.0))
        kept = squeezed.keep(np.flatnonzero(~some))
        value, error = load(kept, DualPoint.at(theta, kept.whole))
        assert abs(Fraction(value) - exact_load(A, theta)) <= Fraction(error)


def test_gaps_of_levels() -> None:
    """The gap of the residual's multiple is at least the true one, and it squeezes what it may."""
    squeezed = 0
    for seed in range(80):
        rng = np.random.default_rng([seed, 21])
        m, n = (int(v) for v in rng.integers(1, 5, 2))
        A, y = rng.standard_normal((m, n)), rng.standard_normal(m)
        penalty = float(rng.choice([0.9, 0.5, 1e-3, 1e-9])) * float(np.abs(A.T @ y).sum())
        known = exact_antisparse(A, y, penalty, np.zeros(n))
        near = np.array([float(v) for v in known.x])
        x = near + rng.choice([0.0, 1e-15, 1e-6, 1.0]) * rng.standard_normal(n)
        level = float(np.max(np.abs(x)))
        merged = merged_of(A, y, penalty)
        point = Point(merged.at(level), x)
        proof = prove(merged, point, level)
        assert proof.gap == gap_of(merged, point, proof.dual, level)
        if np.isfinite(proof.gap):
            t = exact(proof.dual.theta)
            assert exact_load(A, proof.dual.theta) <= Fraction(penalty)
            primal = square_of(residual(Pair(A, y, x, x, x, y))) / 2
            dual = inner(t, y) - square_of(t) / 2
            assert Fraction(proof.gap) >= primal + Fraction(penalty) * Fraction(level) - dual
        rho = DualPoint.residual(point)
        size = exact_load(A, rho.theta)
        if size > 0:  # a multiple of the residual that is not feasible, by little
            theta = float(Fraction(penalty) / size) * (1.0 + 1e-3) * rho.theta
            beyond = DualPoint.at(theta, merged.at(level))
            assert gap_of(merged, point, beyond, level) == np.inf
        minus, plus = squeezable(merged, point, proof)
        squeezed += int(minus.sum() + plus.sum())
        for j in np.flatnonzero(minus | plus):
            assert (known.w[j] > 0) == plus[j]
            assert known.w[j] != 0
    assert squeezed >= 20


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("upper", [np.inf, 1.0])
def test_batches(upper: float, dual: bool) -> None:
    """Answers that were changed afterwards, and claims that were: what is called proved is true."""
    seen = dict.fromkeys(Verdict, 0)
    for seed in range(6):
        rng = np.random.default_rng([seed, 23])
        A, Y = np.abs(rng.standard_normal((5, 3))), rng.standard_normal((5, 8))
        high = np.full((3, 8), upper) * np.linspace(0.5, 2.0, 8)
        result = boxreg.solve_many(A, Y, 0.0, high, return_dual=dual)
        x, gap = result.x.copy(), result.gap.copy()
        x[:, 1] = 0.0
        x[:, 2] = np.minimum(x[:, 2] + 1e-6, high[:, 2])
        gap[3] = 0.0
        x[:, 4] = x[:, 5]
        x[0, 6] = -1e-300
        sparse_x = scipy.sparse.csc_array(x) if seed % 2 else x
        found = replace(result, x=sparse_x, gap=gap).verify()
        for k in range(8):
            inside = bool(np.all((x[:, k] >= 0.0) & (x[:, k] <= high[:, k])))
            truth = excess_of(Pair(A, Y[:, k], np.zeros(3), high[:, k], x[:, k], Y[:, k]))
            claim = Fraction(float(found.claim[k]))
            assert claim <= max(Fraction(gap[k]), Fraction(result.target_gap[k]) * 2)
            if found.proved[k]:
                assert inside
                assert truth <= claim
            if found.refuted[k]:
                assert not inside or truth > claim
        seen[found.verdict] += 1
        assert not found
        assert found.proved[[0, 7]].all()
        assert boxreg.solve_many(A, Y, 0.0, high, return_dual=dual).verify()
    assert seen[Verdict.REFUTED] > 0


def test_a_batch_is_proved_if_every_claim_is() -> None:
    """One that is not proved, or refuted, is enough; one that claims nothing does not count."""
    two, none = np.ones(2, dtype=bool), np.zeros(2, dtype=bool)
    first = np.array([True, False])
    gap = np.zeros(2)
    assert BatchCertificate(gap, gap, two, two, none).verdict is Verdict.PROVED
    assert BatchCertificate(gap, gap, first, first, none).verdict is Verdict.PROVED
    assert BatchCertificate(gap, gap, two, first, none).verdict is Verdict.NOT_PROVED
    assert BatchCertificate(gap, gap, two, first, ~first).verdict is Verdict.REFUTED
