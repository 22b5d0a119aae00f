"""Every gap of a batch once more, by the code that checks single answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Mask
from ..certificate import Certificate, Verdict, certificate_of
from ..dual_cone import DualCone, completed, interior_slope
from ..duality import DualPoint
from ..point import Point
from ..presolve import reference_scale, unreduced
from ..problem import Problem
from ..reduced import ReducedProblem
from ..work import WorkMeter
from .bar import Bar
from .general import solve_one
from .layout import Layout
from .question import Question
from .result import BatchResult


@dataclass(frozen=True)
class BatchCertificate:
    """What A, Y and x prove: every gap computed again, and what that says of its claim.

    True if every claim is PROVED. Right-hand sides that were skipped claim nothing.

    Attributes
    ----------
    gap : the smallest bound on P(x) - P* that was found; NaN where nothing was claimed.
    claim : the claim that was judged: the gap of the result, or where its dual points were not kept the
        larger of that and tol · P₀.
    checked : right-hand sides that claim something.
    proved, refuted : those whose certificate is PROVED, and REFUTED; the others are NOT_PROVED.
    reasons : why the first one that is not PROVED is not, with its place; empty if all are.
    """

    gap: Array
    claim: Array
    checked: Mask
    proved: Mask
    refuted: Mask
    reasons: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """REFUTED if one claim is, PROVED if all are, else NOT_PROVED."""
        if self.refuted.any():
            return Verdict.REFUTED
        return Verdict.PROVED if np.all(self.proved | ~self.checked) else Verdict.NOT_PROVED

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PROVED

    def __str__(self) -> str:
        count, largest = int(self.checked.sum()), largest_of(self.gap)
        said = f"{self.proved.sum():,} of {count:,} gaps proved, {self.refuted.sum():,} refuted"
        lines = [f"{self.verdict.label}: {said}; largest gap {largest:.3g}"]
        return "\n".join([*lines, *(f"  {reason}" for reason in self.reasons)])


def largest_of(gap: Array) -> float:
    """The largest of some gaps, leaving out NaN; 0 if there are none."""
    return float(np.max(gap[~np.isnan(gap)], initial=0.0))


def verify_batch(result: BatchResult, *, progress: bool = False) -> BatchCertificate:
    """Certificates for all answers, from the data alone; `progress` shows a bar on a terminal."""
    question: Question = result.question
    layout, n = question.layout, question.design.shape[1]
    gap, claim = np.full(layout.count, np.nan), np.full(layout.count, np.nan)
    proved, refuted = np.zeros(layout.count, dtype=bool), np.zeros(layout.count, dtype=bool)
    claims, skipped = result.gap.ravel(), result.unsolved.ravel()
    checker = _Checker(question, result.direction)
    first: tuple[int, tuple[str, ...]] | None = None
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
                1.0 if question.levels is None else float(question.levels[at]),
            )
            gap[at], claim[at] = proof.gap, proof.claimed_gap
            proved[at], refuted[at] = bool(proof), proof.verdict is Verdict.REFUTED
            if first is None and not proof:
                first = at, proof.reasons
    bar.close()
    shape = layout.outer_shape
    made = BatchCertificate(
        gap=gap.reshape(shape),
        claim=claim.reshape(shape),
        checked=~skipped.reshape(shape),
        proved=proved.reshape(shape),
        refuted=refuted.reshape(shape),
    )
    return made if first is None else replace(made, reasons=_reasons(made, *first))


def _reasons(found: BatchCertificate, at: int, why: tuple[str, ...]) -> tuple[str, ...]:
    """The reasons of the first right-hand side that is not proved, and how many others are not."""
    place = tuple(int(k) for k in np.unravel_index(at, found.gap.shape))
    named = str(place[0] if len(place) == 1 else place)
    count = int(np.count_nonzero(found.checked & ~found.proved))
    return tuple(f"right-hand side {named}: {reason} ({count} not proved)" for reason in why)


def _rows_of(posed: Problem) -> int:
    """Components of the caller's dual point: rows of A, and of the ridge term."""
    rows = posed.row_map
    return posed.design.shape[0] + (0 if rows is None else len(rows.known) - len(rows.kept))


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
    solver, another run finds a theta: from x, or from where the general solver starts.
    """

    def __init__(self, question: Question, direction: Array | None) -> None:
        self.question, self.direction = question, direction

    def certificate(
        self,
        y: Array,
        x: Array,
        theta: Array | None,
        lower: Array,
        upper: Array,
        claim: float,
        level: float = 1.0,
    ) -> Certificate:
        asked = self.question
        terms = asked.terms_at(level)
        posed = validate.problem(asked.design, y, lower, upper, asked.loss, **terms)
        whole = unreduced(posed, WorkMeter(len(x)))
        point = Point(whole, x)
        if theta is not None and not asked.terms:
            dual = DualPoint.at(validate.dual_point(theta, posed), whole)
            return certificate_of(posed, point, dual, claim)
        claim = max(claim, asked.tol * reference_scale(posed)[0])
        dual = DualPoint.residual(point)
        if theta is not None:
            found = np.append(theta, np.zeros(_rows_of(posed) - len(theta)))
            inner = validate.dual_point(found, posed)
            own = len(inner) - (len(theta) if posed.row_map is None else len(posed.row_map.kept))
            inner[len(inner) - own :] = dual.theta[len(inner) - own :]
            dual = DualPoint.at(inner, whole)
        dual = self._cone(posed, whole).push(completed(dual, point), point)
        proof = certificate_of(posed, point, dual, claim)
        if proof or proof.verdict is Verdict.REFUTED:
            return proof
        for start in (x, None):
            found = solve_one(asked, y, lower, upper, start, level=level).theta
            dual = DualPoint.at(validate.dual_point(found, posed), whole)
            again = certificate_of(posed, point, dual, claim)
            if again:
                return again
            proof = min(proof, again, key=lambda held: held.gap)
        return proof

    def _cone(self, posed: Problem, whole: ReducedProblem) -> DualCone:
        m, n = whole.design.shape
        nothing = np.zeros(n, dtype=bool)
        if self.direction is not None and posed.loss.quadratic:
            t = np.append(self.direction, np.zeros(_rows_of(posed) - len(self.direction)))
            t = validate.dual_point(t, posed)
            made = DualPoint.direction(t, whole)
            if np.all(interior_slope(made, whole)[whole.constrained] > 0.0):  # false for NaN
                return DualCone(made, nothing)
        if whole.loss.needs_nonnegative:
            return DualCone(None, nothing, anchor=DualPoint.at(np.full(m, -1.0), whole))
        return DualCone(None, nothing)
