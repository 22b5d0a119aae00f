"""`verify` trusts nothing but its arguments, and rejects whatever was tampered with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg.workloads import bvls_table2, nnls_table1
from judging import SOLVERS
from references.problems import TABLE

NNLS = nnls_table1(60, m=50)
BVLS = bvls_table2(60, m=50)


def solved(workload, solver="active_set"):
    return boxreg.solve(workload.A, workload.y, workload.lower, workload.upper, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("workload", [NNLS, BVLS], ids=lambda w: w.name)
def test_accepts_what_solve_returns(workload, solver: str) -> None:
    """With the claim that solve made, and the same gap up to the rounding of products taken anew."""
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
    assert certificate
    assert certificate.rigorous
    assert certificate.gap == pytest.approx(result.gap, rel=0, abs=4 * certificate.rounding)
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
        assert not certificate
        assert not certificate.primal_feasible
        assert certificate.gap == np.inf
        assert "x is not feasible: x[3]" in str(certificate)

    def test_x_moved_inside_the_box(self, workload) -> None:
        x = solved(workload).x.copy()
        x[np.argmax(x)] *= 0.9
        certificate, _ = self.check(workload, x=x)
        assert not certificate
        assert "the claimed gap" in str(certificate)

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
        assert "the claimed gap" in too_good.reasons[-1]
        for impossible in (-result.gap, np.nan):
            with pytest.raises(ValueError, match="gap: expected a number >= 0"):
                self.check(workload, gap=impossible)


@pytest.mark.parametrize("problem", [p for p in TABLE if p.A.size], ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_a_claim_survives_another_order_of_summation(problem) -> None:
    """The gap of a run on one layout of A is confirmed on every other one."""
    result = boxreg.solve(*problem.data)
    A, y, lower, upper = problem.data
    rows = np.random.default_rng(0).permutation(len(y))
    for other in (np.asfortranarray(A), np.ascontiguousarray(A), sparse.csr_array(A)):
        assert boxreg.verify(other, y, result.x, result.theta, lower, upper, gap=result.gap)
    assert boxreg.verify(
        A[rows], y[rows], result.x, result.theta[rows], lower, upper, gap=result.gap
    )


def test_an_infeasible_theta_is_named() -> None:
    """The worst column is in the remark."""
    result = solved(NNLS)
    certificate = boxreg.verify(NNLS.A, NNLS.y, result.x, result.theta + 1.0)
    assert not certificate.dual_feasible
    assert certificate.dual_objective == -np.inf
    assert "theta is not feasible: a_jᵀtheta" in str(certificate)


def test_another_solver_s_answer_can_be_verified() -> None:
    """SciPy's x with its residual: feasible only up to rounding, which the certificate says."""
    from scipy import optimize

    x, _ = optimize.nnls(NNLS.A, NNLS.y)
    certificate = boxreg.verify(NNLS.A, NNLS.y, x, NNLS.y - NNLS.A @ x)
    assert certificate
    assert not certificate.rigorous
    assert "slight error" in str(certificate)
    assert certificate.gap < 1e-8


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_the_whole_table(problem) -> None:
    """Every answer of the default solver passes with the gap it reports."""
    result = boxreg.solve(*problem.data)
    A, y, lower, upper = problem.data
    assert boxreg.verify(A, y, result.x, result.theta, lower, upper, gap=result.gap)
