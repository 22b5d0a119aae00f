"""The active set with costs and weights: dependent columns take each other's place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg.point import Point
from boxreg.solvers import active_set
from boxreg.solvers.active_set import ActiveSet
from boxreg.status import Status
from building import reduced
from references.problems import generated
from references.variants import KINDS, ON_A_GRID, variant

BASE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
TARGET = np.array([3.0, 4.0, 6.0])


def run(A: Any, y: Any, x: Any, **asked: Any) -> Point:
    """The point that the solver ends at from x."""
    problem = reduced(A, y, **asked)
    solver = ActiveSet()
    state = solver.start(Point(problem, np.asarray(x, dtype=float)))
    for _ in range(100):
        if state.finished:
            return state.point
        state = solver.step(state, 1)
    raise AssertionError("the active set does not end")


def exchanges(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What every attempt at an exchange answers."""
    seen: list[bool] = []
    attempt = active_set._exchange
    monkeypatch.setattr(active_set, "_exchange", lambda *a: seen.append(attempt(*a)) or seen[-1])
    return seen


def test_the_cheaper_of_two_equal_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the dearer one all goes to the cheaper: (aᵀy - c) / ||a||² by hand."""
    seen = exchanges(monkeypatch)
    a = np.ones((4, 1))
    y = np.array([1.0, 2.0, 3.0, 6.0])
    found = run(np.hstack([a, a]), y, [1.0, 0.0], linear=[2.0, 1.0])
    np.testing.assert_allclose(found.x, [0.0, 11.0 / 4.0], rtol=1e-14)
    assert True in seen
    weights = np.array([1.0, 2.0, 1.0, 0.5])
    found = run(np.hstack([a, a]), y, [1.0, 0.0], linear=[2.0, 1.0], sample_weight=weights)
    np.testing.assert_allclose(found.x, [0.0, (weights @ y - 1.0) / 4.5], rtol=1e-14)


def test_a_combination_is_replaced_by_its_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """a_3 = a_1 + a_2 at a cost below both together: used until a_1 or a_2 is no longer needed."""
    seen = exchanges(monkeypatch)
    A = np.column_stack([BASE, BASE.sum(axis=1)])
    costs = [1.0, 1.0, 1.5]
    found = run(A, TARGET, [1.0, 2.0, 0.0], linear=costs)
    assert found.x[0] == 0.0
    assert np.all(found.x[1:] > 0.0)
    assert seen
    expected = boxreg.solve(A, TARGET, linear=costs, tol=1e-12)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
    assert np.all(found.inward <= 10.0 * found.gradient_noise)
    dear = run(A, TARGET, [0.0, 1.0, 1.0], linear=[1.0, 1.0, 2.5])
    assert dear.x[2] == 0.0


def test_an_exchange_that_ends_at_the_other_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheaper column has an upper bound: it goes there, and the dearer one makes up the rest."""
    seen = exchanges(monkeypatch)
    a = np.ones((2, 1))
    found = run(np.hstack([a, a]), [4.0, 4.0], [1.0, 0.0], upper=[np.inf, 0.5], linear=[1.0, 0.25])
    np.testing.assert_allclose(found.x, [3.0, 0.5], rtol=1e-14)  # 2 (4 - x) = 1
    assert True in seen


def test_an_exchange_without_end_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """a and -a whose costs fall together: unbounded, and said so; x stays finite."""
    seen = exchanges(monkeypatch)
    a = BASE[:, :1]
    A, costs = np.hstack([a, -a]), [1.0, -1.5]
    assert np.all(np.isfinite(run(A, TARGET, [1.0, 0.0], linear=costs).x))
    assert True not in seen
    result = boxreg.solve(A, TARGET, linear=costs, solver="active_set")
    assert result.status is Status.UNBOUNDED


def test_without_costs_nothing_is_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dependent candidates are passed over, as Lawson and Hanson do."""
    seen = exchanges(monkeypatch)
    A = np.column_stack([BASE, BASE.sum(axis=1), BASE[:, 0]])
    found = run(A, TARGET, np.zeros(4))
    assert not seen
    assert np.count_nonzero(found.x) <= 2


@pytest.mark.parametrize("kind", KINDS)
def test_exact_solutions(kind: str) -> None:
    """The objective of the exact solution, for weights, costs and any bounds; signs of w respected."""
    solved = 0
    for family in ON_A_GRID:
        for seed in range(8):
            known = variant(generated(family, seed), kind, seed)
            if known is None:
                continue
            A, y, lower, upper = known.data
            start = np.clip(0.0, lower, upper)
            found = run(A, y, start, lower=lower, upper=upper, **known.terms)
            exact = Point(found.problem, np.array([float(v) for v in known.x]))
            slack = 1e-11 * (1.0 + abs(exact.objective) + float(y @ y))
            assert abs(found.objective - exact.objective) <= slack
            assert np.all((lower <= found.x) & (found.x <= upper))
            assert np.all(found.inward <= 1e-9 * (1.0 + found.problem.norms))
            solved += 1
    assert solved >= 20


@pytest.mark.parametrize("seed", range(6))
def test_dependent_columns_with_costs_agree_with_the_default(seed: int) -> None:
    """Low rank and costs that leave a minimum: every coordinate costs more than it can bring."""
    rng = np.random.default_rng([seed, 44])
    factors = rng.integers(-2, 3, (7, 3)), rng.integers(-2, 3, (3, 9))
    A = (factors[0] @ factors[1]).astype(float)
    y, costs = rng.standard_normal(7), rng.uniform(0.01, 0.5, 9)
    expected = boxreg.solve(A, y, linear=costs, tol=1e-10)
    found = boxreg.solve(A, y, linear=costs, tol=1e-10, solver="active_set")
    assert found.success
    assert abs(found.objective - expected.objective) <= found.gap + expected.gap + 1e-12
    upper = boxreg.solve(A, y, 0.0, 0.3, linear=-costs, tol=1e-10)
    mine = boxreg.solve(A, y, 0.0, 0.3, linear=-costs, tol=1e-10, solver="active_set")
    assert abs(mine.objective - upper.objective) <= mine.gap + upper.gap + 1e-12
