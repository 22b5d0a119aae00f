"""`verify` trusts nothing but its arguments, and rejects whatever was tampered with."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import Verdict, refutation
from boxreg.certificate import certify
from boxreg.point import Point
from boxreg.presolve import unreduced
from boxreg.validate import problem as posed
from boxreg.work import WorkMeter
from boxreg.workloads import bvls_table2, nnls_table1
from judging import SOLVERS, assert_confirmed, exact_objective
from references.problems import TABLE, BoxProblem

NNLS = nnls_table1(60, m=50)
BVLS = bvls_table2(60, m=50)


def solved(workload, solver="active_set"):
    return boxreg.solve(workload.A, workload.y, workload.lower, workload.upper, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("workload", [NNLS, BVLS], ids=lambda w: w.name)
def test_accepts_what_solve_returns(workload, solver: str) -> None:
    """With the claim that solve made, which has room for products taken anew."""
    result = solved(workload, solver)
    certificate = boxreg.verify(
        workload.A,
        workload.y,
        result.x,
        result.theta,
        workload.lower,
        workload.upper,
        gap=result.gap,
    )
    assert certificate.verdict is Verdict.PROVED
    assert certificate.reasons == ()
    assert certificate.rigorous
    assert certificate.gap <= result.gap <= certificate.gap + 5 * certificate.rounding
    assert certificate.objective == result.objective
    assert certificate.objective - certificate.dual_objective == pytest.approx(
        certificate.gap, abs=1e-11 * result.scale
    )


@pytest.mark.parametrize("workload", [NNLS, BVLS], ids=lambda w: w.name)
class TestRejects:
    """Each corruption alone is enough."""

    def check(self, workload, **changed):
        result = solved(workload)
        arguments = {
            "A": workload.A,
            "y": workload.y,
            "x": result.x,
            "theta": result.theta,
            "lower": workload.lower,
            "upper": workload.upper,
            "gap": result.target_gap,
        }
        assert boxreg.verify(**arguments)
        return boxreg.verify(**{**arguments, **changed}), result

    def test_x_outside_the_box(self, workload) -> None:
        x = solved(workload).x.copy()
        x[3] = np.nextafter(workload.lower, -1.0)
        certificate, _ = self.check(workload, x=x)
        assert certificate.verdict is Verdict.REFUTED
        assert not certificate.primal_feasible
        assert certificate.gap == np.inf
        assert "x is not feasible: x[3]" in str(certificate)

    def test_x_moved_inside_the_box(self, workload) -> None:
        x = solved(workload).x.copy()
        x[np.argmax(x)] *= 0.9
        certificate, result = self.check(workload, x=x)
        assert certificate.verdict is Verdict.REFUTED
        assert certificate.least_excess <= certificate.objective - result.objective
        assert f"P(x) - P* is at least {certificate.least_excess:.6g}" in str(certificate)

    def test_theta(self, workload) -> None:
        theta = solved(workload).theta.copy()
        theta[7] += 0.3
        certificate, _ = self.check(workload, theta=theta)
        assert not certificate

    def test_data(self, workload) -> None:
        certificate, _ = self.check(workload, y=np.roll(workload.y, 1))
        assert not certificate

    def test_bounds(self, workload) -> None:
        x = solved(workload).x
        certificate, _ = self.check(workload, lower=float(x.max()) / 2)
        assert not certificate
        certificate, _ = self.check(workload, upper=float(x.max()) / 2)
        assert not certificate

    def test_gap(self, workload) -> None:
        rough = boxreg.solve(
            workload.A,
            workload.y,
            workload.lower,
            workload.upper,
            solver="projected_gradient",
            tol=1e-4,
        )
        pair = {"x": rough.x, "theta": rough.theta}
        accepted, result = self.check(workload, gap=rough.gap, **pair)
        assert accepted
        too_good, _ = self.check(workload, gap=rough.gap / 2, **pair)
        assert not too_good
        assert too_good.verdict is not Verdict.PROVED
        assert "the claimed gap" in too_good.reasons[-1]
        assert not self.check(workload, gap=np.nextafter(accepted.gap, 0.0), **pair)[0]
        assert self.check(workload, gap=accepted.gap, **pair)[0]
        for impossible in (-result.gap, np.nan):
            with pytest.raises(ValueError, match="gap: expected a number >= 0"):
                self.check(workload, gap=impossible)


@pytest.mark.parametrize("problem", [p for p in TABLE if p.A.size], ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_a_claim_survives_another_order_of_summation(problem) -> None:
    """The gap of a run on one layout of A is confirmed on every other one."""
    A, y, lower, upper = problem.data
    rows = np.random.default_rng(0).permutation(len(y))
    layouts = (np.asfortranarray(A), np.ascontiguousarray(A), sparse.csr_array(A))
    for form in (A, sparse.csc_array(A)):
        result = boxreg.solve(form, y, lower, upper)
        x, theta = result.x, result.theta
        for other in layouts:
            again = boxreg.verify(other, y, x, theta, lower, upper, gap=result.gap)
            assert_confirmed(again, result)
        again = boxreg.verify(A[rows], y[rows], x, theta[rows], lower, upper, gap=result.gap)
        assert_confirmed(again, result)


def test_an_infeasible_theta_is_named() -> None:
    """The worst column is in the remark."""
    result = solved(NNLS)
    certificate = boxreg.verify(NNLS.A, NNLS.y, result.x, result.theta + 1.0)
    assert not certificate.dual_feasible
    assert certificate.dual_objective == -np.inf
    assert certificate.verdict is Verdict.NOT_PROVED
    assert "theta is not feasible, so that the gap is infinite: a_jᵀtheta" in str(certificate)


def test_another_solver_s_answer_can_be_verified() -> None:
    """SciPy's x with its residual, which is feasible only up to rounding, proves the answer."""
    from scipy import optimize

    x, _ = optimize.nnls(NNLS.A, NNLS.y)
    certificate = boxreg.verify(NNLS.A, NNLS.y, x, NNLS.y - NNLS.A @ x)
    assert certificate.verdict is Verdict.PROVED
    assert certificate.gap < 1e-8


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_the_whole_table(problem) -> None:
    """Every answer of the default solver passes with the gap it reports."""
    result = boxreg.solve(*problem.data)
    A, y, lower, upper = problem.data
    again = boxreg.verify(A, y, result.x, result.theta, lower, upper, gap=result.gap)
    assert_confirmed(again, result)


