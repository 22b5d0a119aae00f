"""Drawn problems are what they say they are; scores, ratios and figures are right on cases by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear

from benchmarks.losses.functions import Huber, KullbackLeibler, Logistic, Quadratic, SquaredHinge
from benchmarks.race.record import Record
from benchmarks.wild.__main__ import POLICY
from benchmarks.wild.drawing import ENTRIES, REPORT, TUNING, draw
from benchmarks.wild.families import FAMILIES
from benchmarks.wild.figure import profile
from benchmarks.wild.heat import Patience, Pool, race
from benchmarks.wild.problem import WildProblem, laid_out, load, save
from benchmarks.wild.report import markdown
from benchmarks.wild.rivals import CONTESTANTS, OURS
from benchmarks.wild.scoring import Judge
from benchmarks.wild.show import described
from benchmarks.wild.summary import calls, figures, headline, with_nnls, worst

SEEDS = range(len(FAMILIES))
"""One problem of each family, in the range for tuning."""


def plain(A: Any, Y: Any, **changes: Any) -> WildProblem:
    """x >= 0, least squares."""
    n = A.shape[1]
    held = WildProblem(
        0, "none", A, np.asarray(Y), Quadratic(), np.zeros(n), np.full(n, np.inf), "nonneg", "C"
    )
    return replace(held, **changes)


def test_families_say_where_they_come_from() -> None:
    assert len(FAMILIES) >= 25
    for held in FAMILIES.values():
        assert held.source.endswith((".", ")")), held.name
        assert held.source, held.name


def test_report_seeds_are_apart() -> None:
    assert not set(TUNING) & set(REPORT)


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_problem(seed: int) -> None:
    """Finite, of the declared layout, bounds and loss, with a size in range; the same again."""
    problem = draw(seed)
    m, n = problem.shape
    A = problem.A
    values = A.data if problem.is_sparse else A
    assert np.all(np.isfinite(values))
    assert np.all(np.isfinite(problem.Y))
    assert problem.Y.shape[0] == m
    assert problem.lower.shape == problem.upper.shape == (n,)
    assert np.all(problem.lower < problem.upper)
    assert 0.3 * ENTRIES[0] <= problem.entries <= 3.0 * ENTRIES[1]
    assert np.all(np.isfinite(problem.scales()))
    _is_as_declared(problem)
    if problem.entries < 1e5:
        again = draw(seed)
        same = (A != again.A).nnz == 0 if problem.is_sparse else np.array_equal(A, again.A)
        assert same
        assert np.array_equal(problem.Y, again.Y)


def _is_as_declared(problem: WildProblem) -> None:
    layout, A = problem.layout, problem.A
    if problem.is_sparse:
        assert A.format.upper() == layout
    else:
        assert layout != "F" or A.flags.f_contiguous
        assert layout not in ("C", "float32", "int") or A.flags.c_contiguous
        expected = {"float32": np.float32, "int": np.int64}.get(layout, np.float64)
        assert A.dtype == expected
        assert layout != "strided" or A.strides == (16 * A.shape[1], 16)
    lower, upper = problem.lower, problem.upper
    if problem.bounds == "nonneg":
        assert not np.any(lower)
        assert np.all(upper == np.inf)
    elif problem.bounds == "box":
        assert np.all(np.isfinite(lower) & np.isfinite(upper))
    elif problem.bounds == "signed":
        assert np.array_equal(lower, -upper)
    else:
        assert np.any(np.isinf(lower) & np.isinf(upper))
    if problem.loss == "kullback_leibler":
        assert np.min(problem.Y) >= 0.0
        assert np.min(lower) >= 0.0
        assert problem.matrix.min() >= 0.0
    if problem.loss in ("logistic", "squared_hinge"):
        assert set(np.unique(problem.Y)) <= {-1.0, 1.0}


@pytest.mark.parametrize("layout", ["C", "F", "strided", "float32", "int", "CSR", "CSC"])
def test_way_to_another_process(layout: str, tmp_path: Path) -> None:
    """Types, layouts, bounds, loss and terms arrive as they were."""
    A = np.arange(12.0).reshape(4, 3)
    sent = plain(laid_out(A, layout), np.arange(4.0), layout=layout, function=Huber(0.5), ridge=0.1)
    sent = replace(sent, weights=np.arange(1.0, 5.0), upper=np.array([1.0, np.inf, 2.0]))
    save(sent, tmp_path)
    came = load(tmp_path)
    _is_as_declared(replace(came, bounds="box", lower=np.zeros(3), upper=np.ones(3)))
    dense = came.A.toarray() if sparse.issparse(came.A) else came.A
    assert np.array_equal(dense, A)
    assert came.A.dtype == sent.A.dtype
    assert (came.function, came.ridge, came.bounds) == (sent.function, sent.ridge, sent.bounds)
    assert np.array_equal(came.upper, sent.upper)
    assert np.array_equal(came.weights, sent.weights)  # type: ignore[arg-type]
    assert came.linear is None


def test_objective_by_hand() -> None:
    """A = I, y = (1, -1), x = (2, 0), ω = (2, 1), c = (3, 0), μ = 1/2: 1 + ½ + 6 + 1."""
    problem = plain(np.eye(2), np.array([1.0, -1.0]))
    problem = replace(problem, weights=np.array([2.0, 1.0]), linear=np.array([3.0, 0.0]), ridge=0.5)
    x = np.array([2.0, 0.0])
    assert problem.objectives(x) == pytest.approx([8.5])
    value, gradient = problem.value_and_gradient(x)
    assert value == pytest.approx(8.5)
    assert gradient == pytest.approx([6.0, 1.0])
    assert problem.scales() == pytest.approx([1.5])


@pytest.mark.parametrize(
    "function", [Quadratic(), Huber(0.3), Logistic(), SquaredHinge(), KullbackLeibler(0.5)]
)
def test_weights_are_repeated_rows(function: Any) -> None:
    """A weight of 2 counts as the row twice, in the value and in the slopes."""
    p, y = np.array([0.2, 1.5, 3.0]), np.array([1.0, 1.0, 1.0])
    w = np.array([2.0, 1.0, 2.0])
    twice = np.array([0, 0, 1, 2, 2])
    value, slope = function.value_and_slope(p, y, w)
    expected, repeated = function.value_and_slope(p[twice], y[twice])
    assert value == pytest.approx(expected)
    assert slope == pytest.approx([repeated[0] * 2, repeated[2], repeated[3] * 2])


def test_as_plain_least_squares() -> None:
    """Weights and ridge as rows give the same objective, and the unit box the same solution."""
    rng = np.random.default_rng(5)
    A, y = rng.standard_normal((8, 3)), rng.standard_normal(8)
    problem = plain(A, y, lower=np.full(3, -0.2), upper=np.array([0.3, 0.1, 0.5]), bounds="box")
    problem = replace(problem, weights=rng.random(8), ridge=0.7)
    rows = problem.least_squares()
    x = np.array([0.1, 0.05, 0.4])
    assert 0.5 * np.sum((rows.y - rows.A @ x) ** 2) == pytest.approx(problem.objectives(x)[0])
    solution = lsq_linear(rows.A, rows.y, rows.bounds, method="bvls", tol=1e-15).x
    posed, width = problem.on_unit_box()
    z = lsq_linear(posed.A, posed.y, (0.0, posed.upper), method="bvls", tol=1e-15).x
    assert problem.lower + width * z == pytest.approx(solution, abs=1e-12)


def test_nnls_takes_free_flipped_and_shifted_columns() -> None:
    """SciPy's nnls on flipped, shifted and split columns finds what bounded least squares finds."""
    rng = np.random.default_rng(6)
    lower = np.array([-np.inf, -np.inf, 0.5, 0.0])
    upper = np.array([np.inf, -0.25, np.inf, np.inf])
    problem = plain(rng.standard_normal((9, 4)), rng.standard_normal(9), bounds="mixed")
    problem = replace(problem, lower=lower, upper=upper)
    rival = CONTESTANTS["scipy.nnls"]
    assert rival.refuses(problem) is None
    x = rival.prepare(problem, 0.0)()
    best = lsq_linear(problem.matrix, problem.Y, (lower, upper), method="bvls", tol=1e-15).x
    assert x == pytest.approx(best, abs=1e-12)


