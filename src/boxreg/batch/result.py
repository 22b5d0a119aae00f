"""What `solve_many` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Mask
from ..floating_point import own_errstate
from ..reporting.text import duration
from ..status import Status

if TYPE_CHECKING:
    from .verification import BatchCertificate


class RhsStatus(IntEnum):
    """How one right-hand side ended: the codes in `BatchResult.status`."""

    CONVERGED = 0
    ITERATION_LIMIT = 1
    PRECISION_LIMIT = 2
    UNBOUNDED = 3
    NOT_ATTAINED = 4
    SKIPPED = 5
    TIME_LIMIT = 6
    NOT_PROVED = 7
    NOT_BEGUN = 8

    @classmethod
    def of(cls, status: Status) -> RhsStatus:
        """The code of a status of `solve`."""
        return cls[status.name]

    @property
    def sentence(self) -> str:
        """What it means."""
        if self is RhsStatus.SKIPPED:
            return "Not solved: the right-hand side is masked, or not finite."
        if self is RhsStatus.NOT_BEGUN:
            return "Not solved: the time limit was reached before its turn."
        return Status[self.name].value


@dataclass(frozen=True, repr=False)
class BatchResult:
    """Answers, one for each right-hand side, and their proofs.

    Attributes
    ----------
    x : like Y with the columns of A in place of its rows; a sparse matrix (columns of A × right-hand
        sides, or its transpose where Y has them so) if that was asked for; `out` if that was given.
    gap : upper bound on P(x) - P*, rounding included, for each right-hand side.
    proved : whether that bound is finite and rests on no assumption (see `Certificate.reasons`).
    objective : P(x).
    scale : P₀, the objective at the projection of 0 on the box; what `tol` is relative to.
    target_gap : the gap that was asked for.
    status : codes of `RhsStatus`.
    support : how many x_j are not 0.
    repaired : right-hand sides that the general solver took over.
    theta : dual points, like Y, if they were asked for.
    seconds : wall-clock time; where Y was a dask array, that of all chunks together.
    """

    x: Any
    gap: Array
    objective: Array
    scale: Array
    target_gap: Array
    status: npt.NDArray[np.int8]
    support: npt.NDArray[np.int32]
    repaired: Mask
    proved: Mask
    theta: Any
    seconds: float
    shape: tuple[int, int]
    settings: dict[str, str] = field(default_factory=dict)
    question: Any = None
    """What was asked: kept for `verify`."""
    direction: Array | None = None
    """Along which dual points were made feasible, if there was a need."""
    statistics: Any = None
    """One record for each chunk, where Y was a dask array (`LazyBatchResult.statistics`)."""

    @property
    def relative_gap(self) -> Array:
        """gap / P₀: what `tol` bounds; 0 where both are 0, NaN where nothing was solved."""
        return shares(self.gap, self.scale)

    @property
    def gap_over_objective(self) -> Array:
        """gap / |P(x)|: says more where P₀ is far larger than P(x); 0 where both are 0."""
        return shares(self.gap, self.objective)

    @property
    def success(self) -> bool:
        """Whether the gap asked for was reached for every right-hand side that was not skipped."""
        return bool(np.all((self.status == RhsStatus.CONVERGED) | self.skipped))

    @property
    def skipped(self) -> Mask:
        """Right-hand sides that were not solved, by choice."""
        return np.asarray(self.status == RhsStatus.SKIPPED)

    @property
    def unsolved(self) -> Mask:
        """Right-hand sides without an answer: skipped, or not begun when time ran out."""
        return np.asarray(self.skipped | (self.status == RhsStatus.NOT_BEGUN))

    @own_errstate
    def verify(self) -> BatchCertificate:
        """Compute every gap again from A, Y and x, and theta if it is there, by other code."""
        from .verification import verify_batch

        return verify_batch(self)

    def __len__(self) -> int:
        return int(self.gap.size)

    @own_errstate
    def __repr__(self) -> str:
        m, n = self.shape
        done = ~self.unsolved
        lines = [
            f"boxreg: {int(done.sum()):,} of {len(self):,} right-hand sides solved, "
            f"{int((self.status == RhsStatus.CONVERGED).sum()):,} to the gap asked for",
            f"  problem   {m} × {n}, {self.settings.get('loss', 'unnamed')} loss",
            f"  method    {self.settings.get('method', 'unnamed')}",
        ]
        if done.any():
            gaps, sizes = self.relative_gap[done], self.support[done]
            lines += [
                f"  gap       at most {np.max(gaps):.2e} of P₀ and "
                f"{np.max(self.gap_over_objective[done]):.2e} of P(x), "
                f"median {np.median(gaps):.2e} of P₀, asked {self.settings.get('tol', '?')}",
                f"  proved    {_how_many(self.proved[done])}",
                f"  support   {np.min(sizes)} to {np.max(sizes)} of {n}, mean {sizes.mean():.1f}",
            ]
        each = self.seconds / max(len(self), 1)
        lines.append(
            f"  effort    {duration(self.seconds)}, {duration(each)} each, "
            f"{int(self.repaired.sum())} by the general solver"
        )
        for code in RhsStatus:
            count = int((self.status == code).sum())
            if code is not RhsStatus.CONVERGED and count:
                lines.append(f"  {count:,} × {code.sentence}")
        return "\n".join(lines)


def shares(gap: Array, size: Array) -> Array:
    """gap / |size|, elementwise; 0 where both are 0."""
    with np.errstate(all="ignore"):
        relative = np.abs(gap / size)
    return np.where((gap == 0.0) & (size == 0.0), 0.0, relative)


def _how_many(flags: Mask) -> str:
    """All, or how many of how many."""
    if flags.all():
        return "every gap, rounding errors included"
    some = f"{int(flags.sum()):,} of {len(flags):,} gaps"
    return f"{some}; the others rest on assumptions, or are infinite"