def test_a_far_bound_proves_no_claim() -> None:
    """Slopes of 0 up to rounding, times 1e15: the gap is 13758, and moving x improves P by 25."""
    A, y = np.eye(200, 50), np.ones(200)
    theta = np.where(np.arange(200) < 50, 0.0, 1.0)
    certificate = boxreg.verify(A, y, np.zeros(50), theta, 0.0, 1e15, gap=0.0)
    assert certificate.verdict is Verdict.REFUTED
    assert not certificate
    assert 24.99 < certificate.least_excess <= 25.0
    assert certificate.reasons == ("the claimed gap 0 is false: P(x) - P* is at least 25",)
    honest = boxreg.verify(A, y, np.ones(50), theta, 0.0, 1e15, gap=0.0)
    assert honest.verdict is Verdict.NOT_PROVED
    assert honest.least_excess == 0.0
    assert honest.reasons[0].startswith("the claimed gap 0 is below the proved one, ")


def test_a_slightly_infeasible_theta_proves_little() -> None:
    """The minimum, 0, is at (1e8, 1e8): theta is infeasible by 1e-8, and the excess is 0.5."""
    A, y = np.array([[1.0, -1.0], [0.0, 1e-8]]), np.array([0.0, 1.0])
    for gap in (2e-5, 0.49):
        certificate = boxreg.verify(A, y, np.zeros(2), y, gap=gap)
        assert certificate.verdict is Verdict.NOT_PROVED
        assert certificate.gap >= 0.5
        assert certificate.reasons[-1].startswith(
            f"the claimed gap {gap:g} is below the proved one, "
        )
    assert boxreg.verify(A, y, np.zeros(2), y).gap >= 0.5
    assert boxreg.verify(A, y, np.zeros(2), y, gap=0.0).verdict is Verdict.REFUTED


def test_a_gap_without_a_claim_is_proved_if_it_is_finite() -> None:
    result = solved(BVLS)
    pair = (result.x, result.theta)
    certificate = boxreg.verify(BVLS.A, BVLS.y, *pair, BVLS.lower, BVLS.upper)
    assert certificate.verdict is result.certificate.verdict is Verdict.PROVED
    assert str(certificate).startswith(
        "PROVED: The gap bounds P(x) - P*, rounding errors included."
    )
    assert certificate.gap_over_objective == certificate.gap / certificate.objective
    assert f"({certificate.gap_over_objective:.2g} of P(x))" in str(certificate)


