"""Dual updates: what they propose is feasible, and better."""

from __future__ import annotations

import numpy as np
import pytest

import boxreg
from boxreg.directions import build_cone
from boxreg.dual_updates import DUAL_UPDATES, Extrapolated, Oracle, SupportPolish, Translation
from boxreg.duality import DualPoint, duality_gap
from boxreg.extrapolation import DEPTH
from boxreg.point import Point
from boxreg.solvers import CoordinateDescent
from building import reduced
from rational import largest_product
from references.exact import exact_solution
from references.problems import TABLE, generated

RNG = np.random.default_rng(11)
POSITIVE = np.abs(RNG.standard_normal((20, 30)))
Y = RNG.standard_normal(20)


@pytest.mark.parametrize("searching", [SupportPolish, Extrapolated])
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_line_search_never_loses(problem, searching) -> None:
    """Its gap is at most that of standing still and that of the translated residual."""
    current = reduced(*problem.data)
    cone = build_cone(current, "auto")
    best = DualPoint.zero(current)
    update = searching().start(current)
    rng = np.random.default_rng(0)
    for _ in range(8):
        spread = np.abs(rng.standard_normal(len(current.lower)))
        point = Point(current, np.clip(spread, current.lower, current.upper))
        before = duality_gap(point, best)
        translated = next(Translation().propose(point, best, cone, None))
        for candidate in update.propose(point, best, cone, None):
            gap = duality_gap(point, candidate)
            assert gap <= before
            assert gap <= duality_gap(point, translated)
            best = candidate


@pytest.mark.parametrize("dual", ["auto", *sorted(DUAL_UPDATES)])
def test_every_update_on_a_box(dual: str) -> None:
    """All of them solve a problem with finite bounds to the same objective."""
    problem = next(p for p in TABLE if p.name == "bvls-wide-nonnegative")
    plain = boxreg.solve(*problem.data, solver="projected_gradient", tol=1e-11)
    result = boxreg.solve(*problem.data, solver="projected_gradient", dual=dual, tol=1e-11)
    assert result.success
    assert result.objective == pytest.approx(plain.objective, rel=1e-10)


def test_polish_is_exact_once_the_support_is_right() -> None:
    """From a poor x with the right support the polished gap is far below the translated one."""
    problem = next(p for p in TABLE if p.name == "nnls-wide-nonnegative")
    solution = np.array([float(v) for v in exact_solution(*problem.data).x])
    current = reduced(*problem.data)
    cone = build_cone(current, "auto")
    point = Point(current, solution * (1.0 + 0.01 * np.sin(np.arange(len(solution)))))
    current.work.add(10_000)  # late enough in a run for its budget
    zero = DualPoint.zero(current)
    translated = next(Translation().propose(point, zero, cone, None))
    *_, polished = SupportPolish().propose(point, zero, cone, None)
    optimum = exact_solution(*problem.data).objective_float
    suboptimality = point.objective - optimum
    assert duality_gap(point, translated) > 20 * suboptimality
    assert duality_gap(point, polished) < 3 * suboptimality


def test_the_residual_needs_finite_bounds() -> None:
    """Refused, with what to use instead."""
    with pytest.raises(ValueError, match=r"dual: 'residual' needs every bound to be finite"):
        boxreg.solve(POSITIVE, Y, dual="residual")
    with pytest.raises(ValueError, match=r"dual: 'residual' needs every bound to be finite"):
        boxreg.solve(POSITIVE, Y, -np.inf, 1.0, dual="residual")


def test_the_oracle_screens_sooner() -> None:
    """With the dual solution given, less work is needed; a run may be repeated with one instance."""
    problem = next(p for p in TABLE if p.name == "nnls-wide-nonnegative")
    exact = exact_solution(*problem.data)
    oracle = Oracle(np.array([float(t) for t in exact.theta]))
    plain = boxreg.solve(*problem.data, solver="coordinate_descent")
    first = boxreg.solve(*problem.data, solver="coordinate_descent", dual=oracle)
    again = boxreg.solve(*problem.data, solver="coordinate_descent", dual=oracle)
    assert first.work < plain.work
    assert again.work == first.work
    assert not np.any((first.screened == -1) & (exact.signs() >= 0))


@pytest.mark.parametrize("name", ["extrapolated", "support_polish"])
def test_proposals_are_feasible_in_exact_arithmetic(name: str) -> None:
    """Whatever the gap takes for feasible along a run is so, at each of 15 checks."""
    proposals = 0
    for seed in range(0, 30, 3):
        data = generated("nonnegative", seed)
        solver = CoordinateDescent.plain()
        state = solver.start(Point(reduced(*data.data), np.asarray(data.lower, dtype=float)))
        problem = state.point.problem
        cone = build_cone(problem, "auto")
        update = DUAL_UPDATES[name]().start(problem)
        best = DualPoint.zero(problem)
        for _ in range(15):
            state = solver.step(state, 1)
            for candidate in update.propose(state.point, best, cone, None):
                if np.isfinite(duality_gap(state.point, candidate)):
                    proposals += 1
                    assert largest_product(data.A, candidate.theta) <= 0
                    best = candidate
    assert proposals > 100


def test_extrapolated_residuals_come_closer() -> None:
    """Once the support is settled the extrapolated point is far better than the translated residual."""
    rng = np.random.default_rng(1)
    A = np.abs(rng.standard_normal((40, 15)))
    problem = reduced(A, A @ rng.uniform(1.0, 2.0, 15) + 0.05 * rng.standard_normal(40))
    solver = CoordinateDescent.plain()
    state = solver.start(Point(problem, np.zeros(15)))
    cone, update, best = build_cone(problem, "auto"), Extrapolated(), DualPoint.zero(problem)
    state = solver.step(state, 200)
    for _ in range(DEPTH + 1):
        state = solver.step(state, 10)
        proposals = list(update.propose(state.point, best, cone, None))
    translated = next(Translation().propose(state.point, best, cone, None))
    gap = duality_gap(state.point, proposals[-1])
    assert gap < 0.5 * duality_gap(state.point, translated)


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("dual", ["residual", "translation", "line_search", "auto"])
@pytest.mark.parametrize("solver", ["coordinate_descent", "projected_gradient", "chambolle_pock"])
def test_what_is_proved_is_never_lost(solver: str, dual: str) -> None:
    """P - gap, the best lower bound on the minimum, does not fall from check to check."""
    for problem in TABLE:
        bounded = np.isfinite(problem.upper).all() and np.isfinite(problem.lower).all()
        if dual == "residual" and not bounded:
            continue
        result = boxreg.solve(*problem.data, solver=solver, dual=dual, tol=1e-8, max_iter=200)
        history = result.history
        proved = history.objective - history.gap
        allowance = 1e-12 * history.objective + 4e-8 * history.gap  # a gap is rounded up by 1e-8
        assert np.all(np.maximum.accumulate(proved) - proved <= allowance), problem.name
