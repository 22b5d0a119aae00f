"""Judged problems: the references themselves, every path reached, and nothing to complain about.

`make fuzz` judges many more (docs/judging.md).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg.settings import Settings, current
from fuzz import run_quick
from judge import FAMILIES, LARGE_FAMILIES, fitting, judge, judged, make
from paths import CUDA, PATHS, REAL, VARIANTS, PathLog, Variant
from references.enumeration import enumerated_optimum
from references.hostile import HOSTILE, hostile
from references.judged import Judged, exact_in_box, exact_product
from references.planted import BOUNDS, LOSSES, planted

ON_A_GPU = {"many: on a GPU", "many: wide sets on a GPU"}
"""Reached in `make fuzz`, where numba simulates a GPU."""


def dual_solution(problem: Judged) -> list[Fraction]:
    """θ* = -∇F(A x*), from the definition of each loss."""
    theta = []
    for p, target in zip(exact_product(problem.A, problem.x), problem.y.tolist(), strict=True):
        y = Fraction(target)
        if problem.loss == "least_squares":
            theta.append(y - p)
        elif problem.loss == "huber":
            delta = Fraction(problem.parameters["delta"])
            theta.append(max(-delta, min(delta, y - p)))
        elif problem.loss == "squared_hinge":
            theta.append(y * max(Fraction(0), 1 - y * p))
        elif problem.loss == "logistic":
            assert p == 0
            theta.append(y / 2)
        else:
            theta.append(y / (p + Fraction(problem.parameters["background"])) - 1)
    return theta


@pytest.mark.parametrize("kind", BOUNDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_planted_solutions_meet_the_optimality_conditions(loss: str, kind: str) -> None:
    """Exactly, in rational arithmetic: w* has the signs told, and x* is where they ask it to be."""
    for seed in range(25):
        problem = planted(loss, kind, seed)
        weight = Fraction(float(problem.terms.get("sample_weight", [1.0])[0]))
        theta = [weight * v for v in dual_solution(problem)]
        costs = problem.terms.get("linear", np.zeros(len(problem.signs)))
        for j, sign in enumerate(problem.signs):
            column = [Fraction(v) for v in problem.A[:, j].tolist()]
            products = (a * t for a, t in zip(column, theta, strict=True))
            w = sum(products, Fraction(0)) - Fraction(float(costs[j]))
            assert (w > 0) - (w < 0) == sign
            assert problem.lower[j] <= problem.x[j] <= problem.upper[j]
            assert sign >= 0 or problem.x[j] == problem.lower[j]
            assert sign <= 0 or problem.x[j] == problem.upper[j]


def test_planted_problems_have_what_is_hard() -> None:
    """Degenerate w*_j = 0 at a bound, free, one-sided and equal bounds, parallel columns."""
    seen = [planted("least_squares", "hostile", seed) for seed in range(20)]
    assert any(np.any(np.isneginf(p.lower) & np.isposinf(p.upper)) for p in seen)
    assert any(np.any(np.isneginf(p.lower) & np.isfinite(p.upper)) for p in seen)
    assert any(np.any(p.lower == p.upper) for p in seen)
    at_bound = (
        any(
            s == 0 and v in (a, b)
            for s, v, a, b in zip(p.signs, p.x, p.lower, p.upper, strict=True)
        )
        for p in seen
    )
    assert sum(at_bound) > 10


@pytest.mark.parametrize("family", [name for name in HOSTILE if name != "ridged"])
def test_exact_solutions_with_any_bounds(family: str) -> None:
    """x* meets the optimality conditions of the problem as it was posed."""
    for seed in range(20):
        problem = hostile(family, seed)
        _, w = exact_in_box(problem.A, problem.y, problem.lower, problem.upper)
        rho = [
            Fraction(v) - p
            for v, p in zip(problem.y, exact_product(problem.A, problem.x), strict=True)
        ]
        for j, slope in enumerate(w):
            column = [Fraction(float(v)) for v in problem.A[:, j]]
            assert slope == sum((a * r for a, r in zip(column, rho, strict=True)), Fraction(0))
            assert problem.lower[j] <= problem.x[j] <= problem.upper[j]
            assert slope >= 0 or problem.x[j] == problem.lower[j]
            assert slope <= 0 or problem.x[j] == problem.upper[j]


def test_exact_solutions_agree_with_enumeration() -> None:
    """Where all lower bounds are finite and columns few."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        A, y = rng.integers(-3, 4, (3, 4)).astype(float), rng.integers(-5, 6, 3).astype(float)
        lower, upper = np.zeros(4), np.array([1.0, 2.0, np.inf, 3.0])
        x, _ = exact_in_box(A, y, lower, upper)
        problem = Judged("", 0, "least_squares", A, y, lower, upper, x, np.zeros(4, dtype=np.int8))
        assert problem.optimum == enumerated_optimum(A, y, lower, upper)[0]


