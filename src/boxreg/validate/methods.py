"""The method asked for, checked against the problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import planning
from ..arguments import shown
from ..arrays import Array
from ..directions import DIRECTIONS
from ..dual_updates import DUAL_UPDATES, DualUpdate
from ..method import Method
from ..plan import Plan
from ..problem import Problem
from ..safe_regions import REGIONS, SafeRegion
from ..solvers import SOLVERS, PrimalSolver
from ..solvers.base import fits
from .arrays import vector
from .problems import check_size
from .values import choice, iterations, one_of, switch, unknown

_ASKED = "asked for"


def method(
    problem: Problem, solver: Any, dual: Any, region: Any, direction: Any, screening: Any
) -> Method:
    """The method asked for, checked against the problem."""
    automatic = isinstance(solver, str) and solver == "auto"
    successor, why_then = planning.successor_for(problem) if automatic else (None, "")
    if automatic:
        chosen, why = planning.engine_for(problem)
    else:
        chosen, why = choice(solver, "solver", SOLVERS, PrimalSolver, extra=("auto",)), _ASKED
    if not fits(chosen, problem):
        fitting = [name for name, kind in SOLVERS.items() if fits(kind, problem)]
        kind = type(problem.design).__name__
        raise ValueError(
            f"solver: {chosen.name!r} cannot solve loss {problem.loss.name!r} with a {kind} "
            f"(it needs {_needs(chosen)}); solvers that can: auto, {', '.join(fitting)}"
        )
    screening = switch(screening, "screening")
    if isinstance(dual, str) and dual == "auto":
        update, why_dual = planning.dual_for(chosen, screening=screening)
    else:
        update, why_dual = choice(dual, "dual", DUAL_UPDATES, DualUpdate, extra=("auto",)), _ASKED
    if isinstance(region, str) and region == "auto":
        safe, why_region = planning.region_for(problem, chosen)
    else:
        safe, why_region = choice(region, "region", REGIONS, SafeRegion, extra=("auto",)), _ASKED
    if update.needs_finite_bounds and not (
        np.all(np.isfinite(problem.upper)) and np.all(np.isfinite(problem.lower))
    ):
        raise ValueError(
            f"dual: {update.name!r} needs every bound to be finite; "
            "use 'translation', 'line_search', 'extrapolated', 'support_polish' or 'auto'"
        )
    plan = Plan().decided("engine", chosen.name, why)
    if successor is not None:
        plan = plan.decided("successor", successor.name, why_then)
    plan = plan.decided("dual", update.name, why_dual).decided("region", safe.name, why_region)
    return Method(
        solver=chosen,
        dual=update,
        region=safe,
        direction=_direction(direction, problem),
        screening=screening,
        successor=successor,
        first=planning.first_products(problem) if automatic else (0.0, _ASKED),
        plan=plan.decided("threads", *planning.threads()),
    )


def _needs(solver: PrimalSolver[Any]) -> str:
    needs = ["single columns of A"] if solver.needs_columns else []
    if solver.needs_epochs:
        needs = ["single columns of A, in the memory of the host"]
    if solver.needs_quadratic:
        needs.append("the loss 'least_squares'")
    if solver.needs_inverse:
        needs.append("a loss with inverse_derivatives")
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
