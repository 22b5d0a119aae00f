"""Every loss with every kind of bounds, term, storage and solver agrees with the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boxreg
from loss_judging import arguments, fitting_solvers, judge, objective_scale
from references.loss_families import CELLS, LOSSES, OPTIONS, loss_problem
from references.loss_reference import reference_solutions

pytestmark = pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")

cells = pytest.mark.parametrize(("loss", "kind"), CELLS)

AGREEMENT = 1e-8


def posed(loss: str, kind: str, options: Any, seeds: int) -> tuple[list[Any], list[Any]]:
    """Problems with an accurate reference, and the references."""
    problems = [loss_problem(loss, kind, s, option) for option in options for s in range(seeds)]
    both = zip(problems, reference_solutions(problems), strict=True)
    kept = [(problem, known) for problem, known in both if known.accurate]
    return [problem for problem, _ in kept], [known for _, known in kept]


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@cells
def test_agrees_with_reference(loss: str, kind: str, storage: str) -> None:
    """Relative objective 1e-8 and a verified certificate for every term; success but for a few."""
    problems, references = posed(loss, kind, OPTIONS, 10)
    assert len(problems) >= 50
    results = [
        boxreg.solve(
            **arguments(problem, storage),
            tol=0.0,
            atol=0.5 * AGREEMENT * objective_scale(problem, known),
        )
        for problem, known in zip(problems, references, strict=True)
    ]
    complaints = judge(problems, results, references, agreement=AGREEMENT)
    assert not complaints, "\n".join(complaints)
    failed = [p for p, result in zip(problems, results, strict=True) if not result.success]
    assert len(failed) <= len(problems) // 20, f"{len(failed)} without success: {failed}"


@cells
def test_every_solver_that_fits_agrees(loss: str, kind: str) -> None:
    """Each of them with every kind of bounds; what they claim is true, and most of them succeed.

    First-order solvers that need more steps than these, as some do, say so: that is a claim as well.
    """
    solvers = fitting_solvers(loss)
    assert len(solvers) >= 2
    problems, references = posed(loss, kind, ("plain", "everything"), 5)
    for solver in solvers:
        results = [
            boxreg.solve(**arguments(p), solver=solver, tol=1e-9, max_iter=10_000) for p in problems
        ]
        complaints = judge(problems, results, references)
        assert not complaints, "\n".join([solver, *complaints])
        done = np.mean([result.success for result in results])
        assert done >= 0.5, f"{solver}, {kind}: success in {done:.0%}"


@cells
def test_screening_changes_nothing_but_the_cost(loss: str, kind: str) -> None:
    """With and without screening the objectives agree within their gaps."""
    for seed in range(5):
        posed = arguments(loss_problem(loss, kind, seed))
        plain = boxreg.solve(**posed, screening=False, tol=1e-10)
        screened = boxreg.solve(**posed, tol=1e-10)
        assert not plain.screened[posed["lower"] < posed["upper"]].any()
        allowance = plain.gap + screened.gap + 1e-12 * abs(plain.objective)
        assert abs(plain.objective - screened.objective) <= allowance


@pytest.mark.parametrize("loss", LOSSES)
def test_weight_zero_drops_the_row(loss: str) -> None:
    """The same objective as the problem without those rows."""
    problem = loss_problem(loss, "box", 1, "plain")
    weights = np.ones(len(problem.y))
    weights[::3] = 0.0
    kept = weights > 0.0
    posed = arguments(problem)
    whole = boxreg.solve(**posed, sample_weight=weights, tol=1e-11)
    background = {
        key: value[kept] if np.ndim(value) else value for key, value in problem.parameters.items()
    }
    posed |= {"A": problem.A[kept], "y": problem.y[kept], "loss": type(posed["loss"])(**background)}
    part = boxreg.solve(**posed, tol=1e-11)
    assert abs(whole.objective - part.objective) <= whole.gap + part.gap + 1e-12 * part.objective


def test_a_step_that_is_never_short_enough_is_not_taken() -> None:
    """Found by fuzzing: projected gradient took the last trial of a search that had failed."""
    problem = loss_problem("beta_divergence", "nonneg", 2202)
    result = boxreg.solve(**arguments(problem), solver="projected_gradient")
    assert np.all(np.isfinite(result.x))
    assert np.all(result.x >= problem.lower)