def test_everybody_agrees_on_a_small_problem() -> None:
    """boxreg's functions and the others that need nothing but SciPy reach the same minimum."""
    rng = np.random.default_rng(7)
    problem = plain(np.abs(rng.standard_normal((12, 5))), rng.standard_normal(12) + 1.0)
    problem = replace(problem, bounded_fit=True)
    judge = Judge(problem)
    names = [held.name for held in OURS if held.refuses(problem) is None]
    assert names == ["boxreg.solve", "boxreg.nnls", "boxreg.lsq_linear"]
    names += ["scipy.nnls", "scipy.bvls", "L-BFGS-B", "L-BFGS-B.scaled"]
    answers = {}
    for name in names:
        rival = CONTESTANTS[name]
        answers[name] = rival.read(rival.prepare(problem, rival.tolerances[-1])())[0]
    judge.learn(answers.values())
    for name, x in answers.items():
        assert judge.score(x).relative_gap <= 1e-9, name


def test_several_right_hand_sides() -> None:
    """`solve_many` is called, the others loop, and the worst column is the score."""
    rng = np.random.default_rng(8)
    problem = plain(np.abs(rng.standard_normal((9, 4))), rng.random((9, 3)) + 0.5)
    assert [held.name for held in OURS if held.refuses(problem) is None] == ["boxreg.solve_many"]
    judge = Judge(problem)
    many = CONTESTANTS["boxreg.solve_many"]
    x, remarks = many.read(many.prepare(problem, 0.0)())
    loop = CONTESTANTS["scipy.nnls"].prepare(problem, 0.0)()
    assert x.shape == loop.shape == (4, 3)
    assert len(remarks["gaps"]) == 3
    judge.learn([x, loop])
    assert judge.score(x).relative_gap <= 1e-12
    loop[:, 1] = 0.0
    assert judge.score(loop).relative_gap == pytest.approx(1.0 - judge.best[1] / judge.scales[1])


