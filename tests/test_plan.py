"""What a result says about how it was reached, and that it is what happened."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import boxreg

RNG = np.random.default_rng(5)
A = RNG.standard_normal((30, 12))
Y = RNG.standard_normal(30)


def test_a_compiled_answer() -> None:
    plan = boxreg.solve(A, Y).plan
    assert plan["engine"] == "compiled_active_set"
    assert plan.log == ()


@pytest.mark.parametrize(
    ("options", "engine"),
    [
        (
            {"A": boxreg.operator(aslinearoperator(A), np.linalg.norm(A, axis=0)), "upper": 1.0},
            "projected_gradient",
        ),
        ({"A": A, "solver": "coordinate_descent"}, "coordinate_descent"),
    ],
)
def test_engines_with_their_reasons(options: dict[str, Any], engine: str) -> None:
    result = boxreg.solve(**{"y": Y, **options})
    plan = result.plan
    assert plan["engine"] == engine == result.settings["solver"]
    reasons = {decision.what: decision.reason for decision in plan.decisions}
    assert (reasons["engine"] == "asked for") == ("solver" in options)
    assert all(reasons.values())


def test_what_was_not_decided_has_no_entry() -> None:
    plan = boxreg.solve(A, Y, solver="coordinate_descent").plan
    with pytest.raises(KeyError, match="successor"):
        plan["successor"]


def test_it_prints_a_line_a_decision() -> None:
    plan = boxreg.solve(A, Y, solver="working_set").plan
    lines = str(plan).splitlines()
    assert len(lines) == len(plan.decisions)
    assert lines[0] == "engine   working_set: asked for"
    assert str(pickle.loads(pickle.dumps(plan))) == str(plan)


def test_a_hand_over_is_logged(change: Callable[..., object]) -> None:
    change(small_entries=0, successor_after=0.0)
    result = boxreg.solve(A, np.sign(Y), -1.0, 1.0, loss="logistic")
    assert result.success
    assert len(result.plan.log) == 1
    assert result.plan.log[0].startswith("interior_point, after ")
    assert str(result.plan).splitlines()[-1].split()[0] == "then"
    assert result.settings["solver"] == "newton, interior_point"


def test_finishing(change: Callable[..., object]) -> None:
    """Whoever asks for the tolerance alone gets it for less work."""
    change(small_entries=0)
    positive = np.abs(RNG.standard_normal((400, 300)))
    y = positive @ np.maximum(RNG.standard_normal(300), 0.0) + RNG.standard_normal(400)
    results = {
        finish: boxreg.solve(positive, y, tol=1e-4, finish=finish)
        for finish in ("precision", "tolerance")
    }
    assert all(result.success for result in results.values())
    assert {finish: result.plan["finish"] for finish, result in results.items()} == {
        finish: finish for finish in results
    }
    assert results["tolerance"].gap > results["precision"].gap
    assert results["tolerance"].work <= results["precision"].work


def test_other_words_are_refused() -> None:
    with pytest.raises(
        ValueError, match="finish: expected one of 'precision', 'tolerance', got 'soon'"
    ):
        boxreg.solve(A, Y, finish="soon")


def _peaks(m: int, n: int) -> np.ndarray:
    """Overlapping peaks: neighbouring columns are nearly parallel."""
    at, centres = np.linspace(0.0, 1.0, m)[:, None], np.linspace(0.0, 1.0, n)
    return np.exp(-0.5 * ((at - centres) / 0.02) ** 2)


def test_ill_conditioned_columns_begin_with_the_compiled_call(
    change: Callable[..., object],
) -> None:
    """Random ones do not: working sets on Gram matrices are faster."""
    change(small_entries=0)
    columns = _peaks(60, 90)
    y = columns @ np.maximum(RNG.standard_normal(90), 0.0) + 0.01 * RNG.standard_normal(60)
    peaks = boxreg.solve(columns, y)
    assert peaks.plan["start"] == peaks.settings["solver"] == "compiled_active_set"
    assert peaks.success
    positive = np.abs(RNG.standard_normal((60, 40)))
    random = boxreg.solve(positive, RNG.standard_normal(60))
    assert random.plan["start"] == "0"
    assert random.settings["solver"] == "working_set"
    assert random.success


def test_the_compiled_call_has_a_budget(change: Callable[..., object]) -> None:
    """What it has found in it is where the working sets start."""
    change(small_entries=0, compiled_products=1.5)
    columns = _peaks(60, 90)
    y = columns @ np.maximum(RNG.standard_normal(90), 0.0)
    result = boxreg.solve(columns, y)
    assert result.plan["start"] == "compiled_active_set"
    assert result.settings["solver"].startswith("compiled_active_set, working_set")
    assert result.success


def test_a_huge_copy_is_not_made(change: Callable[..., object]) -> None:
    change(small_entries=0, large_bytes=8)
    columns = _peaks(60, 90)
    assert boxreg.solve(columns, columns.sum(axis=1)).plan["start"] == "0"


def test_a_nearly_perfect_fit_needs_no_direction(change: Callable[..., object]) -> None:
    """theta = 0 proves it, before a way into the dual cone is sought."""
    change(small_entries=0, well_conditioned=2.0)
    A = RNG.standard_normal((20, 60))
    y = A @ np.abs(RNG.standard_normal(60))
    lower = np.where(np.arange(60) < 2, -np.inf, 0.0)
    result = boxreg.solve(A, y, lower, np.inf, finish="tolerance")
    assert result.success
    assert not result.theta.any()
    assert result.certificate.rigorous
    assert result.gap >= result.objective


def test_sweeps_read_a_copy_by_columns(change: Callable[..., object]) -> None:
    """A box around 0 has all coordinates inside at first."""
    change(small_entries=0, predicting_from=0.0)
    rows = np.ascontiguousarray(RNG.standard_normal((40, 30)))
    y = RNG.standard_normal(40)
    result = boxreg.solve(rows, y, -0.1, 0.1)
    assert result.plan["layout"] == "A copied by columns"
    assert boxreg.solve(rows, y, 0.0, 0.1).plan["layout"] == "A as it is"
    change(large_bytes=8)
    assert boxreg.solve(rows, y, -0.1, 0.1).plan["layout"] == "A as it is"


def test_few_right_hand_sides_of_a_large_matrix(change: Callable[..., object]) -> None:
    """They are solved one by one, as a Gram matrix would not pay."""
    many, few = RNG.standard_normal((30, 12)), RNG.standard_normal((30, 1))
    assert boxreg.solve_many(A, few).settings["method"].startswith("active sets")
    change(small_entries=0, batch_gram_rounds=1)
    batch = boxreg.solve_many(A, few)
    assert batch.settings["method"].startswith("one by one")
    assert batch.success
    np.testing.assert_allclose(batch.x[:, 0], boxreg.solve(A, few[:, 0]).x, atol=1e-9)
    assert boxreg.solve_many(A, many).settings["method"] == "active sets on the Gram matrix"
