"""The problem asked for, and points of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ..arrays import Array
from ..designs import Design
from ..devices import lives_on_gpu
from ..losses import LOSSES, Loss
from ..losses.stacked import StackedLoss
from ..losses.weighted import Weighted
from ..posing import pose
from ..problem import Problem
from .arrays import bounds, real_array, vector
from .designs import LARGEST, SMALLEST, check_norms, design, with_columns
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
    check_size(target, target_name)
    low, high = bounds(lower, upper, n)
    chosen = choice(loss, "loss", LOSSES, Loss)
    chosen.check_rows(m)
    posed = pose(
        held,
        chosen.accept(target),
        chosen,
        low,
        high,
        weights=None if sample_weight is None else weights(sample_weight, m),
        cost=None if linear is None else cost(linear, n),
        ridge=ridge_term(ridge, n),
        sweeping=sweeping,
    )
    check_norms(posed.survey.norms, posed.design)
    if sample_weight is not None:
        _check_weighted(posed)
    check_reach(posed, posed.nearest_to_zero(), "bounds")
    if chosen.needs_nonnegative:
        _check_nonnegative(posed, held)
    return posed


def check_size(vector: Array, name: str) -> None:
    """Refuse what has no finite square."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    if largest > LARGEST:
        raise ValueError(
            f"{name}: has an entry of size {largest:g}; squares would overflow above {LARGEST:g}: "
            f"rescale {name}"
        )


def check_reach(posed: Problem, x: Array, name: str) -> None:
    """Refuse an x whose predictions, or costs, would have no finite squares."""
    if not x.any():
        return
    with np.errstate(over="ignore"):
        reach = _row_scale(posed.loss) * float(np.abs(x) @ posed.survey.norms)
        cost = 0.0 if posed.cost is None else float(np.abs(x) @ np.abs(posed.cost.c))
    if not (reach <= LARGEST and cost <= LARGEST**2):
        largest = float(np.max(np.abs(x)))
        raise ValueError(
            f"{name}: an x with entries of size {largest:g}, where the objective overflows: "
            "rescale the problem"
        )


def _row_scale(loss: Loss) -> float:
    """The largest weight of a row, at least 1: residuals are so many times y - A x."""
    if isinstance(loss, StackedLoss):
        return max(_row_scale(loss.top), _row_scale(loss.bottom))
    return float(np.max(loss.weights, initial=1.0)) if isinstance(loss, Weighted) else 1.0


def weights(value: Any, m: int) -> Array:
    """Weights >= 0 in a range where they, and their inverses, can be multiplied with residuals."""
    weights = vector(value, "sample_weight", m, of="rows of A")
    if np.any(weights < 0.0) or not np.any(weights > 0.0):
        raise ValueError("sample_weight: expected numbers >= 0, not all of them 0")
    least, largest = float(np.min(weights[weights > 0.0])), float(np.max(weights))
    if not SMALLEST**2 <= least <= largest <= LARGEST:
        raise ValueError(
            f"sample_weight: expected 0 or numbers from {SMALLEST**2:g} to {LARGEST:g}, got "
            f"{least if least < SMALLEST**2 else largest:g}"
        )
    return weights


def _check_weighted(posed: Problem) -> None:
    """Refuse weights with which squares of y, or of norms of columns, overflow."""
    scale = _row_scale(posed.loss)
    size = max(np.max(np.abs(posed.target), initial=0.0), np.max(posed.survey.norms, initial=0.0))
    if scale * float(size) > LARGEST:
        raise ValueError(
            f"sample_weight: its largest entry, {scale:g}, is too large beside A and y: squares of "
            "weighted residuals would overflow; rescale it"
        )


def cost(value: Any, n: int) -> Array:
    """c: n numbers, or one for all columns."""
    given = real_array(value, "linear")
    if given.ndim == 0:
        given = np.full(n, given, dtype=np.float64)
    cost = vector(given, "linear", n, of="columns of A")
    check_size(cost, "linear")
    return cost


def ridge_term(value: Any, n: int) -> float | Array | Design:
    """μ >= 0, n of them, or a matrix Γ with n columns."""
    if not isinstance(value, (Design, LinearOperator)) and not sparse.issparse(value):
        array = value if lives_on_gpu(value) else real_array(value, "ridge")
        if array.ndim == 0:
            return float(_penalties(array.reshape(1))[0])
        if array.ndim == 1:
            return _penalties(vector(array, "ridge", n, of="columns of A"))
        value = array
    held = design(value, "ridge")
    if held.shape[1] != n:
        raise ValueError(
            f"ridge: expected a number, a vector with {n} entries or a matrix with {n} columns (those "
            f"of A), got shape {held.shape}"
        )
    if held.entries is not None:
        check_norms(held.column_norms(), held, "ridge")
    return held


def _penalties(value: Array) -> Array:
    """μ_j: 0, or in a range where they and their inverses have no infinite products."""
    mu = np.asarray(value, dtype=np.float64)
    wrong = ~((mu == 0.0) | (mu >= SMALLEST**2) & (mu <= LARGEST))
    if wrong.any():
        worst = float(mu[wrong][0])
        tolerance(worst, "ridge")
        raise ValueError(
            f"ridge: expected 0, numbers from {SMALLEST**2:g} to {LARGEST:g} or a matrix, "
            f"got {worst:g}"
        )
    return mu


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
    prediction = posed.design.matvec(posed.interior)
    hopeless = np.flatnonzero(~np.isfinite(posed.loss.derivatives(prediction, posed.target)))
    if len(hopeless):
        i = int(hopeless[0] if posed.row_map is None else posed.row_map.kept[hopeless[0]])
        raise ValueError(
            f"y: with the loss {name!r} row {i} asks for a positive prediction, which A cannot make "
            f"({len(hopeless)} such rows); leave such rows out or add a background"
        )


def level_zero(A: Any, y: Any) -> Problem:
    """Least squares over the box |x| <= 0, for solvers that raise the level and read single columns."""
    return problem(with_columns(A), y, 0.0, 0.0, "least_squares")


def start(x0: Any, problem: Problem) -> Array | None:
    """The caller's starting point, projected on the box, if there is one."""
    if x0 is None:
        return None
    x = vector(x0, "x0", problem.design.shape[1], of="columns of A")
    x = np.minimum(np.maximum(x, problem.lower), problem.upper)
    check_reach(problem, x, "x0")
    return x


def point(x: Any, problem: Problem) -> Array:
    """A point that somebody says is optimal, in the box or not."""
    whole = vector(x, "x", problem.design.shape[1], of="columns of A")
    check_reach(problem, whole, "x")
    return whole


def dual_point(theta: Any, problem: Problem) -> Array:
    """theta over the rows of the problem; NaN, which proves nothing, where it cannot be feasible."""
    rows = problem.row_map
    m = problem.design.shape[0] + (0 if rows is None else len(rows.known) - len(rows.kept))
    whole = vector(theta, "theta", m, of="rows of A, and of the ridge term if there is one")
    check_size(whole, "theta")
    if rows is None:
        return whole
    inner = rows.restrict(whole)
    return np.full(problem.design.shape[0], np.nan) if inner is None else inner
