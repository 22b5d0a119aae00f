"""SciPy's own tests of `lsq_linear`, run on ours."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg

scipy_tests = pytest.importorskip("scipy.optimize.tests.test_lsq_linear")

CLASSES = ("TestTRF", "TestBVLS", "TestErrorChecking")

REPLACED = {
    "test_sparse_ill_conditioned": "wants the default LSMR to fail; ours factors and succeeds",
    "test_option_lsmr_tol": "same error class, but it matches SciPy's own wording",
    "test_option_lsmr_maxiter": "same error class, but it matches SciPy's own wording",
}


def cases() -> list[tuple[str, str]]:
    return [
        (owner, name)
        for owner in CLASSES
        for name, _ in inspect.getmembers(getattr(scipy_tests, owner), inspect.isfunction)
        if name.startswith("test_") and name not in REPLACED
    ]


@pytest.mark.filterwarnings("ignore::boxreg.PerformanceWarning")
@pytest.mark.parametrize(("owner", "name"), cases())
def test_scipy_case(monkeypatch: pytest.MonkeyPatch, owner: str, name: str) -> None:
    """The case passes unchanged, with our function where SciPy imported its own."""
    monkeypatch.setattr(scipy_tests, "lsq_linear", boxreg.lsq_linear)
    suite = getattr(scipy_tests, owner)()
    if hasattr(suite, "setup_method"):
        suite.setup_method()
    getattr(suite, name)()


@pytest.mark.parametrize("name", REPLACED)
def test_every_exception_still_exists(name: str) -> None:
    """A case listed as replaced must be one of SciPy's."""
    assert any(hasattr(getattr(scipy_tests, owner), name) for owner in CLASSES)


def test_sparse_ill_conditioned() -> None:
    """Our version of SciPy's case: the condition number of 4e6 costs nothing."""
    data, row, col = [1.0, 1.0, 1.0, 1.0 + 1e-6, 1.0], [0, 0, 1, 2, 2], [0, 2, 1, 0, 2]
    A = sparse.coo_array((data, (row, col)), shape=(3, 3))
    exact = np.linalg.solve(A.toarray(), scipy_tests.b)
    for options in ({}, {"lsmr_maxiter": 10}):
        found = boxreg.lsq_linear(A, scipy_tests.b, lsq_solver="lsmr", **options)
        np.testing.assert_allclose(found.x, exact)


@pytest.mark.parametrize("value", [1e-2, "auto", None])
def test_lsmr_tol_is_accepted(value: object) -> None:
    """What SciPy accepts."""
    boxreg.lsq_linear(scipy_tests.A, scipy_tests.b, lsq_solver="lsmr", lsmr_tol=value)


@pytest.mark.parametrize(
    ("option", "match"),
    [
        ({"lsmr_tol": -0.1}, "lsmr_tol: expected None, 'auto' or a float > 0, got -0.1"),
        ({"lsmr_tol": "foo"}, "lsmr_tol: .* got 'foo'"),
        ({"lsmr_tol": 1}, "lsmr_tol: .* got 1"),
        ({"lsmr_maxiter": 0}, "lsmr_maxiter: expected None or a whole number >= 1, got 0"),
        ({"lsmr_maxiter": -1}, "lsmr_maxiter: .* got -1"),
        ({"max_iter": 0}, "max_iter: expected None or a whole number >= 1, got 0"),
        ({"method": "lm"}, "method: expected one of 'trf', 'bvls', got 'lm'"),
        ({"verbose": 3}, "verbose: expected one of 0, 1, 2, got 3"),
        ({"lsq_solver": "svd"}, "lsq_solver: expected one of None, 'exact', 'lsmr', got 'svd'"),
        ({"bounds": (0.0, 1.0, 2.0)}, "bounds: expected a pair"),
        ({"bounds": 3.0}, "bounds: expected a pair"),
        ({"bounds": (1.0, 0.0)}, "bounds: lower must not exceed upper"),
        ({"bounds": ([0.0, 0.0, 0.0], 1.0)}, "lower: expected a number or a vector with 2"),
        ({"tol": -1.0}, "tol: expected a finite number >= 0"),
    ],
)
def test_errors_name_the_argument(option: dict[str, object], match: str) -> None:
    """The argument, what is accepted, what came."""
    with pytest.raises(ValueError, match=match):
        boxreg.lsq_linear(scipy_tests.A, scipy_tests.b, **option)


def test_exact_unbounded_solutions_need_a_dense_matrix() -> None:
    """As in SciPy."""
    with pytest.raises(ValueError, match="lsq_solver: 'exact' needs a dense A"):
        boxreg.lsq_linear(sparse.eye_array(3), np.ones(3), lsq_solver="exact")


def test_equal_bounds_and_certificate() -> None:
    """lb = ub fixes a coordinate; the gap is proved, and the fields agree with each other."""
    rng = np.random.default_rng(3)
    A, b = rng.standard_normal((20, 4)), rng.standard_normal(20)
    lower, upper = np.array([0.5, -np.inf, 0.0, -0.1]), np.array([0.5, np.inf, np.inf, 0.1])
    for bounds in ((lower, upper), optimize.Bounds(lower, upper)):
        found = boxreg.lsq_linear(A, b, bounds, method="bvls")
        assert found.success
        assert found.status == 1
        assert found.x[0] == 0.5
        assert found.active_mask[0] in (-1, 1)
        assert found.optimality <= 1e-12
        np.testing.assert_allclose(found.fun, A @ found.x - b)
        assert boxreg.verify(A, b, found.x, found.theta, lower, upper, gap=found.gap)
        rest = optimize.lsq_linear(A[:, 1:], b - 0.5 * A[:, 0], (lower[1:], upper[1:]))
        np.testing.assert_allclose(found.x[1:], rest.x, atol=1e-8)


def test_statuses_and_masks() -> None:
    """3 and no steps where the bounds do not matter, 0 where the steps run out, exact masks."""
    rng = np.random.default_rng(4)
    A, b = rng.standard_normal((40, 6)), rng.standard_normal(40)
    plain = boxreg.lsq_linear(A, b, (-10.0, 10.0))
    assert (plain.status, plain.nit, plain.active_mask.any()) == (3, 0, False)
    tight = boxreg.lsq_linear(A, b, (-0.01, 0.01))
    np.testing.assert_array_equal(tight.active_mask, np.sign(tight.x) * (abs(tight.x) == 0.01))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", boxreg.PerformanceWarning)
        short = boxreg.lsq_linear(aslinearoperator(A), b, (-0.1, 0.1), max_iter=1)
    assert (short.status, short.success) == (0, False)


def test_the_unbounded_solution_waits_until_it_is_asked_for() -> None:
    """And is SciPy's, through a copy too."""
    found = boxreg.lsq_linear(scipy_tests.A, scipy_tests.b, (0.0, 1.0))
    assert "unbounded_sol" not in found
    expected = np.linalg.lstsq(scipy_tests.A, scipy_tests.b, rcond=-1)[0]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).unbounded_sol[0], expected)
    np.testing.assert_array_equal(found.unbounded_sol[0], expected)
    with pytest.raises(AttributeError):
        _ = found.nothing_of_that_name


def test_the_report_is_printed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    """verbose = 1: how it ended; nothing by default."""
    boxreg.lsq_linear(scipy_tests.A, scipy_tests.b)
    assert capsys.readouterr().out == ""
    boxreg.lsq_linear(scipy_tests.A, scipy_tests.b, verbose=1)
    assert "unconstrained solution is optimal" in capsys.readouterr().out
