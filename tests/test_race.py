"""The race's own judgements: neutral scores, the oracle limit, verdicts, what rounding excuses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

from benchmarks.campaign.judge import Tally, allowance, judge
from benchmarks.race.limit import oracle_limit
from benchmarks.race.problem import make
from benchmarks.race.record import Record
from benchmarks.race.scoring import Judge
from benchmarks.race.targets import verdicts
from references.problems import BoxProblem, generated


def test_score_by_hand() -> None:
    """A = I, y = (1, -1): x* = (1, 0), P* = ½, θ* = (0, -1); at x = 0, P = P₀ = 1."""
    scores = Judge(make(np.eye(2), np.array([1.0, -1.0])))
    scores.learn_dual(np.array([0.0, -1.0]))
    assert scores.score(np.array([1.0, 0.0])).relative_gap == 0.0
    held = scores.score(np.array([0.0, -3.0]))
    assert (held.objective, held.relative_gap, held.violation) == (1.0, 0.5, 3.0)


@pytest.mark.parametrize("upper", [np.inf, 0.3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array])
def test_gap_is_a_bound_and_tight_at_the_solution(upper: float, kind: Any) -> None:
    """gap(x) >= P(x) - P* with any dual points, and equals it once the solution is known."""
    rng = np.random.default_rng(3)
    A, y = np.abs(rng.standard_normal((30, 12))), rng.standard_normal(30) + 1.0
    problem = make(kind(A), y, 0.0, upper)
    if np.isfinite(upper):
        from scipy.optimize import lsq_linear

        solution = lsq_linear(A, y, (0.0, upper), method="bvls", tol=1e-15).x
    else:
        solution = nnls(A, y)[0]
    best = 0.5 * np.sum((y - A @ solution) ** 2)
    x = problem.project(rng.random(12))
    scores = Judge(problem)
    scores.learn([x])
    excess = (scores.score(x).objective - best) / scores.scale
    assert scores.score(x).relative_gap >= excess * (1 - 1e-12)
    scores.learn([solution])
    assert scores.score(x).relative_gap == pytest.approx(excess, rel=1e-9)
    assert scores.score(solution).relative_gap < 1e-14


def test_limit_solves_the_problem() -> None:
    """The fit that is timed is the solution."""
    rng = np.random.default_rng(4)
    A, y = np.abs(rng.standard_normal((40, 15))), rng.standard_normal(40) + 1.0
    problem, x = make(A, y), nnls(A, y)[0]
    scores = Judge(problem)
    scores.learn([x])
    limit = oracle_limit(problem, x, scores, 1e-3)
    assert limit.free == np.count_nonzero(x)
    assert limit.relative_gap < 1e-12
    assert limit.seconds == limit.fit + limit.product


@pytest.mark.parametrize(
    ("seconds", "status", "certified", "reached"),
    [
        (2.0, "ok", 1e-12, "yes"),
        (1.9, "ok", 1e-12, "no"),
        (2.0, "ok", 1e-8, "no"),
        (2.0, "over", 1e-12, "yes"),
        (1.9, "over", 1e-12, "not measured"),
        (None, "failed", 1e-12, "not measured"),
    ],
)
def test_verdicts(seconds: float | None, status: str, certified: float, reached: str) -> None:
    """20 × SciPy at n = 6000: a ratio of 20, with a proof; a cap below it proves nothing."""
    entries = [
        {"solver": "boxreg.solve", "status": "ok", "seconds": 0.1, "note": ""},
        {"solver": "scipy.nnls", "status": status, "seconds": seconds, "note": "why"},
        {"solver": "skglm", "status": "absent", "seconds": None, "note": "not installed"},
    ]
    case = {
        "case": "table1-coded-n6000",
        "threads": 1,
        "ours": "boxreg.solve",
        "certified_gap": certified,
        "limit": {"seconds": 0.05},
        "entries": entries,
    }
    found = {held.target: held for held in verdicts(Record("full", {}, cases=[case]))}
    assert found["table1-coded-n6000, 1 thread: 20× scipy.nnls"].reached == reached
    assert found["table1-coded-n6000, 1 thread: 4× skglm"].reached == "not measured"


def test_allowance_by_hand() -> None:
    """A = 1, y = 1, x = z = 1: δ = 4u (2 + 2) and r = 0; 4 ulps of P₀ = ½ are the larger."""
    one = np.ones(1)
    problem = BoxProblem("one", np.ones((1, 1)), one, 0 * one, np.full(1, np.inf))
    assert allowance(problem, one, one, Fraction(0)) == Fraction(2.0**-51)


def test_campaign_complains(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is worse, infeasible or late is a complaint; a good one is not."""
    problem = generated("gaussian", 1)
    good, far = nnls(problem.A, problem.y)[0], np.full(problem.A.shape[1], 7.0)
    answers = {
        "good": lambda p: good,
        "worse": lambda p: good + 1e-6 * (good > 0),
        "outside": lambda p: -far,
        "late": lambda p: [0 for _ in iter(int, 1)],
    }
    monkeypatch.setattr("benchmarks.campaign.judge.ours", lambda p: answers)
    monkeypatch.setattr("benchmarks.campaign.judge.others", lambda p: {"rival": lambda p: good})
    tally = Tally()
    judge(problem, "gaussian 1", 0.2, tally)
    said = [text.split(": ")[1] for text in tally.complaints]
    assert said == ["outside", "late", "worse"]
