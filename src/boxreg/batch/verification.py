"""Every gap of a batch once more, by the code that checks single answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Mask
from ..certificate import Certificate, certificate_of, unreduced
from ..directions import build_cone, first_cone
from ..dual_cone import DualCone
from ..duality import DualPoint
from ..point import Point
from ..problem import Problem
from ..reduced import ReducedProblem
from ..work import WorkMeter
from .layout import Layout
from .question import Question
from .result import BatchResult


@dataclass(frozen=True)
class BatchCertificate:
    """What A, Y and x prove: gaps computed again, and whether each claim is true.

    True if every answer is feasible, and no gap larger than was claimed but for rounding. Right-hand
    sides that were skipped claim nothing.
    """

    gap: Array
    valid: Mask
    rigorous: Mask
    checked: int

    def __bool__(self) -> bool:
        return bool(np.all(self.valid))

    def __str__(self) -> str:
        wrong = np.argwhere(~self.valid)
        verdict = "valid" if self else f"NOT valid for {len(wrong)}, the first at {wrong[0].tolist()}"
        kind = "all rigorous" if np.all(self.rigorous) else f"{int(self.rigorous.sum())} rigorous"
        largest = float(np.nanmax(self.gap)) if self.checked else 0.0
        return f"{self.checked:,} certificates {verdict}, {kind}; largest gap {largest:.3g}"


def verify_batch(result: BatchResult) -> BatchCertificate:
    """Certificates for all answers, from the data alone."""
    question: Question = result.question
    layout, n = question.layout, question.design.shape[1]
    flat = [np.full(layout.count, np.nan), np.ones(layout.count, bool), np.ones(layout.count, bool)]
    claims, skipped = result.gap.ravel(), result.skipped.ravel()
    checker = _Checker(question)
    for begin, end in layout.chunks(4096):
        y, _ = layout.read(question.Y, begin, end)
        x = _answers(result.x, layout, n, begin, end)
        theta = None if result.theta is None else layout.read(result.theta, begin, end)[0]
        low, high = (b.rows(layout, begin, end) for b in (question.lower, question.upper))
        for p in range(len(y)):
            at = begin * layout.width + p
            if skipped[at]:
                continue
            proof = checker.certificate(
                y[p],
                x[p],
                None if theta is None else theta[p],
                low[p if len(low) > 1 else 0],
                high[p if len(high) > 1 else 0],
                float(claims[at]),
            )
            flat[0][at], flat[1][at], flat[2][at] = proof.gap, proof.valid, proof.rigorous
    gap, valid, rigorous = (part.reshape(layout.outer_shape) for part in flat)
    return BatchCertificate(gap, valid, rigorous, int((~skipped).sum()))


def _answers(x: Any, layout: Layout, n: int, begin: int, end: int) -> Array:
    """The answers of some lines, one a row."""
    if not hasattr(x, "tocsr"):
        return Layout(layout.shape_with(n), layout.axis).read(x, begin, end)[0]
    rows = (x.T if layout.axis == 0 else x).tocsr()
    return np.asarray(rows[begin * layout.width : end * layout.width].toarray())


class _Checker:
    """Certificates of single answers; the dual cone is kept while the bounds stay the same."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._cone: tuple[Array, Array, DualCone] | None = None

    def certificate(
        self, y: Array, x: Array, theta: Array | None, lower: Array, upper: Array, claim: float
    ) -> Certificate:
        asked = self.question
        posed = validate.problem(asked.design, y, lower, upper, asked.loss, **asked.terms)
        whole = unreduced(posed, WorkMeter(len(x)))
        point = Point(whole, x)
        if theta is not None and not asked.terms:
            dual = DualPoint.at(validate.dual_point(theta, posed), whole)
        else:
            dual = self._cone_of(posed, whole).push(DualPoint.residual(point), point)
        return certificate_of(posed, point, dual, claim)

    def _cone_of(self, posed: Problem, whole: ReducedProblem) -> DualCone:
        lower, upper = posed.lower, posed.upper
        if self._cone is not None and posed.loss.quadratic and not self.question.terms:
            known = self._cone
            if np.array_equal(known[0], lower) and np.array_equal(known[1], upper):
                return known[2]
        cone = first_cone(whole, "auto", posed.survey.sums, exact=True)
        if cone.pending:
            cone = build_cone(whole, "auto", posed.survey.sums)
        self._cone = (lower, upper, cone)
        return cone
