"""`boxreg verify` where there are many right-hand sides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy import sparse

from ..arrays import Array, Mask
from ..files import BatchCertificateFile, Held, digest, digest_stack, read_stack
from .describing import described
from .errors import BadInput
from .problems import TERMS, make_loss
from .verdicts import conclude

if TYPE_CHECKING:
    from ..batch.question import Question
    from ..batch.verification import BatchCertificate


def verify_stack(
    held: BatchCertificateFile, A: Held, y: Held, folder: Path, remarks: list[str]
) -> int:
    """Recompute every gap; figures, then the verdict."""
    x = read_stack(str(folder / held.x), "x")
    click.echo(described("x", x))
    try:
        question = _question(held, A, y)
        _check_shape(x, question)
        wrong, solved = _disagreements(held, question)
        proof = _proof(held, question, x.array, solved)
    except (TypeError, ValueError) as error:
        raise BadInput(str(error)) from error
    matches = {
        "A": digest(A.array) == held.digests["A"],
        "Y": digest_stack(question.Y, question.layout) == held.digests["y"],
    }
    return _verdict(held, proof, matches, [*wrong, *proof.reasons], remarks)


def _question(held: BatchCertificateFile, A: Held, y: Held) -> Question:
    from ..batch.question import asked

    Y = y.array.toarray() if bool(sparse.issparse(y.array)) else y.array
    if tuple(A.array.shape) != (held.shape[held.axis], held.columns):
        shape = " × ".join(map(str, A.array.shape))
        raise BadInput(
            f"A: the certificate is for {held.shape[held.axis]} × {held.columns} data, got {shape}"
        )
    if tuple(Y.shape) != held.shape:
        raise BadInput(f"y: the certificate is for shape {held.shape}, got {tuple(Y.shape)}")
    problem, loss = held.problem, make_loss(held.problem["loss"])
    terms = {name: problem[name] for name in TERMS if name in problem}
    bounds = problem["lower"], problem["upper"]
    return asked(A.array, Y, *bounds, loss, held.tol, held.axis, "skip", terms)


def _check_shape(x: Held, question: Question) -> None:
    layout, n = question.layout, question.design.shape[1]
    expected = layout.shape_with(n)
    if bool(sparse.issparse(x.array)):
        expected = (n, layout.count) if layout.axis == 0 else (layout.count, n)
    if tuple(x.array.shape) != expected:
        raise BadInput(f"x: {x.place} has shape {tuple(x.array.shape)}, expected {expected}")


def _disagreements(held: BatchCertificateFile, question: Question) -> tuple[list[str], Mask]:
    """Where a claim is made of what cannot be solved, or none of what can; and what is to be checked."""
    layout = question.layout
    solvable = np.ones(layout.count, dtype=bool)
    for begin, end in layout.chunks(4096):
        some = slice(begin * layout.width, end * layout.width)
        solvable[some] = question.solvable(*layout.read(question.Y, begin, end))
    claimed = ~np.isnan(held.gap).ravel()
    reasons = []
    for wrong, what in (
        (claimed & ~solvable, "has a gap, but it is not finite, or not allowed by the loss"),
        (~claimed & solvable, "has no gap, but it could be solved"),
    ):
        if wrong.any():
            at = layout.position(0, int(np.flatnonzero(wrong)[0]))
            reasons.append(f"right-hand side {_place(at)} {what} ({int(wrong.sum())} such)")
    return reasons, claimed & solvable


def _proof(
    held: BatchCertificateFile, question: Question, x: Any, solved: Mask
) -> BatchCertificate:
    from ..batch.result import BatchResult, RhsStatus
    from ..batch.verification import verify_batch

    nothing = np.zeros(held.gap.shape)
    status = np.where(solved.reshape(held.gap.shape), RhsStatus.CONVERGED, RhsStatus.SKIPPED)
    claims = BatchResult(
        x=x,
        gap=held.gap,
        objective=nothing,
        scale=nothing,
        target_gap=nothing,
        status=status.astype(np.int8),
        support=nothing.astype(np.int32),
        repaired=nothing.astype(bool),
        proved=nothing.astype(bool),
        theta=None,
        seconds=0.0,
        shape=question.design.shape,
        question=question,
        direction=held.direction,
    )
    return verify_batch(claims, progress=True)


def _verdict(
    held: BatchCertificateFile,
    proof: BatchCertificate,
    matches: dict[str, bool],
    reasons: list[str],
    remarks: list[str],
) -> int:
    from ..batch.verification import largest_of

    total, checked = held.gap.size, int(proof.checked.sum())
    click.echo(f"checked  {checked:,} of {total:,} right-hand sides, {_skipped(held.gap)}")
    click.echo(f"proved   {int(proof.proved.sum()):,} of {checked:,}")
    click.echo(f"refuted  {int(proof.refuted.sum()):,} of {checked:,}")
    click.echo(f"gap      {largest_of(proof.gap):.6g} at most, claimed {largest_of(held.gap):.6g}")
    said = f"every P(x) exceeds its minimum by at most the gap claimed, or {held.tol:g} of P₀"
    return conclude(proof.verdict, said, matches, reasons, remarks)


def _skipped(gap: Array) -> str:
    count = int(np.isnan(gap).sum())
    return f"{count:,} were skipped" if count else "none was skipped"


def _place(at: tuple[int, ...]) -> str:
    return str(at[0] if len(at) == 1 else at)
