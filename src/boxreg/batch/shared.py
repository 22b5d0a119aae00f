"""What is computed once for A, and used for every right-hand side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Index
from ..directions import build_cone
from ..duality import DualPoint
from ..equality_columns import EqualityMetric
from ..losses.kullback_leibler import KullbackLeibler
from ..losses.least_squares import LeastSquares
from ..presolve import presolve
from ..rounding import SLACK, SMALLEST_NORM, UNIT_ROUNDOFF, gamma
from ..settings import current
from ..work import WorkMeter
from .question import Question
from .terms import Terms


@dataclass(frozen=True)
class Shared:
    """The arguments of the compiled path that belong to A, the bounds and other terms."""

    model: Any
    way: Any
    unbounded: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    terms: Terms = field(default_factory=Terms)
    soft: Array = field(default_factory=lambda: np.zeros(0))
    """See `Terms.soft`."""


def compiled_path(question: Question) -> bool:
    """Whether A is small enough, and its entries can be seen."""
    m, n = question.design.shape
    return question.design.has_columns and 0 < m * n <= current().batch_entries


def compiled_loss(question: Question) -> bool:
    """Whether there are kernels for the loss, with these terms."""
    if isinstance(question.loss, KullbackLeibler):
        return type(question.loss) is KullbackLeibler and question.plain
    return type(question.loss) is LeastSquares


def dense(question: Question) -> Array:
    """A as a writeable row-major float64 array."""
    n = question.design.shape[1]
    return np.array(question.design.columns(np.arange(n)), dtype=np.float64, order="C")


def worth_a_gram(m: int, n: int, count: int) -> bool:
    """Whether n products with A, once and by BLAS, save more than they cost."""
    settings = current()
    rounds = max(settings.batch_gram_rounds, settings.batch_gram_free * min(m, n))
    return n <= settings.batch_gram_columns and n <= rounds * count


def better_one_by_one(question: Question) -> bool:
    """Whether least squares are better solved by `solve`, which looks at each problem by itself.

    On large A the kernels are fast with a Gram matrix only, which a few right-hand sides do not repay.
    """
    (m, n), settings = question.design.shape, current()
    large = question.loss.quadratic and m * n > settings.small_entries
    return large and n > settings.batch_gram_rounds * question.layout.count


def share(question: Question, gram_needed: bool = False) -> Shared | None:
    """The Gram matrix, and a direction into the dual cone; None where bounds are of too many kinds, or a
    ridge term has too many rows.

    Columns may be bounded for one right-hand side and not for another, but not from above here and
    from below there, and not without any bound for some only.
    """
    from ..kernels.growing_factor import Model

    pattern, terms = (
        infinities(question),
        Terms.of(question.terms, question.design.shape, question.levels),
    )
    if pattern is None or terms is None:
        return None
    rows = terms.stacked(dense(question))
    m, n = rows.shape
    columns = np.ascontiguousarray(rows.T)
    gram = np.zeros((0, 0))
    if question.loss.quadratic and (gram_needed or worth_a_gram(m, n, question.layout.count)):
        gram = np.ascontiguousarray(rows.T @ rows)
    norms = validate.design(rows).column_norms()
    if np.any((norms > 0.0) & ~((norms >= SMALLEST_NORM) & (norms <= 1.0 / SMALLEST_NORM))):
        return None  # as may be with weights
    squares = norms * norms + (0.0 if terms.ridge is None else terms.ridge)
    inverse = np.divide(1.0, np.sqrt(squares), out=np.zeros(n), where=squares > 0.0)
    ridge = np.zeros(0) if terms.ridge is None else terms.ridge
    model = Model(gram, rows, columns, norms, np.zeros(0), ridge, inverse)
    unbounded = np.flatnonzero(np.isneginf(pattern[0]) & np.isposinf(pattern[1]))
    bare = Shared(model, None, unbounded, terms)
    way, soft = way_for(question, bare, pattern)
    return replace(bare, way=way, soft=soft)


def way_for(question: Question, shared: Shared, pattern: tuple[Array, Array]) -> tuple[Any, Array]:
    """The direction, and where a ridge term spares one (`Terms.soft`), for these bounds.

    A faint ridge term is used only where there is no direction.
    """
    terms, norms, rows = shared.terms, shared.model.norms, shared.model.rows
    for share in (current().batch_soft_ridge, 0.0):
        soft = terms.soft(norms, share)
        spared = np.zeros(len(norms), dtype=bool) if terms.ridge is None else soft > 0.0
        low, high = np.where(spared, 0.0, pattern[0]), np.where(spared, 1.0, pattern[1])
        way = None
        if question.loss.quadratic:
            way = _plain_way(rows, norms, low, high, terms.scaled)
        if way is not None:
            break
        posed = _posed(question, rows, (low, high))
        unscaled = None
        if terms.weights is not None:
            unscaled = terms.stacked(dense(question), scaled=False)
        way = _way(posed, len(rows), terms, unscaled)
        one_sided = np.any(np.isinf(low) != np.isinf(high))
        if terms.ridge is None or len(way.t) or not one_sided:
            break
    return way, soft


def _plain_way(rows: Array, norms: Array, low: Array, high: Array, scaled: int) -> Any:
    """The direction -1 where A >= 0 and no lower bound is missing, none where no bound is; None where
    there is more to look at."""
    from ..kernels.box_certificates import Way

    nearest = np.abs(np.clip(0.0, low, high))
    if np.isneginf(low).any() or not float(nearest @ norms) <= validate.LARGEST:
        return None
    nothing, index = np.zeros(0), np.zeros(0, dtype=np.intp)
    if not np.isposinf(high).any():
        return Way(nothing, nothing, 0.0, 0.0, index, nothing, 0.0, nothing)
    sums, size = rows.sum(axis=0), float(np.sqrt(len(rows))) * SLACK
    if rows.min() < 0.0 or not np.all(sums >= current().batch_ones_margin * size * norms):
        return None
    if not np.all(norms > 0.0):
        return None
    error = gamma(len(rows) + 2 + scaled) * size * SLACK
    return Way(np.full(len(rows), -1.0), -sums, size, error, index, nothing, 0.0, nothing)


def _posed(question: Question, rows: Array, pattern: tuple[Array, Array]) -> Any:
    lower, upper = pattern
    if question.loss.needs_nonnegative:
        reachable = np.abs(rows).sum(axis=1)
        validate.problem(rows, reachable, lower, upper, question.loss)  # A >= 0, lower >= 0
    return validate.problem(rows, np.zeros(len(rows)), lower, upper, "least_squares")


def _way(posed: Any, m: int, terms: Terms | None = None, unscaled: Array | None = None) -> Any:
    """The direction and the metric of the free columns.

    With weights `posed` has √ω ∘ A, rounded: the direction's products are off by that much more, and the
    metric is that of the `unscaled` A in the weights' own metric, its rows over √ω.
    """
    from ..kernels.box_certificates import Way

    reduced = presolve(posed, WorkMeter(posed.design.shape[1]))
    cone = build_cone(reduced, "auto", posed.survey.sums)
    t: DualPoint | None = None if cone.implicit.any() else cone.direction
    free, scale, least, rows = np.zeros(0, dtype=np.intp), np.zeros(0), 0.0, np.zeros(0)
    columns = reduced.equality
    metric = None if columns is None else columns.metric(None)
    if columns is not None and metric is not None and terms is not None and unscaled is not None:
        assert terms.weights is not None
        h = np.append(terms.weights, np.ones(terms.rows_below))
        metric = EqualityMetric.of(unscaled[:, columns.index], h)
        if metric is not None:
            moved = np.divide(metric.rows, np.sqrt(h), out=np.zeros(m), where=h > 0.0) * SLACK
            metric = replace(metric, rows=moved)
    if columns is not None and metric is not None and len(metric.chosen) == len(columns.index):
        # ||VᵀD⁻¹δ|| <= sum_j |δ_j| ||row j of D⁻¹V|| <= √k ||δ / scale||, as `EqualityMetric` has it.
        free, rows = columns.index[metric.chosen].astype(np.intp), metric.rows.copy()
        scale = 1.0 / (np.linalg.norm(metric.inverse, axis=1) * SLACK)
        least = 1.0 / float(np.sqrt(len(free)) * SLACK)
    if t is None:
        return Way(np.zeros(0), np.zeros(0), 0.0, 0.0, free, scale, least, rows)
    size = t.size * SLACK
    error = float(t.error) + (0 if terms is None else terms.scaled) * UNIT_ROUNDOFF * size
    return Way(t.theta.copy(), t.correlation.copy(), size, error, free, scale, least, rows)


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
