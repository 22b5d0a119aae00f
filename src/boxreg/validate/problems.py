"""The problem asked for, and points of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..arrays import Array
from ..designs import Design
from ..losses import LOSSES, Loss
from ..posing import pose
from ..problem import Problem
from .arrays import bounds, vector
from .designs import LARGEST, check_norms, design
from .values import choice, tolerance


def problem(
    A: Any,
    y: Any,
    lower: Any,
    upper: Any,
    loss: Any,
    *,
    sample_weight: Any = None,
    linear: Any = None,
    ridge: Any = 0.0,
    target_name: str = "y",
    sweeping: bool = False,
) -> Problem:
    """The problem, its design surveyed; with a first sweep, if `sweeping` and it pays (see `pose`)."""
    held = design(A)
    m, n = held.shape
    target = vector(y, target_name, m, of="rows of A")
    _check_size(target, target_name)
    low, high = bounds(lower, upper, n)
    chosen = choice(loss, "loss", LOSSES, Loss)
    chosen.check_rows(m)
    posed = pose(
        held,
        chosen.accept(target),
        chosen,
        low,
        high,
        weights=None if sample_weight is None else _weights(sample_weight, m),
        cost=None if linear is None else vector(linear, "linear", n, of="columns of A"),
        ridge=_ridge(ridge, n),
        sweeping=sweeping,
    )
    check_norms(posed.survey.norms, posed.design)
    if chosen.needs_nonnegative:
        _check_nonnegative(posed, held)
    return posed


def _check_size(target: Array, name: str) -> None:
    """Refuse what has no finite square."""
    largest = float(np.max(np.abs(target), initial=0.0))
    if largest > LARGEST:
        raise ValueError(
            f"{name}: has an entry of size {largest:g}; squares would overflow above {LARGEST:g}: "
            f"rescale {name}"
        )


def _weights(value: Any, m: int) -> Array:
    weights = vector(value, "sample_weight", m, of="rows of A")
    if np.any(weights < 0.0) or not np.any(weights > 0.0):
        raise ValueError("sample_weight: expected numbers >= 0, not all of them 0")
    return weights


def _ridge(value: Any, n: int) -> float | Design:
    """μ >= 0, or a matrix Γ with n columns."""
    if np.ndim(value) == 0 and not isinstance(value, (Design, LinearOperator)):
        return tolerance(value, "ridge")
    held = design(value, "ridge")
    if held.shape[1] != n:
        raise ValueError(
            f"ridge: expected a number or a matrix with {n} columns (those of A), "
            f"got shape {held.shape}"
        )
    return held


def _check_nonnegative(posed: Problem, held: Design) -> None:
    """A >= 0 and lower >= 0, and no row that is positive in y but out of reach."""
    name = posed.loss.name
    smallest = held.smallest
    if smallest is None:
        raise ValueError(f"loss: {name!r} needs an A whose entries can be seen to be >= 0")
    if smallest < 0.0:
        raise ValueError(f"loss: {name!r} needs A >= 0, but A has negative entries")
    negative = np.flatnonzero(posed.lower < 0.0)
    if len(negative):
        j = int(negative[0])
        raise ValueError(
            f"loss: {name!r} needs lower >= 0, but lower[{j}] = {posed.lower[j]:g} "
            f"({len(negative)} such coordinates)"
        )
    prediction = posed.design.matvec(posed.interior())
    hopeless = np.flatnonzero(~np.isfinite(posed.loss.derivatives(prediction, posed.target)))
    if len(hopeless):
        i = int(hopeless[0] if posed.row_map is None else posed.row_map.kept[hopeless[0]])
        raise ValueError(
            f"y: with the loss {name!r} row {i} asks for a positive prediction, which A cannot make "
            f"({len(hopeless)} such rows); leave such rows out or add a background"
        )


def level_zero(A: Any, y: Any) -> Problem:
    """Least squares over the box |x| <= 0, for solvers that raise the level and read single columns."""
    held = design(A)
    if not held.has_columns:
        raise TypeError(
            f"A: expected an array or a scipy.sparse matrix, got {type(A).__name__}: "
            "single columns of A are needed"
        )
    return problem(held, y, 0.0, 0.0, "least_squares")


def dual_point(theta: Any, problem: Problem) -> Array:
    """theta over the rows of the problem; NaN, which proves nothing, where it cannot be feasible."""
    rows = problem.row_map
    m = problem.design.shape[0] + (0 if rows is None else len(rows.known) - len(rows.kept))
    whole = vector(theta, "theta", m, of="rows of A, and of the ridge term if there is one")
    if rows is None:
        return whole
    inner = rows.restrict(whole)
    return np.full(problem.design.shape[0], np.nan) if inner is None else inner