def test_scores_by_hand() -> None:
    """A = I, y = (1, -1): P₀ = 1, P* = ½; what is outside the box is scored at its projection."""
    judge = Judge(plain(np.eye(2), np.array([1.0, -1.0])))
    assert judge.score(np.array([0.0, -3.0])).relative_gap == 0.0  # the best so far
    assert judge.score(np.array([1.0, 0.0])).relative_gap == 0.0
    held = judge.score(np.array([0.0, -3.0]))
    assert (held.objective, held.violation) == (1.0, 3.0)
    assert held.relative_gap == pytest.approx(0.5)
    assert judge.score(np.array([np.nan, 0.0])).relative_gap == np.inf


def entry(solver: str, seconds: float, excess: float = 0.0, **changes: Any) -> dict[str, Any]:
    held = {"solver": solver, "status": "ok", "seconds": seconds, "relative_gap": excess}
    return {**held, "violation": 0.0, "note": "", "samples": 1, "tolerance": None, **changes}


def row(seed: int, *entries: dict[str, Any]) -> dict[str, Any]:
    kind = {"loss": "least_squares", "bounds": "nonneg", "layout": "C", "terms": "", "count": 1}
    return {
        "seed": seed,
        "family": "f",
        "m": 4,
        "n": 2,
        "stored": 8,
        **kind,
        "entries": list(entries),
    }