def test_a_claim_of_infinity_needs_a_proof_too() -> None:
    """Nothing is refuted, and without a feasible theta nothing is proved."""
    x = np.zeros(60)
    assert boxreg.verify(NNLS.A, NNLS.y, x, np.zeros(50), gap=np.inf).verdict is Verdict.PROVED
    certificate = boxreg.verify(NNLS.A, NNLS.y, x, np.ones(50), gap=np.inf)
    assert certificate.verdict is Verdict.NOT_PROVED


def test_assumptions_are_named() -> None:
    """Operators, a caller's own loss and dependent free columns: never PROVED, never REFUTED."""
    from scipy.sparse.linalg import aslinearoperator

    from boxreg import custom_loss

    rng = np.random.default_rng(3)
    A, y, x, theta = rng.standard_normal((9, 4)), np.ones(9), np.zeros(4), np.zeros(9)
    own = custom_loss(
        value=lambda p, y: 0.5 * (p - y) ** 2,
        derivative=lambda p, y: p - y,
        conjugate=lambda v, y: 0.5 * v * v + v * y,
        alpha=1.0,
    )
    low_rank = np.hstack([A[:, :2], A[:, :2] @ rng.standard_normal((2, 2))])  # up to rounding
    off = y - low_rank @ np.linalg.lstsq(low_rank, y, rcond=None)[0]
    with pytest.warns(boxreg.PerformanceWarning):
        product = boxreg.verify(aslinearoperator(A), y, x, theta, -1.0, 1.0, gap=0.0)
    for certificate, name in (
        (product, "assumption (products of an operator): "),
        (boxreg.verify(A, y, x, theta, -1.0, 1.0, loss=own, gap=0.0), "assumption (a caller's own"),
        (boxreg.verify(low_rank, y, x, off, -np.inf, np.inf), "assumption (dependent columns): 2 "),
    ):
        assert certificate.verdict is Verdict.NOT_PROVED
        assert certificate.reasons[0].startswith(name)


def test_what_lies_outside_the_box_is_refuted_whatever_it_is() -> None:
    """Also numbers that compare with nothing, and infinity within an infinite bound."""
    problem = posed(np.eye(2), np.ones(2), 0.0, np.inf, "least_squares")
    for value in (np.nan, np.inf, -np.inf):
        with np.errstate(invalid="ignore"):
            certificate, _ = certify(problem, np.array([value, 1.0]), np.zeros(2))
        assert certificate.verdict is Verdict.REFUTED


EXCESS = {
    "least_squares": (lambda p, y: 0.5 * (p - y) ** 2),
    "logistic": (lambda p, y: np.logaddexp(0.0, -np.where(y > 0, 1.0, -1.0) * p)),
    "huber": (lambda p, y: np.where(abs(p - y) <= 1, 0.5 * (p - y) ** 2, abs(p - y) - 0.5)),
    "squared_hinge": (lambda p, y: 0.5 * np.maximum(0, 1 - np.where(y > 0, 1.0, -1.0) * p) ** 2),
    "kullback_leibler": (lambda p, y: p - y + y * np.log(y / p)),
}


@pytest.mark.parametrize("terms", ["plain", "weights, cost and ridge"])
@pytest.mark.parametrize("loss", EXCESS)
def test_lower_bounds_are_below_the_true_excess(loss: str, terms: str) -> None:
    """Claims up to a fifth of the excess are refuted, and nothing beyond it is ever said."""
    rng = np.random.default_rng(11)
    for _ in range(10):
        A, y = np.abs(rng.standard_normal((15, 6))) + 0.1, 1.0 * (rng.random(15) < 0.5)
        y = y + 1.0 if loss == "kullback_leibler" else y
        weights, cost, ridge = np.ones(15), np.zeros(6), 0.0
        if terms != "plain":
            weights, cost, ridge = rng.random(15) + 0.1, rng.random(6), 0.3
        given = {"sample_weight": weights, "linear": cost, "ridge": ridge, "loss": loss}
        x = rng.uniform(0.1, 1.0, 6)
        best = boxreg.solve(A, y, 0.1, 1.0, **given)
        values = [
            float(weights @ EXCESS[loss](A @ z, y)) + float(cost @ z) + 0.5 * ridge * float(z @ z)
            for z in (x, best.x)
        ]
        excess = values[0] - values[1]
        for claim in (0.0, 0.2 * excess):
            found = boxreg.verify(A, y, x, best.theta, 0.1, 1.0, gap=claim, **given)
            assert found.verdict is Verdict.REFUTED
            assert claim < found.least_excess <= excess + best.gap + 1e-10
        true = boxreg.verify(A, y, x, best.theta, 0.1, 1.0, gap=1.01 * excess, **given)
        assert true.verdict is not Verdict.REFUTED


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_lower_bounds_in_exact_arithmetic() -> None:
    """P(x) - P* of points next to the solution, where there is little but rounding."""
    rng, refuted = np.random.default_rng(12), 0
    for k in range(100):
        scale = 10.0 ** rng.integers(-6, 7)
        A, y = rng.standard_normal((5, 3)) * scale, rng.standard_normal(5)
        best = boxreg.solve(A, y, -1.0, 1.0)
        x = np.clip(best.x * (1.0 + 10.0 ** -float(rng.integers(4, 17))), -1.0, 1.0)
        found = boxreg.verify(A, y, x, best.theta, -1.0, 1.0, gap=0.0)
        problem = BoxProblem(f"case {k}", A, y, np.full(3, -1.0), np.ones(3))
        excess = exact_objective(problem, x) - exact_objective(problem, best.x)
        assert Fraction(found.least_excess) <= excess + Fraction(best.gap)
        refuted += found.verdict is Verdict.REFUTED
    assert refuted > 30


