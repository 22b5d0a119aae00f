"""Every gap of a batch once more, by the code that checks single answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Mask
from ..certificate import Certificate, certificate_of
from ..dual_cone import DualCone
from ..duality import DualPoint
from ..point import Point
from ..presolve import reference_scale, unreduced
from ..reduced import ReducedProblem
from ..work import WorkMeter
from .bar import Bar
from .general import solve_one
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
        verdict = (
            "valid" if self else f"NOT valid for {len(wrong)}, the first at {wrong[0].tolist()}"
        )
        kind = "all rigorous" if np.all(self.rigorous) else f"{int(self.rigorous.sum())} rigorous"
        largest = float(np.nanmax(self.gap)) if self.checked else 0.0
        return f"{self.checked:,} certificates {verdict}, {kind}; largest gap {largest:.3g}"


def verify_batch(result: BatchResult, *, progress: bool = False) -> BatchCertificate:
    """Certificates for all answers, from the data alone; `progress` shows a bar on a terminal."""
    question: Question = result.question
    layout, n = question.layout, question.design.shape[1]
    flat = [np.full(layout.count, np.nan), np.ones(layout.count, bool), np.ones(layout.count, bool)]
    claims, skipped = result.gap.ravel(), result.unsolved.ravel()
    checker = _Checker(question, result.direction)
    bar = Bar(layout.count, enabled=progress)
    for begin, end in layout.chunks(4096):
        y, _ = layout.read(question.Y, begin, end)
        x = _answers(result.x, layout, n, begin, end)
        theta = None if result.theta is None else layout.read(result.theta, begin, end)[0]
        low, high = (b.rows(layout, begin, end) for b in (question.lower, question.upper))
        for p in range(len(y)):
            at = begin * layout.width + p
            bar.add(1)
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
    bar.close()
    gap, valid, rigorous = (part.reshape(layout.outer_shape) for part in flat)
    return BatchCertificate(gap, valid, rigorous, int((~skipped).sum()))


def _answers(x: Any, layout: Layout, n: int, begin: int, end: int) -> Array:
    """The answers of some lines, one a row."""
    if not hasattr(x, "tocsr"):
        return Layout(layout.shape_with(n), layout.axis).read(x, begin, end)[0]
    rows = (x.T if layout.axis == 0 else x).tocsr()
    return np.asarray(rows[begin * layout.width : end * layout.width].toarray())


class _Checker:
    """Certificates of single answers.

    Where theta was not kept it is built anew: the residual, moved into the dual feasible set along the
    direction, or towards the point, that the run used. It has to prove what was asked for, not all that
    the run may have proved with a better one. Where it does not, as may be for answers of the general
    solver, another run from x finds a theta.
    """

    def __init__(self, question: Question, direction: Array | None) -> None:
        self.question, self.direction = question, direction

    def certificate(
        self, y: Array, x: Array, theta: Array | None, lower: Array, upper: Array, claim: float
    ) -> Certificate:
        asked = self.question
        posed = validate.problem(asked.design, y, lower, upper, asked.loss, **asked.terms)
        whole = unreduced(posed, WorkMeter(len(x)))
        point = Point(whole, x)
        if theta is not None and not asked.terms:
            dual = DualPoint.at(validate.dual_point(theta, posed), whole)
            return certificate_of(posed, point, dual, claim)
        claim = max(claim, asked.tol * reference_scale(posed)[0])
        dual = self._cone(whole).push(DualPoint.residual(point), point)
        proof = certificate_of(posed, point, dual, claim)
        if proof.valid or not proof.primal_feasible or not np.isfinite(x).all():
            return proof
        found = solve_one(asked, y, lower, upper, x).theta
        dual = DualPoint.at(validate.dual_point(found, posed), whole)
        return certificate_of(posed, point, dual, claim)

    def _cone(self, whole: ReducedProblem) -> DualCone:
        m, n = whole.design.shape
        nothing = np.zeros(n, dtype=bool)
        if self.direction is not None and whole.cost is None and len(self.direction) == m:
            return DualCone(DualPoint.direction(self.direction, whole), nothing)
        if whole.loss.needs_nonnegative:
            return DualCone(None, nothing, anchor=DualPoint.at(np.full(m, -1.0), whole))
        return DualCone(None, nothing)
