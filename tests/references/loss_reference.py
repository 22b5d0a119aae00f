"""Solutions of many small problems with any loss, from the interior-point method to longdouble.

From an interior point, a projected Newton method on the active set that it suggests: gradients and
objectives in longdouble, Hessians and their systems in float64, which leaves errors in x that shrink by
many digits with each step. What comes out says how far it can be trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from references.loss_batch import Batch, Slopes
from references.loss_interior import interior_points
from references.loss_problem import LossProblem

Array: TypeAlias = NDArray[Any]

EPS = np.finfo(np.longdouble).eps
_STEPS = 40
_ALLOWED = 64.0
"""Residuals of the optimality conditions up to this many roundings count as zero."""


@dataclass(frozen=True, eq=False)
class LossSolution:
    """x feasible exactly, w = -∇P(x), and estimates of |w - w*| and of the distance of x to a solution.

    `residual` is the largest violation of the optimality conditions over the rounding error of ∇P.
    The estimates bound the errors to first order if the coordinates strictly inside their bounds here
    are inside in a solution. `accurate` is False where the conditions do not hold up to rounding: then
    x is feasible, its objective an upper bound on P*, and nothing else is promised.
    """

    x: Array
    w: Array
    x_error: Array
    w_error: Array
    objective: np.longdouble
    objective_error: np.longdouble
    residual: float
    accurate: bool


def reference_solutions(problems: Sequence[LossProblem]) -> list[LossSolution]:
    """A solution of each problem; those of the same loss and shape are solved together."""
    solutions: dict[int, LossSolution] = {}
    for numbers in _alike(problems):
        batch = Batch.stack([problems[number] for number in numbers])
        solutions.update(zip(numbers, _solve(batch), strict=True))
    return [solutions[number] for number in range(len(problems))]


def exact_values(
    problems: Sequence[LossProblem], points: Sequence[Array]
) -> list[tuple[np.longdouble, np.longdouble, np.longdouble]]:
    """P(x) of each in longdouble, a bound on its error, and the size of the terms it adds up."""
    values: dict[int, Any] = {}
    for numbers in _alike(problems):
        batch = Batch.stack([problems[number] for number in numbers])
        x = np.stack([points[number] for number in numbers]).astype(np.longdouble)
        with np.errstate(all="ignore"):
            slopes = batch.slopes(x * batch.unit)
        size = slopes.objective_size + np.abs(slopes.objective)
        values.update(
            (number, (slopes.objective[k], _ALLOWED * EPS * size[k], size[k]))
            for k, number in enumerate(numbers)
        )
    return [values[number] for number in range(len(problems))]


def _alike(problems: Sequence[LossProblem]) -> list[list[int]]:
    """Numbers of the problems, by loss and shape."""
    groups: dict[Any, list[int]] = defaultdict(list)
    for number, problem in enumerate(problems):
        groups[problem.loss, problem.A.shape].append(number)
    return list(groups.values())


def _solve(batch: Batch) -> list[LossSolution]:
    x = _identified(batch, *interior_points(batch))
    with np.errstate(all="ignore"):
        x, slopes = _polished(batch, x)
        return _with_errors(batch, x, slopes)


def _identified(batch: Batch, x: Array, z_lower: Array, z_upper: Array) -> Array:
    """Coordinates whose multiplier exceeds their distance to a bound are put there.

    None in problems where that leaves the domain.
    """
    inner = np.clip(x.astype(np.longdouble), batch.lower, batch.upper)
    with np.errstate(all="ignore"):
        x = np.where(z_lower > inner - batch.lower, batch.lower, inner)
        x = np.where(z_upper > batch.upper - x, batch.upper, x)
        slopes = batch.slopes(x)
    fine = np.isfinite(slopes.objective) & np.all(np.isfinite(slopes.gradient), axis=1)
    return np.where(fine[:, None], x, inner)


def _polished(batch: Batch, x: Array) -> tuple[Array, Slopes]:
    """Projected Newton steps until the residual is rounding, or they no longer help."""
    narrow = batch.astype(np.float64)
    x = x.copy()
    live = np.arange(len(x))
    damping = np.full(len(x), 1e-13)
    for _ in range(_STEPS):
        whole = len(live) == len(batch)
        part, part64 = (batch, narrow) if whole else (batch.take(live), narrow.take(live))
        slopes = part.slopes(x[live])
        noise = 16 * EPS * slopes.objective_size
        bad = _violation(part, x[live], slopes.gradient)
        left = np.any(~(bad <= 8 * EPS * slopes.gradient_size), axis=1)
        if not left.any():
            break
        part, part64, live = part.take(left), part64.take(left), live[left]
        gradient, free = slopes.gradient[left], _free(part, x[live], slopes.gradient[left])
        hessian = part64.hessian(x[live].astype(np.float64))
        d = _direction(hessian, free, gradient, damping[live])
        moved, length = _projected_search(part, x[live], d, slopes.objective[left], noise[left])
        x[live] = moved
        damping[live] = np.where(length == 0, np.maximum(damping[live] * 1e3, 1e-10), damping[live])
        live = live[(length > 0) | (damping[live] < 1e3)]
    return x, batch.slopes(x)


def _violation(batch: Batch, x: Array, gradient: Array) -> Array:
    """How far each ∂P/∂x_j is from the sign that x_j asks for."""
    low = np.where(x > batch.lower, gradient, 0)
    high = np.where(x < batch.upper, -gradient, 0)
    return np.maximum(np.maximum(low, high), 0) + np.where(np.isnan(gradient), np.inf, 0)


def _free(batch: Batch, x: Array, gradient: Array) -> Array:
    """Coordinates that may move: inside, or at a bound that the gradient leads away from."""
    kept_low = (x <= batch.lower) & (gradient >= 0)
    kept_high = (x >= batch.upper) & (gradient <= 0)
    return ~(kept_low | kept_high | (batch.lower == batch.upper))


def _inverse(hessian: Array, free: Array, damping: Array) -> tuple[Array, Array]:
    """Of the free block, damped relative to its diagonal; the identity elsewhere; and the scaling."""
    n = free.shape[1]
    both = free[:, :, None] & free[:, None, :]
    matrix = np.where(both & np.isfinite(hessian), hessian, 0.0)
    diagonal = matrix[:, np.arange(n), np.arange(n)]
    floor = np.maximum(diagonal.max(axis=1, keepdims=True) * 1e-30, 1e-290)
    scale = np.where(free, 1.0 / np.sqrt(np.maximum(diagonal, floor)), 1.0)
    matrix = matrix * scale[:, :, None] * scale[:, None, :]
    matrix[:, np.arange(n), np.arange(n)] += np.where(free, damping[:, None], 1.0)
    return np.linalg.pinv(matrix, rcond=1e-16, hermitian=True), scale


def _direction(hessian: Array, free: Array, gradient: Array, damping: Array) -> Array:
    inverse, scale = _inverse(hessian, free, damping)
    size = np.maximum(np.abs(gradient).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    rhs = (np.where(free, -gradient, 0) / size).astype(np.float64) * scale
    solved = (inverse @ rhs[:, :, None])[:, :, 0] * scale
    return np.where(free & np.isfinite(solved), solved, 0.0) * size


def _projected_search(
    batch: Batch, x: Array, d: Array, start: Array, noise: Array
) -> tuple[Array, Array]:
    """The longest of the steps 1, 1/2, ... along the projection arc that does not visibly raise P."""
    length = np.ones(len(x), dtype=np.longdouble)
    best = x.copy()
    open_ = np.arange(len(x))
    for _ in range(30):
        part = batch if len(open_) == len(batch) else batch.take(open_)
        trial = np.clip(x[open_] + length[open_, None] * d[open_], part.lower, part.upper)
        value = part.objective(trial)
        fine = value <= start[open_] + noise[open_]
        best[open_[fine]] = trial[fine]
        open_ = open_[~fine]
        if not len(open_):
            return best, length
        length[open_] /= 2
    length[open_] = 0
    return best, length


def _with_errors(batch: Batch, x: Array, slopes: Slopes) -> list[LossSolution]:
    rounding = 8 * EPS * slopes.gradient_size
    bad = _violation(batch, x, slopes.gradient)
    residual = np.max(bad / np.maximum(rounding, np.finfo(np.longdouble).tiny), axis=1)
    inside = (x > batch.lower) & (x < batch.upper)
    hessian = batch.astype(np.float64).hessian(x.astype(np.float64))
    inverse, scale = _inverse(hessian, inside, np.full(len(x), 1e-13))
    inverse = np.abs(inverse * scale[:, :, None] * scale[:, None, :])
    error = np.where(inside, rounding + bad, 0)
    x_error = 4 * (inverse @ error[:, :, None])[:, :, 0]
    spread = np.abs(_influence(hessian, inside, scale)) @ error[:, :, None]
    w_error = 4 * (rounding + bad + spread[:, :, 0])
    loose = np.sum((rounding + bad) * x_error, axis=1) + np.sum(bad * _width(batch, x), axis=1)
    objective_error = _ALLOWED * EPS * (slopes.objective_size + np.abs(slopes.objective)) + loose
    finite = np.all(np.isfinite(slopes.gradient), axis=1) & np.isfinite(slopes.objective)
    accurate = finite & (residual <= _ALLOWED) & ~_lost(batch, x, x_error)
    outer = np.where(batch.lower == batch.upper, batch.lower, x) / batch.unit
    unit = batch.unit
    return [
        LossSolution(
            outer[k],
            -slopes.gradient[k] * unit[k],
            x_error[k] / unit[k],
            w_error[k] * unit[k],
            slopes.objective[k],
            objective_error[k],
            float(residual[k]),
            bool(accurate[k]),
        )
        for k in range(len(x))
    ]


def _lost(batch: Batch, x: Array, x_error: Array) -> Array:
    """Slopes that tend to a limit leave ∇P = 0 up to rounding far from a solution, or without one."""
    if batch.loss not in ("logistic", "log_cosh"):
        return np.zeros(len(x), dtype=bool)
    matters = np.any(batch.A != 0, axis=1)
    return np.any(matters & ~(x_error <= 1e-2 * (1 + np.abs(x))), axis=1)


def _influence(hessian: Array, inside: Array, scale: Array) -> Array:
    """H[:, F] H[F, F]⁺: what an error of ∂P/∂x_F does to ∇P once x_F has moved to repair it."""
    inverse, scale = _inverse(hessian, inside, np.full(len(inside), 1e-13))
    held = np.where(inside[:, None, :] & np.isfinite(hessian), hessian, 0.0)
    return (held * scale[:, None, :]) @ inverse * scale[:, None, :]


def _width(batch: Batch, x: Array) -> Array:
    """How far x_j may be from a solution, where nothing else is known: its size, or its box."""
    return np.minimum(batch.upper - batch.lower, 1 + np.abs(x))