def test_the_shares_of_the_gap_where_the_start_is_far_worse_than_the_answer() -> None:
    """With one heavy row the gap is 1e-9 of P₀, and as large as P(x): both are said."""
    rng = np.random.default_rng(5)
    A = np.abs(rng.standard_normal((30, 4)))
    A[0] *= 1e5
    y = A @ np.ones(4) + 1e-3 * rng.standard_normal(30)
    result = boxreg.solve(A, y, solver="projected_gradient", tol=1e-8)
    assert result.relative_gap <= 1e-8
    assert result.gap_over_objective == result.gap / result.objective
    assert result.gap_over_objective > 1e3 * result.relative_gap
    for said in (result.message, repr(result), result._repr_html_(), result.report()):
        assert "of P(x)" in said
        assert "of P₀" in said
    perfect = boxreg.solve(np.eye(2), np.zeros(2))
    assert perfect.gap_over_objective == perfect.relative_gap == 0.0


@pytest.mark.parametrize("upper", [1.0, np.inf])
def test_zeros_that_are_stored_make_no_difference(upper: float) -> None:
    """A claim made with a sparse A is confirmed with the same A stored dense, and with a ridge."""
    rng = np.random.default_rng(14)
    A = sparse.random_array((600, 80), density=0.01, rng=rng, format="csc")
    y = rng.standard_normal(600)
    for given in ({}, {"ridge": 0.1}):
        result = boxreg.solve(A, y, 0.0, upper, **given)
        for other in (A, A.toarray(), np.asfortranarray(A.toarray())):
            pair = (result.x, result.theta)
            again = boxreg.verify(other, y, *pair, 0.0, upper, gap=result.gap, **given)
            assert again.verdict is Verdict.PROVED, again.reasons


def test_the_least_that_slopes_in_an_interval_allow() -> None:
    """By hand: (2 ± ½) · 1 + (-1 ± ¼) · 2 is at least 1½ - 2½, and (2 ± ½) · 2 at least 3."""
    assert (
        refutation._least(*map(np.array, ([2.0, -1.0], [0.5, 0.25], [1.0, 2.0], [1.0, 2.0]))) == 0.0
    )
    least = refutation._least(*map(np.array, ([2.0], [0.5], [2.0], [2.0])))
    assert 3.0 * (1.0 - 1e-7) < least <= 3.0


@pytest.mark.parametrize("loss", EXCESS)
def test_what_one_step_is_said_to_gain_is_not_more_than_it_gains(loss: str) -> None:
    """Between any two points of the box, better or worse."""
    rng = np.random.default_rng(15)
    A, y = np.abs(rng.standard_normal((9, 4))), 1.0 + (rng.random(9) < 0.5)
    y = y if loss in ("least_squares", "huber", "kullback_leibler") else y - 1.0
    whole = unreduced(posed(A, y, 0.1, 2.0, loss), WorkMeter(4))
    positive = 0
    for _ in range(200):
        first = rng.uniform(0.1, 2.0, 4)
        second = np.clip(first + rng.standard_normal(4) * 10.0 ** rng.integers(-6, 1), 0.1, 2.0)
        values = [float(np.sum(EXCESS[loss](A @ x, y))) for x in (first, second)]
        said = refutation._fall(Point(whole, first), Point(whole, second))
        assert said <= max(values[0] - values[1], 0.0) + 1e-13
        positive += said > 0.0
    assert positive > 20
