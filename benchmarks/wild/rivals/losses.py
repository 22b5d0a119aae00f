"""Solvers that take every loss, or some: L-BFGS-B, and skglm and scikit-learn where bounds are alike."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.optimize import Bounds, minimize

from benchmarks.losses.functions import KullbackLeibler
from benchmarks.losses.rivals import CONTESTANTS as LOSS_CONTESTANTS
from benchmarks.losses.rivals import Contestant
from benchmarks.race.problem import Array
from benchmarks.race.rivals import Rival, Run
from benchmarks.race.rivals.rival import takes_all

from ..problem import WildProblem
from .least_squares import each_column

TOLERANCES = (1e-9, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 0.0)
"""Of L-BFGS-B: the decrease of P / P₀ in one step at which it stops."""

TRACE = 1e-11
"""Background that L-BFGS-B is given where there is none, relative to the mean count."""

MOST_COLUMNS = 20
"""Right-hand sides up to which skglm is called one by one."""


def _finite(problem: WildProblem) -> WildProblem:
    """The problem with at least a trace of background, so that its objective is finite in the box."""
    function = problem.function
    if not isinstance(function, KullbackLeibler):
        return problem
    trace = TRACE * float(np.mean(problem.targets))
    return replace(problem, function=KullbackLeibler(max(function.background, trace)))


def _lbfgsb(scaled: bool, problem: WildProblem, tolerance: float) -> Run:
    """P / P₀ with its gradient; where `scaled`, in variables z = x · norm of the column."""
    A = problem.matrix
    starts, scales, problem = problem.starts(), problem.scales(), _finite(problem)
    if scaled:
        size = np.sqrt(np.asarray((A * A).sum(axis=0)).ravel())
        size = np.where(size > 0.0, size, 1.0)
    else:
        size = np.ones(A.shape[1])
    bounds = Bounds(problem.lower * size, problem.upper * size)
    options = {"ftol": tolerance, "gtol": 0.0, "maxcor": 20, "maxiter": 50_000, "maxfun": 100_000}

    def column(j: int) -> Run:
        scale = scales[j] or 1.0

        def both(z: Array) -> tuple[float, Array]:
            value, gradient = problem.value_and_gradient(z / size, j)
            return value / scale, gradient / size / scale

        start = starts[:, j] * size
        return lambda: (
            minimize(both, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
            / size
        )

    return each_column([column(j) for j in range(problem.count)])


def _on_unit_box(held: Contestant, problem: WildProblem, tolerance: float) -> Run:
    """A contestant of the race of the losses, in variables whose bounds are alike."""

    def column(j: int) -> Run:
        posed, width = problem.on_unit_box(j)
        run = held.prepare(posed, tolerance)
        return lambda: problem.lower + width * run()

    return each_column([column(j) for j in range(problem.count)])


def _refused(held: Contestant, problem: WildProblem) -> str | None:
    if problem.count > MOST_COLUMNS:
        return f"up to {MOST_COLUMNS} right-hand sides, one by one"
    return problem.cannot_be_on_unit_box() or held.refuses(problem.on_unit_box()[0])


LOSSES = (
    *(
        Rival(
            name,
            "scipy",
            "scipy",
            f"objective and gradient in NumPy, divided by P₀, {variables}; maxcor 20, ftol hunted",
            partial(_lbfgsb, scaled),
            takes_all,
            tolerances=TOLERANCES,
        )
        for name, scaled, variables in (
            ("L-BFGS-B", False, "variables as they are"),
            ("L-BFGS-B.scaled", True, "variables scaled by the norms of columns"),
        )
    ),
    *(
        Rival(
            held.name,
            held.distribution.replace("scikit-learn", "sklearn"),
            held.distribution,
            held.settings,
            partial(_on_unit_box, held),
            partial(_refused, held),
            tolerances=held.tolerances,
        )
        for held in LOSS_CONTESTANTS.values()
        if held.name.startswith(("skglm.", "sklearn."))
    ),
)
