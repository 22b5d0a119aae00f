"""Problems whose dual feasible set has no interior: no solution contradicts what is screened."""

from __future__ import annotations

import numpy as np
import pytest

import boxreg
from boxreg.safe_regions import REGIONS
from boxreg.solvers import SOLVERS

INF = np.inf

PARALLEL = np.array([[0, 0, 0, -4], [2, 5, 1, 8], [-2, -5, -1, -7]], dtype=float)
"""Lowering x₀ by t and raising x₂ by 2t changes nothing, so neither x₀ nor x₁ is at a bound always."""


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("solver", sorted(set(SOLVERS) - {"newton"}))
@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_parallel_columns_by_hand(solver: str, region: str) -> None:
    """The objective is 21096.969… = 696200/33, and no coordinate is at a bound in every solution."""
    y, lower, upper = np.array([8.0, -338.0, 41.0]), [-INF, -INF, 0.0, -INF], [2.0, 2.0, INF, 2.0]
    result = boxreg.solve(PARALLEL, y, lower, upper, solver=solver, region=region)
    assert not result.screened.any()
    assert result.objective == pytest.approx(696200.0 / 33.0, rel=1e-7)
    assert result.certificate.verdict.name == "PROVED"


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sparse integers with parallel columns and every kind of bounds."""
    rng = np.random.default_rng([seed, 6])
    m, n = int(rng.integers(3, 30)), int(rng.integers(4, 60))
    A = np.where(rng.random((m, n)) < rng.choice([0.1, 0.4]), rng.integers(-5, 6, (m, n)), 0) * 1.0
    for _ in range(3):
        i, j = rng.integers(0, n, 2)
        A[:, i] = A[:, j] * rng.choice([-1.0, 2.0, -3.0])
    kind = rng.integers(0, 4, n)
    lower = np.select(
        [kind == 0, kind == 1], [np.zeros(n), np.full(n, -INF)], rng.integers(-5, 1, n)
    )
    upper = np.select([kind == 0, kind == 1], [np.full(n, INF), rng.integers(0, 5, n)], 6.0)
    lower[(kind == 3) & (rng.random(n) < 0.2)] = -INF
    upper[np.isneginf(lower) & (kind == 3)] = INF
    inside = np.clip(rng.integers(-9, 9, n), lower, upper)
    y = A @ inside if seed % 3 == 0 else rng.integers(-30, 30, m) * 1.0
    return A, y, lower, upper


@pytest.mark.parametrize("solver", ["auto", "chambolle_pock", "coordinate_descent", "active_set"])
@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_a_solution_away_from_a_screened_bound_is_worse(solver: str) -> None:
    """With a screened coordinate kept away from its bound the minimum is larger."""
    judged = 0
    for seed in range(25):
        A, y, lower, upper = drawn(seed)
        result = boxreg.solve(A, y, lower, upper, solver=solver, max_iter=3000)
        best = boxreg.solve(A, y, lower, upper, screening=False).objective
        assert result.objective - result.gap <= best * (1.0 + 1e-12)
        for j in np.flatnonzero(result.screened)[:3]:
            low, high = lower.copy(), upper.copy()
            away = min(1.0, 0.5 * (high[j] - low[j]))
            if result.screened[j] < 0:
                low[j] += away
            else:
                high[j] -= away
            other = boxreg.solve(A, y, low, high, screening=False)
            assert other.objective > best * (1.0 + 1e-10), (seed, j)
            judged += 1
    assert judged > 15


@pytest.mark.parametrize("weight", [1e-100, 1e-160, 1e-200])
def test_tiny_weights_change_nothing(weight: float) -> None:
    """Weights that are all equal scale the objective, and neither x nor what is screened."""
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((40, 25)), np.sign(rng.standard_normal(40))
    plain = boxreg.solve(A, y, loss="logistic")
    tiny = boxreg.solve(A, y, loss="logistic", sample_weight=np.full(40, weight))
    assert tiny.success
    np.testing.assert_array_equal(tiny.screened, plain.screened)
    np.testing.assert_allclose(tiny.x, plain.x, rtol=1e-4, atol=1e-4)
    inside = (plain.x > 1e-3) & (plain.screened != 0)
    assert not inside.any()


def test_integer_dependence_is_proved() -> None:
    """A free intercept beside a full set of indicators: a certificate with no assumption."""
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 4, 30)
    A = np.column_stack(
        [np.ones(30), groups[:, None] == np.arange(4), rng.standard_normal((30, 2))]
    )
    y = groups + rng.standard_normal(30)
    lower = np.array([-INF, 0.0, 0.0, 0.0, 0.0, -1.0, -1.0])
    upper = np.array([INF, INF, INF, INF, INF, 1.0, 1.0])
    for loss in ("least_squares", "huber"):
        result = boxreg.solve(A, y, lower, upper, loss=loss)
        assert result.success
        assert result.certificate.verdict.name == "PROVED", loss
