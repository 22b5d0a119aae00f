"""The ℓ∞-penalised problem: values computed by hand, other solvers, the constrained form, bad input."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg import Status, antisparse


def gaussian(m: int, n: int, share: float, seed: int = 0) -> tuple[Any, Any, float]:
    rng = np.random.default_rng(seed)
    A, y = rng.standard_normal((m, n)), rng.standard_normal(m)
    return A, y, share * float(np.abs(A.T @ y).sum())


HAND = [
    # ½(3 - 2x)² + 2|x|: 2(3 - 2x) = 2
    ([[2.0]], [3.0], 2.0, [1.0], [1]),
    ([[-2.0]], [3.0], 2.0, [-1.0], [-1]),
    ([[2.0]], [3.0], 6.0, [0.0], None),
    ([[2.0]], [3.0], 7.0, [0.0], None),
    # A = I: clip at c, where the sum of (|y_j| - c)⁺ is λ
    (np.eye(2), [3.0, 1.0], 1.0, [2.0, 1.0], [1, 0]),
    (np.eye(2), [3.0, -1.0], 3.0, [0.5, -0.5], [1, -1]),
    (np.eye(2), [3.0, 1.0], 4.0, [0.0, 0.0], None),
    (np.eye(3), [5.0, -4.0, 1.0], 3.0, [3.0, -3.0, 1.0], [1, -1, 0]),
    # w*_2 is exactly 0 where the level meets y_2: nothing can be proved there
    (np.eye(2), [3.0, 2.0], 1.0, [2.0, 2.0], [1, 0]),
    # x = (c, c): ½(3 - 2c)² + c is least at c = 1.25
    ([[1.0, 1.0]], [3.0], 1.0, [1.25, 1.25], [1, 1]),
    # a zero column says nothing
    ([[1.0, 0.0]], [3.0], 1.0, [2.0, 0.0], [1, 0]),
    # s = a_1 + a_2 = (2, 1): c = (sᵀy - λ) / ||s||² = (9 - 4) / 5; ρ = (2, 0), w = (2, 2)
    ([[1.0, 1.0], [0.0, 1.0]], [4.0, 1.0], 4.0, [1.0, 1.0], [1, 1]),
]


@pytest.mark.parametrize(("A", "y", "penalty", "x", "squeezed"), HAND)
def test_by_hand(A: Any, y: Any, penalty: float, x: Any, squeezed: Any) -> None:
    found = antisparse(A, y, penalty)
    np.testing.assert_allclose(found.x, x, rtol=0, atol=1e-14)
    assert found.level == np.max(np.abs(found.x))
    assert found.success
    assert found.certificate
    if squeezed is not None:
        assert found.squeezed.tolist() == squeezed
        assert found.squeezed.dtype == np.int8


def test_several_solutions() -> None:
    """x_1 = 4; x_2 + x_3 = 1 in any way below the level: neither may be squeezed."""
    found = antisparse([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], [5.0, 1.0], 1.0)
    assert found.level == pytest.approx(4.0, abs=1e-14)
    assert found.x[1] + found.x[2] == pytest.approx(1.0, abs=1e-14)
    assert found.squeezed.tolist() == [1, 0, 0]


@pytest.mark.parametrize("seed", range(20))
def test_orthonormal_columns(seed: int) -> None:
    """With AᵀA = I the answer is Aᵀy less its projection on the ℓ₁ ball, found by sorting."""
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.standard_normal((40, 25)))[0]
    y = rng.standard_normal(40)
    v = A.T @ y
    penalty = float(rng.uniform(0.05, 0.95) * np.abs(v).sum())
    sizes = np.sort(np.abs(v))[::-1]
    levels = (np.cumsum(sizes) - penalty) / np.arange(1, 26)
    level = levels[np.flatnonzero(sizes > levels)[-1]]
    np.testing.assert_allclose(antisparse(A, y, penalty).x, np.clip(v, -level, level), atol=1e-13)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", [(12, 7), (7, 12), (9, 9)])
def test_against_a_general_solver(shape: tuple[int, int], seed: int) -> None:
    """SLSQP on (x, c) with -c <= x <= c knows nothing of this method."""
    A, y, penalty = gaussian(*shape, share=[0.9, 0.5, 0.2, 0.05][seed % 4], seed=seed)
    n = shape[1]
    found = antisparse(A, y, penalty)

    def value(z: Any) -> float:
        return 0.5 * float(np.sum((y - A @ z[:n]) ** 2)) + penalty * z[n]

    def gradient(z: Any) -> Any:
        return np.append(-A.T @ (y - A @ z[:n]), penalty)

    sides = np.block([[np.eye(n), np.ones((n, 1))], [-np.eye(n), np.ones((n, 1))]])
    other = optimize.minimize(
        value,
        np.append(np.zeros(n), 1.0),
        jac=gradient,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda z: sides @ z, "jac": lambda z: sides},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    scale = 0.5 * float(y @ y)
    theirs = value(np.append(other.x[:n], np.abs(other.x[:n]).max()))
    assert found.objective <= theirs + 1e-14 * scale
    assert found.objective >= theirs - 1e-7 * scale
    assert found.level == pytest.approx(other.x[n], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("share", [0.9, 0.5, 0.2, 0.02, 1e-4])
@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (50, 50), (10, 200), (300, 120)])
def test_constrained_form_at_the_matching_level(shape: tuple[int, int], share: float) -> None:
    """||x||∞ <= c as bounds, c the level found, has the same residual, and x where it is unique."""
    A, y, penalty = gaussian(*shape, share=share, seed=3)
    found = antisparse(A, y, penalty)
    assert found.success
    boxed = boxreg.solve(A, y, -found.level, found.level)
    scale = 0.5 * float(y @ y)
    assert abs(boxed.objective + penalty * found.level - found.objective) <= 1e-10 * scale
    np.testing.assert_allclose(A @ found.x, A @ boxed.x, atol=2e-5)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(found.x, boxed.x, rtol=0, atol=1e-6 * found.level)
    scipy_box = optimize.lsq_linear(A, y, (-found.level, found.level), method="bvls", tol=1e-14)
    assert abs(scipy_box.cost + penalty * found.level - found.objective) <= 1e-8 * scale
    # The multiplier of that constraint is the penalty.
    rho = y - A @ found.x
    assert float(np.abs(A.T @ rho).sum()) == pytest.approx(penalty, rel=1e-7)


@pytest.mark.parametrize("share", [1.0, 1.0 + 1e-15, 1.0 + 1e-9, 2.0, 1e6])
def test_large_penalty(share: float) -> None:
    A, y, most = gaussian(30, 50, 1.0)
    found = antisparse(A, y, share * most)
    assert found.level <= 1e-14
    assert found.success


def test_squeezing_changes_nothing_but_work() -> None:
    A, y, penalty = gaussian(100, 150, 0.7)
    with_, without = antisparse(A, y, penalty), antisparse(A, y, penalty, squeezing=False)
    np.testing.assert_allclose(with_.x, without.x, rtol=0, atol=1e-12)
    assert with_.work < without.work
    assert not without.squeezed.any()
    assert with_.squeezing_ratio > 0.8
    at = with_.squeezed != 0
    np.testing.assert_array_equal(with_.x[at], with_.level * with_.squeezed[at])


def test_every_kind_of_matrix() -> None:
    A, y, penalty = gaussian(30, 45, 0.4)
    A[np.abs(A) < 0.7] = 0.0
    A = A.astype(np.float32).astype(float)
    plain = antisparse(A, y, penalty)
    kinds = [
        np.asfortranarray(A),
        A.astype(np.float32),
        np.repeat(A, 2, axis=1)[:, ::2],
        sparse.csc_array(A),
        sparse.csr_matrix(A),
        sparse.coo_array(A),
        A.tolist(),
    ]
    for other in kinds:
        found = antisparse(other, y, penalty)
        np.testing.assert_allclose(found.x, plain.x, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found.squeezed, plain.squeezed)
        assert found.certificate.rigorous


def test_scaling() -> None:
    """x(t A, u y, t u λ) = (u / t) x(A, y, λ); powers of two change no rounding."""
    A, y, penalty = gaussian(20, 30, 0.3)
    plain = antisparse(A, y, penalty)
    for t, u in [(2.0**40, 2.0**-60), (2.0**-100, 2.0**100), (2.0**100, 2.0**100)]:
        scaled = antisparse(t * A, u * y, t * u * penalty)
        np.testing.assert_array_equal(scaled.x, u / t * plain.x)
        np.testing.assert_array_equal(scaled.squeezed, plain.squeezed)


def test_signs() -> None:
    """Negating a column negates its coordinate."""
    A, y, penalty = gaussian(20, 30, 0.3)
    flip = np.where(np.arange(30) % 3 == 0, -1.0, 1.0)
    plain, flipped = antisparse(A, y, penalty), antisparse(A * flip, y, penalty)
    np.testing.assert_allclose(flipped.x, flip * plain.x, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(flipped.squeezed, flip * plain.squeezed)


def test_input_is_left_alone_and_runs_repeat() -> None:
    A, y, penalty = gaussian(20, 30, 0.3)
    kept = A.copy(), y.copy()
    first, second = antisparse(A, y, penalty), antisparse(A, y, penalty)
    np.testing.assert_array_equal(A, kept[0])
    np.testing.assert_array_equal(y, kept[1])
    np.testing.assert_array_equal(first.x, second.x)
    assert first.work == second.work


def test_nothing_to_explain() -> None:
    found = antisparse(np.ones((3, 2)), np.zeros(3), 1.0)
    assert found.success
    assert found.gap == 0.0
    assert found.relative_gap == 0.0
    assert not found.x.any()


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (3, 3)])
def test_empty_and_zero_matrices(shape: tuple[int, int]) -> None:
    found = antisparse(np.zeros(shape), np.ones(shape[0]), 1.0)
    assert found.success
    assert found.level == 0.0
    assert found.x.shape == (shape[1],)
    assert not found.squeezed.any()


def test_iteration_limit() -> None:
    A, y, penalty = gaussian(30, 45, 0.2)
    best = antisparse(A, y, penalty).objective
    before = np.inf
    for steps in (0, 1, 3, 6):
        with pytest.warns(boxreg.ConvergenceWarning, match="iteration limit"):
            found = antisparse(A, y, penalty, max_iter=steps)
        assert found.status is Status.ITERATION_LIMIT
        assert not found.success
        assert found.n_iter == steps
        assert 0.0 <= found.objective - best <= found.gap
        assert found.objective <= before
        before = found.objective


def test_precision_limit() -> None:
    A, y, penalty = gaussian(30, 45, 0.2)
    with pytest.warns(boxreg.ConvergenceWarning, match="as small as rounding"):
        found = antisparse(A, y, penalty, tol=0.0)
    assert found.status is Status.PRECISION_LIMIT
    assert found.relative_gap < 1e-12


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("penalty", [1e-9, 1e-14, 1e-100, 1e-300])
@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_penalties_below_rounding(shape: tuple[int, int], penalty: float) -> None:
    """Feasible dual points cannot be proved to be near ρ there; the answer is still a good one."""
    A, y, _ = gaussian(*shape, share=1.0)
    found = antisparse(A, y, penalty)
    best = np.linalg.lstsq(A, y, rcond=None)[0]
    at_best = 0.5 * float(np.sum((y - A @ best) ** 2)) + penalty * float(np.abs(best).max())
    assert found.objective <= at_best + 1e-12 * float(y @ y)
    assert found.certificate


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_columns_of_every_size() -> None:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((20, 30)) * 10.0 ** rng.uniform(-100, 100, 30)
    y = rng.standard_normal(20)
    for share in (0.9, 0.1, 1e-3):
        found = antisparse(A, y, share * float(np.abs(A.T @ y).sum()))
        assert np.all(np.isfinite(found.x))
        assert found.certificate


def test_representation() -> None:
    A, y, penalty = gaussian(100, 150, 0.5)
    shown = repr(antisparse(A, y, penalty))
    for expected in ("100 × 150", "level", "squeezed", "at +level", "PROVED", "of P(x)", "work"):
        assert expected in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_progress_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    A, y, penalty = gaussian(30, 45, 0.2)
    for kind, shown in ((Terminal, True), (io.StringIO, False)):
        stream = kind()
        monkeypatch.setattr("sys.stderr", stream)
        antisparse(A, y, penalty, verbose=1)
        assert ("columns" in stream.getvalue()) is shown


BAD = [
    ({"penalty": 0.0}, ValueError, "penalty: expected a finite number > 0"),
    ({"penalty": -1.0}, ValueError, "penalty: expected a finite number > 0"),
    ({"penalty": np.nan}, ValueError, "penalty: expected a finite number > 0"),
    ({"penalty": np.inf}, ValueError, "penalty: expected a finite number > 0"),
    ({"penalty": "much"}, TypeError, "penalty: expected a number, got str"),
    ({"penalty": [1.0, 2.0]}, TypeError, "penalty: expected a number, got list"),
    ({"A": np.ones(3)}, ValueError, "A: expected a matrix"),
    ({"A": np.full((3, 2), np.nan)}, ValueError, "A: contains NaN"),
    ({"A": np.full((3, 2), 1j)}, TypeError, "A: expected real numbers"),
    ({"A": np.full((3, 2), 1e200)}, ValueError, "A: column 0 has norm"),
    ({"A": aslinearoperator(np.ones((3, 2)))}, TypeError, "A: expected an array or a scipy.sparse"),
    ({"y": np.ones(4)}, ValueError, "y: expected a vector with 3 entries"),
    ({"y": [1.0, np.inf, 0.0]}, ValueError, "y: contains inf"),
    ({"y": [1.0, 1e200, 0.0]}, ValueError, "y: has an entry of size 1e+200"),
    ({"squeezing": "yes"}, TypeError, "squeezing: expected True or False"),
    ({"tol": -1.0}, ValueError, "tol: expected a finite number >= 0"),
    ({"atol": np.nan}, ValueError, "atol: expected a finite number >= 0"),
    ({"max_iter": 1.5}, ValueError, "max_iter: expected None or a whole number"),
]


@pytest.mark.parametrize(("changed", "error", "message"), BAD)
def test_bad_input(changed: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments = {"A": np.ones((3, 2)), "y": np.ones(3), "penalty": 1.0} | changed
    with pytest.raises(error, match=re.escape(message)):
        antisparse(**arguments)