ROWS = [
    # The fast one is wrong, so the slower one counts.
    row(0, entry("boxreg.solve", 1.0, proved=True), entry("a", 0.1, 1e-7), entry("b", 3.0, 1e-8)),
    row(1, entry("boxreg.solve", 1.0, 2e-8, proved=True), entry("a", 1.0)),
    row(2, entry("boxreg.solve", 61.0, proved=True), entry("a", 1.0)),
    # Nobody else reached it: at least the time that was given.
    row(
        3,
        entry("boxreg.solve", 1.0, proved=False),
        entry("a", 5.0, status="over", relative_gap=None),
    ),
    row(4, entry("boxreg.solve", 4.0, proved=True), entry("boxreg.nnls", 0.5), entry("b", 1.0)),
    row(5, entry("boxreg.solve", 1.0, violation=1e-9, proved=True), entry("b", 1.0)),
]


def test_ratios_and_failures_by_hand() -> None:
    found = calls(ROWS)
    main = headline(found)
    assert [call.ratio for call in main] == [3.0, None, None, 5.0, 0.25, None]
    assert [call.rival for call in main] == ["b", "a", "a", "", "b", "b"]
    assert [call.ratio for call in found if call.function == "boxreg.nnls"] == [2.0]
    assert main[1].failure == "2e-08 P₀ above the best"
    assert main[2].failure == "over 60 s"
    assert main[5].failure == "outside the box by 1e-09"
    held = figures(main)
    assert (held["calls"], held["failures"], held["over"], held["alone"]) == (6, 3, 1, 1)
    assert held["as_fast"] == pytest.approx(2 / 6)
    assert held["under_half"] == pytest.approx(4 / 6)
    assert (held["proved"], held["claims"], held["false_proofs"]) == (5, 6, 1)
    assert held["quantiles"][0] == 0.25
    assert [call.row["seed"] for call in worst(main, 4)] == [1, 2, 5, 4]


def test_profile_by_hand() -> None:
    """Time over the fastest of those who reached the minimum; boxreg once for each problem."""
    found = profile(ROWS, headline(calls(ROWS)))
    assert found["boxreg"] == [1.0, 1.0, 4.0]
    assert found["b"] == [1.0, 1.0, 3.0]
    found = profile(ROWS, with_nnls(calls(ROWS)))
    assert found["boxreg"] == [1.0, 1.0, 1.0]
    assert found["b"] == [1.0, 2.0, 3.0]


def test_report_of_a_record() -> None:
    """Every table is there, and says what was counted."""
    environment = {
        **{
            "date": "2000-01-01",
            "cpu": "c",
            "cores": 1,
            "memory_gb": 1,
            "system": "s",
            "python": "3",
        },
        **{"numpy": "2", "scipy": "1", "numba": "0", "load_at_start": 0.0},
        **{"commit": "abc", "command": "python -m …", "generation": 1, "seeds": "0 to 5"},
    }
    clients = [{"program": "all", "skipped": "BOXREG_DATA names no folder"}]
    text = markdown(Record("wild", environment, cases=ROWS, clients=clients))
    assert "6 problems" in text
    assert "1 proofs were false" in text
    assert "skipped: BOXREG_DATA" in text
    assert "## By family" in text


def test_race_of_one_problem() -> None:
    """Solvers in processes of their own; who is left out is not in the record."""
    pool = Pool(Path("absent"))
    taking_part = ("boxreg.solve", "boxreg.nnls", "scipy.nnls")
    pool.out = {name: "left out" for name in CONTESTANTS if name not in taking_part}
    rng = np.random.default_rng(9)
    problem = plain(np.abs(rng.standard_normal((12, 5))), rng.standard_normal(12) + 1.0)
    try:
        entries = race(problem, pool, POLICY, Patience(), lambda text: None)
    finally:
        pool.close()
    held = row(0, *entries)
    assert [entry["solver"] for entry in entries] == list(taking_part)
    assert entries[0]["proved"]
    assert [call.rival for call in calls([held])] == ["scipy.nnls"] * 2
    assert all(call.ratio > 0.0 for call in calls([held]) if call.ratio is not None)
    assert not any(call.failure for call in calls([held]))


def test_show_describes() -> None:
    text = described(draw(0))
    assert "right-hand side" in text
    assert FAMILIES[draw(0).family].source in text