def test_exact_products_of_large_matrices() -> None:
    """By limbs of 20 bits, the same as fractions; columns times powers of two included."""
    rng = np.random.default_rng(5)
    A = np.ldexp(rng.integers(-1000, 1000, (30, 40)).astype(float), rng.integers(-30, 30, 40))
    x = rng.standard_normal(40) * 10.0 ** rng.integers(-40, 40, 40)
    found = exact_product(A, [Fraction(v) for v in x.tolist()])
    for i in (0, 7, 29):
        terms = (Fraction(a) * Fraction(v) for a, v in zip(A[i].tolist(), x.tolist(), strict=True))
        assert found[i] == sum(terms, Fraction(0))


def test_every_path_is_found_in_the_sources() -> None:
    assert len(PathLog()._lines) + len(PathLog()._functions) > 50


@pytest.fixture(scope="module")
def quick() -> Any:
    """A few problems for every variant, with the paths they took."""
    return run_quick([variant.name for variant in VARIANTS])


def test_nothing_to_complain_about(quick: Any) -> None:
    assert not quick.complaints, "\n".join(quick.complaints[:20])
    assert sum(quick.problems.values()) > 600
    assert sum(quick.screened.values()) > 400


def test_every_path_is_taken(quick: Any) -> None:
    """But for those of a GPU."""
    missed = {name for name in PATHS if not quick.paths[name]}
    assert missed <= ON_A_GPU


@pytest.mark.parametrize("family", LARGE_FAMILIES)
def test_large_problems_with_planted_solutions(family: str) -> None:
    """With the settings as they are."""
    for seed in range(2):
        problem = make(family, seed)
        able = fitting(problem, REAL)
        for variant in (able[0], able[1 + (3 * seed + len(family)) % (len(able) - 1)]):
            assert not judge(problem, variant)


def test_wrong_answers_are_complained_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """A screening that w* does not prove, a gap that is too small, an x outside its bounds."""
    problem, variant = hostile("sparse_integers", 4), Variant("auto", options={"tol": 0.0})
    assert not judge(problem, variant)
    solve = boxreg.solve

    def with_changes(**changes: Any) -> list[str]:
        from dataclasses import replace

        monkeypatch.setattr(boxreg, "solve", lambda **k: replace(solve(**k), **changes))
        return judge(problem, variant)

    known = solve(**problem.posed)
    assert any("exceeds the gap" in c for c in with_changes(x=known.x + 0.25, gap=1e-9)) or any(
        "outside" in c for c in with_changes(x=known.x + 0.25, gap=1e-9)
    )
    assert any("outside" in c for c in with_changes(x=np.full(len(known.x), 1e9)))
    flat = np.flatnonzero((problem.signs == 0) & (problem.lower < problem.upper))
    screened = np.zeros(len(known.x), dtype=np.int8)
    screened[flat[0]] = -1
    assert any("false screening" in c for c in with_changes(screened=screened))


def test_claims_with_slight_columns() -> None:
    """Whether the sign of a slope next to 0 is proved may depend on the order of summation."""
    variant = next(v for v in VARIANTS if v.name == "many")
    for seed in range(6000, 6020):
        assert not judge(make("no_interior", seed), variant)


def test_settings_are_as_they_were_after_judging() -> None:
    judged(make(FAMILIES[0], 0), VARIANTS[0])
    assert current() == Settings()
    assert {variant.name for variant in CUDA}.isdisjoint(variant.name for variant in VARIANTS)
