"""The method asked for, checked against the problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import shown
from ..arrays import Array
from ..directions import DIRECTIONS
from ..dual_updates import DUAL_UPDATES, DualUpdate, LineSearch, SupportPolish
from ..method import Method
from ..problem import Problem
from ..safe_regions import REGIONS, SafeRegion
from ..solvers import SOLVERS, PrimalSolver
from .arrays import vector
from .problems import check_size
from .values import choice, iterations, one_of, switch, unknown


def method(
    problem: Problem, solver: Any, dual: Any, region: Any, direction: Any, screening: Any
) -> Method:
    """The method asked for, checked against the problem."""
    has_columns = problem.design.has_columns
    if isinstance(solver, str) and solver == "auto":
        exact = "working_set" if problem.loss.quadratic else "newton"
        solver = exact if has_columns else "projected_gradient"
    chosen = choice(solver, "solver", SOLVERS, PrimalSolver, extra=("auto",))
    if not _fits(chosen, problem):
        fitting = [name for name, kind in SOLVERS.items() if _fits(kind, problem)]
        kind = type(problem.design).__name__
        raise ValueError(
            f"solver: {chosen.name!r} cannot solve loss {problem.loss.name!r} with a {kind} "
            f"(it needs {_needs(chosen)}); solvers that can: auto, {', '.join(fitting)}"
        )
    screening = switch(screening, "screening")
    if isinstance(dual, str) and dual == "auto":
        # A better dual point is paid for by what it screens; without screening it only stops a run.
        polish = screening and not chosen.fits_exactly
        searched = LineSearch(thorough=not chosen.fits_exactly)
        dual = SupportPolish(adopt=chosen.can_move) if polish else searched
    if isinstance(region, str) and region == "auto":
        # The dome takes a product a check: too much where every step is checked, and where the columns
        # have no direction in common.
        shared = problem.design.nonnegative and chosen.check_growth > 0.0
        shared = shared and problem.smoothness.known
        region = "dome" if shared else "two_point_ball"
    update = choice(dual, "dual", DUAL_UPDATES, DualUpdate, extra=("auto",))
    if update.needs_finite_bounds and not (
        np.all(np.isfinite(problem.upper)) and np.all(np.isfinite(problem.lower))
    ):
        raise ValueError(
            f"dual: {update.name!r} needs every bound to be finite; "
            "use 'translation', 'line_search', 'extrapolated', 'support_polish' or 'auto'"
        )
    return Method(
        solver=chosen,
        dual=update,
        region=choice(region, "region", REGIONS, SafeRegion, extra=("auto",)),
        direction=_direction(direction, problem),
        screening=screening,
    )


def _fits(solver: Any, problem: Problem) -> bool:
    design = problem.design
    columns = design.has_columns or not solver.needs_columns
    columns = columns and (design.has_epochs or not solver.needs_epochs)
    quadratic = problem.loss.quadratic or not solver.needs_quadratic
    if solver.needs_scalar_derivative:
        known = problem.smoothness.known and problem.loss.scalar_derivative() is not None
        return columns and quadratic and known
    return columns and quadratic


def _needs(solver: PrimalSolver[Any]) -> str:
    needs = ["single columns of A"] if solver.needs_columns else []
    if solver.needs_epochs:
        needs = ["single columns of A, in the memory of the host"]
    if solver.needs_quadratic:
        needs.append("the loss 'least_squares'")
    if solver.needs_scalar_derivative:
        needs.append("a loss whose derivative is Lipschitz everywhere")
    return " and ".join(needs)


def _direction(direction: Any, problem: Problem) -> str | Array:
    if isinstance(direction, str):
        if direction != "auto" and direction not in DIRECTIONS:
            raise ValueError(
                unknown("direction", direction, ["auto", *DIRECTIONS]) + ", or a vector"
            )
        return direction
    given = vector(direction, "direction", problem.design.shape[0], of="rows of A")
    check_size(given, "direction")
    return given


def lsmr_options(
    dense: bool, solver: Any, tol: Any, maxiter: Any, default: float
) -> dict[str, Any] | None:
    """The arguments of LSMR that SciPy's `lsq_linear` would use; None where it would factor A."""
    one_of(solver, "lsq_solver", (None, "exact", "lsmr"))
    if solver == "exact" and not dense:
        raise ValueError("lsq_solver: 'exact' needs a dense A; use 'lsmr' or None")
    automatic = tol is None or (isinstance(tol, str) and tol == "auto")
    if not automatic and not (isinstance(tol, float) and tol > 0.0):
        raise ValueError(f"lsmr_tol: expected None, 'auto' or a float > 0, got {shown(tol)}")
    limit = iterations(maxiter, "lsmr_maxiter", least=1)
    if solver == "exact" or (solver is None and dense):
        return None
    accuracy = 1e-2 * default if automatic else tol
    return {"atol": accuracy, "btol": accuracy, "maxiter": limit}
