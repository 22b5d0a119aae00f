"""What `antisparse` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..certificate import Certificate
from ..floating_point import own_errstate
from ..proved import Proved
from ..status import Status

if TYPE_CHECKING:
    from .run import Outcome


@dataclass(frozen=True, repr=False)
class AntisparseResult(Proved):
    """The answer, its proof, and how it was reached.

    Attributes
    ----------
    x : the solution found.
    level : ||x||∞.
    squeezed : int8, the sign with which x_j was proved to be at ± ||x||∞ in every solution, else 0.
    theta : the dual point that proves it; ||Aᵀtheta||₁ <= penalty, rounding included.
    gap : proved upper bound on P(x) - P*, rounding errors included.
    target_gap : the gap that was asked for, max(tol · ½||y||², atol).
    objective, dual_objective : P(x) and D(theta).
    status, message : how the run ended. `success` is True only for CONVERGED.
    levels, n_iter : levels tried, and steps in all.
    work : products of length m with columns of A, in units of n of them.
    seconds : wall-clock time of the run.
    certificate : everything recomputed from the unreduced data.
    """

    x: Array
    level: float
    squeezed: npt.NDArray[np.int8]
    theta: Array
    gap: float
    target_gap: float
    objective: float
    dual_objective: float
    status: Status
    message: str
    levels: int
    n_iter: int
    work: float
    seconds: float
    certificate: Certificate
    penalty: float
    scale: float
    """½||y||², the objective at 0: what `tol` is relative to."""

    @classmethod
    def of(
        cls, outcome: Outcome, penalty: float, scale: float, target_gap: float, seconds: float
    ) -> AntisparseResult:
        """What a run found, for its caller."""
        proof = outcome.certificate
        return cls(
            x=outcome.x,
            level=float(np.max(np.abs(outcome.x), initial=0.0)),
            squeezed=outcome.squeezed,
            theta=outcome.theta,
            gap=proof.gap,
            target_gap=target_gap,
            objective=proof.objective,
            dual_objective=proof.dual_objective,
            status=outcome.status,
            message=outcome.status.value,
            levels=outcome.levels,
            n_iter=outcome.n_iter,
            work=outcome.work,
            seconds=seconds,
            certificate=proof,
            penalty=penalty,
            scale=scale,
        )

    @property
    def squeezing_ratio(self) -> float:
        """Share of the coordinates proved to be at ± ||x||∞."""
        return float(np.count_nonzero(self.squeezed)) / max(len(self.x), 1)

    @own_errstate
    def __repr__(self) -> str:
        from ..reporting.text import block, count, duration

        m, n = len(self.theta), len(self.x)
        proof = self.certificate
        negative, positive = (int(np.count_nonzero(self.squeezed == side)) for side in (-1, 1))
        said = [
            ("problem", f"{m} × {n}, least squares + {self.penalty:.6g} ‖x‖∞"),
            ("objective", f"{self.objective:.10g}, dual {self.dual_objective + 0.0:.10g}"),
            (
                "gap",
                f"{self.gap:.2e} ({self.relative_gap:.2e} of ½‖y‖², {self.gap_over_objective:.2e} of "
                f"P(x)), asked {self.target_gap:.2e}",
            ),
            ("level", f"{self.level:.10g}, reached by {self._reached()} of {n}"),
            (
                "squeezed",
                f"{100.0 * self.squeezing_ratio:.1f} %: {negative} at -level, {positive} at +level, "
                f"{n - negative - positive} open",
            ),
            (
                "effort",
                f"{count(self.levels, 'level')}, {count(self.n_iter, 'step')}, "
                f"work {self.work:,.1f}, {duration(self.seconds)}",
            ),
            ("certificate", f"{proof.verdict.label}: {proof.verdict.value}"),
            *(("", reason) for reason in proof.reasons),
        ]
        return block(self.message, said)

    def _reached(self) -> int:
        return int(np.count_nonzero(np.abs(self.x) == self.level))
