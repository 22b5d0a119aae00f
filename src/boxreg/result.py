"""What a solve returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .arrays import Array, Index
from .certificate import Certificate
from .floating_point import own_errstate
from .history import History
from .plan import Plan
from .proved import Proved
from .status import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Result(Proved):
    """The answer, its proof, and how it was reached.

    Attributes
    ----------
    x : the solution found; lower <= x <= upper holds exactly.
    theta : the dual point that proves it.
    lower, upper : the bounds, as vectors.
    gap : proved upper bound on P(x) - P*, rounding errors included.
    target_gap : the gap that was asked for, max(tol · P₀, atol).
    objective, dual_objective : P(x) and D(theta).
    status : how the run ended; its value is a sentence. `success` is True only for CONVERGED.
    screened : int8, -1 where x_j was proved to be at its lower bound, +1 at its upper bound.
    screened_at : the iteration at which each was proved; -1 elsewhere.
    n_iter : steps of the primal solver.
    work : products of length m with columns of A, in units of n of them.
    seconds : wall-clock time of the run.
    history : one entry for each check. Its last gap is the run's own; `gap` is the certificate's, and
        belongs to the best point where a run stopped early.
    certificate : everything recomputed from the unreduced data.
    plan : what was decided before the first step, and why; what a run changed about it.
    """

    x: Array
    theta: Array
    lower: Array
    upper: Array
    gap: float
    target_gap: float
    objective: float
    dual_objective: float
    status: Status
    message: str
    screened: npt.NDArray[np.int8]
    screened_at: Index
    n_iter: int
    work: float
    seconds: float
    history: History
    certificate: Certificate
    shape: tuple[int, int]
    scale: float
    """P₀, the objective at the projection of 0 on the box: what `tol` is relative to."""
    settings: dict[str, str] = field(default_factory=dict)
    plan: Plan = field(default_factory=Plan)

    @property
    def screening_ratio(self) -> float:
        """Share of the coordinates proved to sit at a bound."""
        return float(np.count_nonzero(self.screened)) / max(len(self.x), 1)

    @own_errstate
    def plot(self, axes: Any = None) -> Figure:
        """Gap and screening ratio against iterations and time (needs matplotlib)."""
        from .reporting.figure import convergence_figure

        return convergence_figure({self.settings.get("solver", "boxreg"): self}, axes)

    @own_errstate
    def report(self, path: str | Path | None = None) -> str:
        """One self-contained HTML page about the run; written to `path` if that is given.

        What was solved, the certificate, how the gap fell, which coordinates are at which bound and
        when each was proved. The page asks nothing of the network.
        """
        from .files import write_text
        from .reporting.page import result_page

        page = result_page(self)
        if path is not None:
            write_text(Path(path), page)
        return page

    @own_errstate
    def __repr__(self) -> str:
        from .reporting.text import result_text

        return result_text(self)

    @own_errstate
    def _repr_html_(self) -> str:
        from .reporting.html import result_html

        return result_html(self)
