"""What is computed once for A, and used for every right-hand side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Index
from ..directions import build_cone
from ..duality import DualPoint
from ..presolve import presolve
from ..rounding import SLACK
from ..settings import current
from ..work import WorkMeter
from .question import Question


@dataclass(frozen=True)
class Shared:
    """The arguments of the compiled path that belong to A and the bounds."""

    model: Any
    way: Any
    unbounded: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


def compiled_path(question: Question) -> bool:
    """Whether A is small enough, and its entries can be seen."""
    m, n = question.design.shape
    return question.design.has_columns and 0 < m * n <= current().batch_entries


def dense(question: Question) -> Array:
    """A as a writeable row-major float64 array."""
    n = question.design.shape[1]
    return np.array(question.design.columns(np.arange(n)), dtype=np.float64, order="C")


def worth_a_gram(n: int, count: int) -> bool:
    """Whether n products with A, once, save more than they cost."""
    return n <= current().batch_gram_columns and n <= current().batch_gram_rounds * count


def share(question: Question, gram_needed: bool = False) -> Shared | None:
    """The Gram matrix, and a direction into the dual cone; None where bounds are of too many kinds.

    Columns may be bounded for one right-hand side and not for another, but not from above here and
    from below there, and not without any bound for some only.
    """
    from ..kernels.growing_factor import Model

    pattern = infinities(question)
    if pattern is None:
        return None
    rows = dense(question)
    m, n = rows.shape
    columns = np.ascontiguousarray(rows.T)
    posed = _posed(question, rows, pattern)
    gram = np.zeros((0, 0))
    if question.loss.quadratic and (gram_needed or worth_a_gram(n, question.layout.count)):
        gram = np.ascontiguousarray(rows.T @ rows)
    norms = posed.survey.norms.copy()
    model = Model(gram, rows, columns, norms, np.zeros(0))
    unbounded = np.flatnonzero(np.isneginf(pattern[0]) & np.isposinf(pattern[1]))
    return Shared(model, _way(posed, m), unbounded)


def way_for(question: Question, rows: Array, pattern: tuple[Array, Array]) -> Any:
    """The direction alone, for other bounds than the model was made with."""
    return _way(_posed(question, rows, pattern), len(rows))


def _posed(question: Question, rows: Array, pattern: tuple[Array, Array]) -> Any:
    lower, upper = pattern
    if question.loss.needs_nonnegative:
        reachable = np.abs(rows).sum(axis=1)
        validate.problem(rows, reachable, lower, upper, question.loss)  # A >= 0, lower >= 0
    return validate.problem(rows, np.zeros(len(rows)), lower, upper, "least_squares")


def _way(posed: Any, m: int) -> Any:
    from ..kernels.box_certificates import Way

    reduced = presolve(posed, WorkMeter(posed.design.shape[1]))
    cone = build_cone(reduced, "auto", posed.survey.sums)
    t: DualPoint | None = None if cone.implicit.any() else cone.direction
    free, scale, least, rows = np.zeros(0, dtype=np.intp), np.zeros(0), 0.0, np.zeros(0)
    columns = reduced.equality
    metric = None if columns is None else columns.metric(None)
    if columns is not None and metric is not None and len(metric.chosen) == len(columns.index):
        # ||VᵀD⁻¹δ|| <= sum_j |δ_j| ||row j of D⁻¹V|| <= √k ||δ / scale||, as `EqualityMetric` has it.
        free, rows = columns.index[metric.chosen].astype(np.intp), metric.rows.copy()
        scale = 1.0 / (np.linalg.norm(metric.inverse, axis=1) * SLACK)
        least = 1.0 / float(np.sqrt(len(free)) * SLACK)
    if t is None:
        return Way(np.zeros(0), np.zeros(0), 0.0, 0.0, free, scale, least, rows)
    size = t.size * SLACK
    return Way(t.theta.copy(), t.correlation.copy(), size, float(t.error), free, scale, least, rows)


def infinities(question: Question) -> tuple[Array, Array] | None:
    """Bounds with the infinities of all right-hand sides; None where they contradict each other."""
    low, high = question.lower, question.upper
    if not (low.each or high.each):
        return np.asarray(low.value), np.asarray(high.value)
    n = question.design.shape[1]
    above, below = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    both, some = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for begin, end in question.layout.chunks(4096):
        lower = low.rows(question.layout, begin, end)
        upper = high.rows(question.layout, begin, end)
        validate.bounds_in_order(lower, upper)
        if question.loss.needs_nonnegative and np.any(lower < 0.0):
            raise ValueError(f"loss: {question.loss.name!r} needs lower >= 0")
        no_upper, no_lower = np.isposinf(upper), np.isneginf(lower)
        free = no_upper & no_lower
        above |= (no_upper & ~free).any(axis=0)
        below |= (no_lower & ~free).any(axis=0)
        both |= free.any(axis=0)
        some |= (~free).any(axis=0)
    if np.any(both & some) or np.any(above & below):
        return None
    return np.where(below | both, -np.inf, 0.0), np.where(above | both, np.inf, 1.0)
