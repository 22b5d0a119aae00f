"""From what the caller asks for to the one form that everything else works with."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .arrays import Array, Index
from .designs import Design, SparseDesign
from .designs.stacked import IdentityDesign, StackedDesign
from .linear_cost import LinearCost
from .losses import LeastSquares, Loss
from .losses.stacked import StackedLoss
from .losses.weighted import Weighted
from .problem import Problem
from .rounding import gamma
from .row_map import RowMap
from .solvers.prediction import worth_predicting


def pose(
    design: Design,
    target: Array,
    loss: Loss,
    lower: Array,
    upper: Array,
    *,
    weights: Array | None = None,
    cost: Array | None = None,
    ridge: float | Array | Design = 0.0,
    sweeping: bool = False,
) -> Problem:
    """The problem with its weights, its linear rows, its costs and its ridge term in place.

    Weights belong to the loss; rows with weight 0 are left out, and so are rows with a linear loss,
    which become costs. Rows of the ridge term are least-squares rows with target 0 under those of A,
    with the weight μ (exact, where √μ would not be). `sweeping`: the run will start with sweeps if
    that pays, and the first of them may be made by the survey.
    """
    if weights is not None and not np.all(weights == 1.0):
        loss = Weighted(loss, weights)
    row_map, linear, constant = None, None, 0.0
    kept, flat = _split(loss, target, weights)
    if kept is not None:
        linear, constant, known = _linear_part(design, target, loss, flat)
        row_map = RowMap(kept, known)
        design, target, loss = design.rows(kept), target[kept], loss.rows(kept)
    bottom, own = _ridge(ridge, design.shape[1]), None
    if bottom is not None:
        below, weight = bottom
        rows = below.shape[0]
        own = len(target) if isinstance(below, IdentityDesign) and rows == len(lower) else None
        loss = _stacked(loss, len(target), rows, weight)
        design = _on_top(design, below)
        target = np.append(target, np.zeros(rows))
        row_map = row_map or RowMap(np.arange(len(target) - rows), np.zeros(len(target) - rows))
    costs = _cost(cost, linear, len(lower), len(row_map.known) if row_map else 0)
    plain = isinstance(loss, LeastSquares) and costs is None
    sweeps = sweeping and plain and _sweeps_pay(lower, upper)
    survey = design.survey(target, (lower, upper) if sweeps else None)
    design.nonnegative = survey.nonnegative
    return Problem(
        design=design,
        target=target,
        loss=loss,
        lower=lower,
        upper=upper,
        survey=survey,
        cost=costs,
        constant=constant,
        row_map=row_map,
        first_own_row=own,
    )


def _sweeps_pay(lower: Array, upper: Array) -> bool:
    """Whether the box is bounded and holds 0, with enough coordinates inside for a run to start with
    sweeps."""
    inside = int(np.count_nonzero((lower < 0.0) & (upper > 0.0)))
    if not worth_predicting(inside, len(lower)):
        return False
    return bool(np.all((-np.inf < lower) & (lower <= 0.0) & (upper >= 0.0) & (upper < np.inf)))


def _split(loss: Loss, target: Array, weights: Array | None) -> tuple[Index | None, Index]:
    """Rows that stay, if any leave, and those that are linear."""
    silent = np.zeros(len(target), dtype=bool) if weights is None else weights == 0.0
    flat = loss.linear_rows(target)
    flat = np.zeros_like(silent) if flat is None else flat & ~silent
    if not (silent.any() or flat.any()):
        return None, np.flatnonzero(flat)
    return np.flatnonzero(~silent & ~flat), np.flatnonzero(flat)


def _linear_part(
    design: Design, target: Array, loss: Loss, flat: Index
) -> tuple[Array | None, float, Array]:
    """The cost and the constant that the linear rows make, and theta in the rows that leave."""
    known = np.zeros(len(target))
    if not len(flat):
        return None, 0.0, known
    part, y = loss.rows(flat), target[flat]
    nothing = np.zeros(len(flat))
    known[flat] = part.residual(nothing, y)
    return -design.rmatvec(known), part.objective(nothing, y), known


def _on_top(design: Design, below: Design) -> Design:
    """One design above the other; in one piece where both are sparse."""
    if isinstance(design, SparseDesign) and isinstance(below, SparseDesign | IdentityDesign):
        rows = below.matrix if isinstance(below, SparseDesign) else None
        lower = sparse.identity(below.shape[1]) if rows is None else rows
        return design.above(sparse.csc_array(lower))
    return StackedDesign(design, below)


def _cost(given: Array | None, linear: Array | None, n: int, rows: int) -> LinearCost | None:
    """Both costs together, with the rounding error of the one that was computed."""
    if given is None and linear is None:
        return None
    mine = np.zeros(n) if given is None else given
    if linear is None:
        return LinearCost(mine, np.abs(mine))
    # A >= 0 and slopes of one sign: the terms of the sum do not cancel.
    return LinearCost(mine + linear, np.abs(mine) + np.abs(linear), gamma(rows + 4))


def _ridge(ridge: float | Array | Design, n: int) -> tuple[Design, Array] | None:
    """The rows of the ridge term, one for each column with a penalty where it has no matrix, and their
    weights."""
    if isinstance(ridge, Design):
        return ridge, np.ones(ridge.shape[0])
    mu = np.broadcast_to(np.asarray(ridge, dtype=np.float64), (n,))
    penalised = np.flatnonzero(mu)
    if not len(penalised):
        return None
    if len(penalised) == n:
        return IdentityDesign(n, np.arange(n)), mu
    unit = sparse.csc_array(
        (np.ones(len(penalised)), (np.arange(len(penalised)), penalised)),
        shape=(len(penalised), n),
    )
    return SparseDesign(unit, nonnegative=True), mu[penalised]


def _stacked(loss: Loss, m: int, rows: int, weight: Array) -> Loss:
    """The loss of the data on m rows, and weighted squares on the others."""
    plain = bool(np.all(weight == 1.0))
    if isinstance(loss, LeastSquares) and plain:
        return loss
    base: Any = loss.loss if isinstance(loss, Weighted) else loss
    if isinstance(base, LeastSquares):
        mine = loss.weights if isinstance(loss, Weighted) else np.ones(m)
        return Weighted(base, np.append(mine, weight))
    squares: Loss = LeastSquares()
    if not plain:
        squares = Weighted(squares, np.array(weight))
    return StackedLoss(loss, squares, m)
