"""SciPy's own tests of `nnls`, run on ours."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy

import boxreg

scipy_tests = pytest.importorskip("scipy.optimize.tests.test_nnls")

REPLACED = {
    "test_maxiter": "SciPy raises RuntimeError; ours returns the best point with a warning",
    "test_atol_deprecation_warning": "checks SciPy's deprecation of atol; ours keeps it",
    "test_2D_not_singleton_RHS_input_2": "same error class, but it matches SciPy's own wording",
}


def cases() -> list[str]:
    return [
        name
        for name, _ in inspect.getmembers(scipy_tests.TestNNLS, inspect.isfunction)
        if name.startswith("test_") and name not in REPLACED
    ]


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> object:
    """SciPy's test class with our function where it imported its own."""
    monkeypatch.setattr(scipy_tests, "nnls", boxreg.nnls)
    instance = scipy_tests.TestNNLS()
    if hasattr(instance, "setup_method"):
        instance.setup_method()
    return instance


@pytest.mark.parametrize("name", cases())
def test_scipy_case(suite: object, name: str) -> None:
    """The case passes unchanged."""
    getattr(suite, name)()


def test_every_exception_still_exists() -> None:
    """A case listed as replaced must be one of SciPy's; older releases lack some, and newer ones one."""
    release = tuple(int(part) for part in scipy.__version__.split(".")[:2])
    listed = set(REPLACED) if release >= (1, 17) else {"test_maxiter"}
    if release >= (1, 18):  # atol is gone
        listed.remove("test_atol_deprecation_warning")
    for name in listed:
        assert hasattr(scipy_tests.TestNNLS, name)


def test_a_matrix_of_right_hand_sides_is_refused() -> None:
    """Our version of SciPy's test_2D_not_singleton_RHS_input_2."""
    with pytest.raises(ValueError, match=r"b: expected a vector with 4 entries .* shape \(4, 2\)"):
        boxreg.nnls(np.ones((4, 3)), np.ones((4, 2)))


def test_maxiter_warns_and_returns_the_best_point() -> None:
    """Our version of SciPy's test_maxiter."""
    rng = np.random.default_rng(1685225766635251)
    a, b = rng.uniform(size=(5, 10)), rng.uniform(size=5)
    with pytest.warns(boxreg.ConvergenceWarning, match="maxiter: 1 steps were not enough"):
        x, rnorm = boxreg.nnls(a, b, maxiter=1)
    assert (x >= 0).all()
    assert rnorm <= (b @ b) ** 0.5
