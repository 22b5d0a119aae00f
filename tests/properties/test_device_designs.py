"""One dense A behind the array API standard: everything that a dense A on the host can do, but epochs.

array-api-strict offers what the standard says and nothing else, so what works here works on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import array_api_strict as xp
import numpy as np
import pytest

import boxreg
from boxreg.designs import ArrayDesign

SOLVERS = ("auto", "working_set", "active_set", "projected_gradient", "chambolle_pock")


def problem(seed: int, m: int = 40, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([94, seed])
    A = np.abs(rng.standard_normal((m, n)))
    return A, A @ np.maximum(rng.standard_normal(n) - 1.0, 0.0) + 0.1 * rng.standard_normal(m)


@pytest.mark.parametrize("upper", [np.inf, 0.4])
@pytest.mark.parametrize("solver", SOLVERS)
def test_same_answers_as_on_the_host(solver: str, upper: float) -> None:
    A, y = problem(1)
    device = boxreg.solve(ArrayDesign(xp.asarray(A)), y, 0.0, upper, solver=solver, tol=1e-10)
    there = boxreg.solve(A, y, 0.0, upper, solver=solver, tol=1e-10)
    assert device.success
    assert abs(device.objective - there.objective) <= device.gap + there.gap
    assert boxreg.verify(A, y, device.x, device.theta, 0.0, upper, gap=device.gap)


@pytest.mark.parametrize("solver", ["projected_gradient", "chambolle_pock"])
def test_screening_drops_columns_there(solver: str) -> None:
    A, y = problem(2, 60, 120)
    result = boxreg.solve(ArrayDesign(xp.asarray(A)), y, solver=solver)
    assert result.success
    assert np.count_nonzero(result.screened) > 50
    plain = boxreg.solve(ArrayDesign(xp.asarray(A)), y, solver=solver, screening=False)
    assert result.work < plain.work


@pytest.mark.parametrize("loss", ["huber", "logistic", "kullback_leibler"])
def test_other_losses(loss: str) -> None:
    A, y = problem(3, 50, 20)
    target = {"logistic": np.sign(y - np.median(y) + 1e-9), "kullback_leibler": np.abs(y)}.get(
        loss, y
    )
    device = boxreg.solve(ArrayDesign(xp.asarray(A)), target, 0.0, 1.0, loss=loss)
    there = boxreg.solve(A, target, 0.0, 1.0, loss=loss)
    assert device.success
    assert abs(device.objective - there.objective) <= device.gap + there.gap


def test_float32_entries_are_summed_in_float64(change: Callable[..., object]) -> None:
    """In several blocks, which have to be put together."""
    change(device_elements=200)
    A, y = problem(4)
    narrow = A.astype(np.float32)
    design = ArrayDesign(xp.asarray(narrow))
    wide = narrow.astype(float)
    np.testing.assert_allclose(design.matvec(np.ones(60)), wide.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(design.rmatvec(y), wide.T @ y, atol=1e-13)
    np.testing.assert_allclose(design.column_norms(), np.linalg.norm(wide, axis=0), rtol=1e-14)
    some = np.array([3, 1])
    np.testing.assert_allclose(design.gram(some, some), wide[:, some].T @ wide[:, some], rtol=1e-14)
    result = boxreg.solve(design, y)
    assert boxreg.verify(wide, y, result.x, result.theta, gap=result.gap)


def test_coordinate_descent_is_refused() -> None:
    A, y = problem(5)
    with pytest.raises(
        ValueError, match=r"coordinate_descent.*memory of the host.*auto, active_set"
    ):
        boxreg.solve(ArrayDesign(xp.asarray(A)), y, solver="coordinate_descent")


def test_kullback_leibler_wants_no_negative_entries() -> None:
    with pytest.raises(ValueError, match="needs A >= 0"):
        boxreg.solve(ArrayDesign(xp.asarray(-np.eye(3))), np.ones(3), loss="kullback_leibler")
