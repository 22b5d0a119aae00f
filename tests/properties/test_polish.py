"""Moving a solver to a polished point."""

from __future__ import annotations

import numpy as np
import pytest

import boxreg
from boxreg import validate
from boxreg.directions import build_cone
from boxreg.dual_updates import SupportPolish
from boxreg.duality import DualPoint
from boxreg.history import Ledger
from boxreg.point import Point
from boxreg.presolve import presolve
from boxreg.solvers import SOLVERS, CoordinateDescent
from boxreg.track import Track
from boxreg.work import WorkMeter
from boxreg.workloads import nnls_table1
from building import mirrored
from references.problems import TABLE


@pytest.mark.parametrize("name", ["coordinate_descent", "projected_gradient", "chambolle_pock"])
@pytest.mark.parametrize("terms", ["plain", "mirrored", "weights and costs"])
@pytest.mark.parametrize("problem", TABLE, ids=lambda p: p.name)
def test_polished_points_are_feasible_and_better(problem, terms: str, name: str) -> None:
    """A solver is moved to a polished point only if that lowers the objective."""
    data, extra = problem.data, {}
    if terms == "mirrored":
        data = mirrored(*data, np.arange(problem.A.shape[1]) % 2 == 0)
    elif terms == "weights and costs":
        m, n = problem.A.shape
        price = np.abs(problem.A).sum(axis=0) * np.abs(problem.y).max(initial=1e-30)
        extra["linear"] = 0.1 * price * np.abs(np.sin(np.arange(n)))  # nothing falls for ever
        extra["sample_weight"] = 1.0 + np.arange(m) % 3
    posed = validate.problem(*data, "least_squares", **extra)
    current = presolve(posed, WorkMeter(posed.design.shape[1]))
    if not current.open.any():
        pytest.skip("everything is fixed")
    cone = build_cone(current, "auto")
    solver = SOLVERS[name]()
    state = solver.start(Point(current, np.clip(0.5, current.lower, current.upper)))
    state = solver.step(state, 20)
    current.work.add(1e6)  # late enough in a run for its budget
    for adopt in (False, True):
        ledger = Ledger(len(current.lower))
        track = Track(posed, current, solver, state, DualPoint.zero(current), cone, ledger)
        before = track.point
        update = SupportPolish(adopt)
        track.improve(update, 0.0)
        candidate = update.primal_candidate()
        if not adopt:
            assert candidate is None
            assert track.point is before
        elif track.point is not before:
            np.testing.assert_array_equal(track.point.x, candidate)
            assert np.all((candidate >= current.lower) & (candidate <= current.upper))
            assert track.point.objective < before.objective


def test_moving_to_the_fit_ends_a_run() -> None:
    """From the right support the fit is the solution: a slow method needs far fewer steps."""
    work = nnls_table1(200, m=400)
    steps = {
        adopt: boxreg.solve(
            *(work.A, work.y),
            solver=CoordinateDescent.plain(),
            dual=SupportPolish(adopt),
            tol=1e-12,
        ).n_iter
        for adopt in (False, True)
    }
    assert 3 * steps[True] < steps[False]


@pytest.mark.parametrize("name", ["active_set", "working_set"])
def test_exact_solvers_are_not_moved(name: str) -> None:
    """Their points are their own; `auto` asks for dual points only."""
    assert not SOLVERS[name].can_move
    work = nnls_table1(60, m=40)
    runs = [
        boxreg.solve(work.A, work.y, solver=name, dual=dual, tol=1e-12)
        for dual in ("auto", SupportPolish(adopt=False))
    ]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    assert runs[0].work == runs[1].work
