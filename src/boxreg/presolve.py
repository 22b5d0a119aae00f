"""What is known before any iteration: fixed variables and zero columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .point import Point
from .problem import Problem
from .reduced import ReducedProblem
from .work import WorkMeter


def presolve(problem: Problem, work: WorkMeter) -> ReducedProblem:
    """The reduced problem at the start of a run.

    A zero column has no say in the prediction: its coordinate is fixed at the bound that its cost
    prefers, or without one at the feasible value nearest to 0. Variables with lower = upper are
    fixed as they come. Nothing is copied here; the driver drops fixed columns when that pays.
    """
    whole = unreduced(problem, work)
    inert = problem.survey.norms == 0.0
    if not inert.any():
        return whole
    nearest = problem.nearest_to_zero()
    if problem.cost is not None:
        c = problem.cost.c
        best = np.where(c > 0.0, problem.lower, np.where(c < 0.0, problem.upper, nearest))
        nearest = np.where(np.isfinite(best), best, nearest)
    return replace(
        whole,
        lower=np.where(inert, nearest, problem.lower),
        upper=np.where(inert, nearest, problem.upper),
        equality=None if whole.equality is None else whole.equality.without(inert),
    )


def unreduced(problem: Problem, work: WorkMeter) -> ReducedProblem:
    """The problem as it was posed, every column held and every bound its own."""
    m, n = problem.design.shape
    whole = ReducedProblem(
        design=problem.design,
        target=problem.target,
        loss=problem.loss,
        lower=problem.lower,
        upper=problem.upper,
        norms=problem.survey.norms,
        index=np.arange(n),
        offset=np.zeros(m),
        offset_error=0.0,
        work=work,
        smoothness=problem.smoothness,
        cost=problem.cost,
        constant=problem.constant,
        first_own_row=problem.first_own_row,
    )
    return whole.with_equalities() if np.isneginf(problem.lower).any() else whole


def reference_scale(problem: Problem) -> tuple[float, float]:
    """P₀, and the least gap that rounding leaves meaningful next to it."""
    x = problem.reference()
    if not x.any():  # a prediction of 0 has no rounding error
        zero = np.zeros(len(problem.target))
        return problem.loss.objective(zero, problem.target) + abs(problem.constant), 0.0
    start = Point(unreduced(problem, WorkMeter(1)), x)
    data = problem.loss.objective(start.prediction, problem.target)
    return data + abs(start.problem.linear(start.x)), _hidden(start)


def _hidden(point: Point) -> float:
    """How far an objective may be from another whose predictions differ by rounding alone: L e²."""
    smoothness = point.problem.smoothness
    if smoothness.known:
        return smoothness.largest * point.prediction_error * point.prediction_error
    with np.errstate(over="ignore", invalid="ignore"):  # f'' may be infinite, the error 0
        rows = point.curvature * point.prediction_errors * point.prediction_errors
    return float(np.sum(rows[np.isfinite(rows)]))
