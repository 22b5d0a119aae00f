"""The one place where an algorithm is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf

from .dense_fit import is_plain
from .dual_updates import DualUpdate, LineSearch, SupportPolish
from .in_threads import allowed
from .point import inward_slopes
from .problem import Problem
from .reduced import ReducedProblem
from .safe_regions import REGIONS, SafeRegion
from .settings import current
from .solvers import SOLVERS, InteriorPoint, PrimalSolver
from .solvers.base import fits
from .solvers.sparse_model import usable
from .stopping import Limits

Solver = PrimalSolver[Any]


def engine_for(problem: Problem) -> tuple[Solver, str]:
    """The solver that 'auto' stands for, and why."""
    if not problem.design.has_columns:
        return SOLVERS["projected_gradient"](), "single columns of A cannot be read"
    if problem.loss.quadratic and usable(problem):
        return SOLVERS["sparse_descent"](), "least squares, and A is sparse"
    if problem.loss.quadratic:
        return SOLVERS["working_set"](), "least squares"
    models = ", with models for sweeps and conjugate gradients, as A is sparse"
    reason = f"the loss {problem.loss.name} is no least squares"
    return SOLVERS["newton"](), reason + (models if usable(problem) else "")


def successor_for(problem: Problem) -> tuple[Solver | None, str]:
    """Who goes on where the solver of 'auto' takes long or can do no more, and why."""
    if not fits(InteriorPoint, problem):
        return None, "the interior-point method needs columns of A and the inverse of f'"
    return InteriorPoint(), "its number of steps hardly depends on the data"


def first_products(problem: Problem) -> tuple[float, str]:
    """Products of length m that the compiled active set may take for a first point, and why."""
    design, settings = problem.design, current()
    m, n = design.shape
    if not (problem.loss.quadratic and design.has_columns and m * n > 0):
        return 0.0, "there is a compiled call for least squares only"
    if m * n <= settings.small_entries:
        return np.inf, "the problem is small"
    if design.density < 0.5 or 8 * m * n > settings.large_bytes:
        return 0.0, "A is sparse, or too large to be copied"
    products = settings.compiled_products * n
    if is_plain(problem) and np.any((problem.lower == -np.inf) & (problem.upper == np.inf)):
        return products, "it has factors at hand for the columns without bounds"
    if _front_share(problem) >= settings.well_conditioned:
        return 0.0, "the steepest columns are well-conditioned"
    return products, "the steepest columns are ill-conditioned"


def _front_share(problem: Problem) -> float:
    """How much is left outside the span of the others of the steepest columns, at least; 1 if unknown.

    They are those that most want to leave their bound, and the share is of a column's norm. Large where
    columns are well-conditioned, and working sets of them soon solved by Gram matrices.
    """
    slopes, norms = problem.survey.correlation, problem.survey.norms
    if slopes is None:
        return 1.0
    x, safe = problem.nearest_to_zero(), np.where(norms > 0.0, norms, 1.0)
    steep = inward_slopes(x, slopes, problem.lower, problem.upper) / safe
    count = min(current().first_working_set, int(np.count_nonzero(steep)))
    if not count:
        return 1.0
    front = np.argpartition(-steep, count - 1)[:count]
    gram = problem.design.gram(front, front, problem.smoothness.rows)
    size = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    factor, failed = dpotrf(gram / size / size[:, None], lower=1)
    return 0.0 if failed else float(np.min(np.diag(factor)))


def dual_for(solver: Solver, *, screening: bool) -> tuple[DualUpdate, str]:
    """How dual points are made where nobody says, and why."""
    if solver.fits_exactly:
        return LineSearch(thorough=False), "the residuals of the engine are those of fits already"
    if not screening:
        return LineSearch(), "a better dual point is paid for by what it screens"
    return SupportPolish(adopt=solver.can_move), "a better dual point screens more"


def region_for(problem: Problem, solver: Solver) -> tuple[SafeRegion, str]:
    """The safe region where nobody says, and why.

    The dome takes a product a check: too much where every step is checked, and where the columns have
    no direction in common.
    """
    if problem.design.nonnegative and solver.check_growth > 0.0 and problem.smoothness.known:
        return REGIONS["dome"](), "A >= 0, and checks are rare"
    return REGIONS["two_point_ball"](), "it costs no product"


def copied_by_columns(solver: Solver, whole: ReducedProblem) -> tuple[bool, str]:
    """Whether A is copied by columns before the first step, and why."""
    if solver.wants_column_major(whole):
        return True, f"{solver.name} will read single columns again and again"
    return False, "no copy would pay"


def finish_with(limits: Limits) -> tuple[str, str]:
    """With what a run ends once the gap asked for is proved, and why."""
    if limits.finishing == 0.0:
        return "tolerance", "asked for"
    return "precision", "digits beyond the gap asked for may take as long again"


def threads() -> tuple[str, str]:
    """How many threads large products may take, and why."""
    return f"up to {allowed()}", "cores, environment variables and settings allow so many"
