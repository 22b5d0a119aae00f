"""The result of a problem that one compiled call has solved and proved."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .arrays import Index
from .certificate import Certificate
from .compile_time import Stopwatch
from .dense_fit import COMPILED, CertifiedFit, certificate_of
from .history import History
from .losses import LeastSquares
from .plan import Plan
from .proved import precision
from .result import Result
from .status import Status

_PLAN = (
    Plan()
    .decided("engine", COMPILED, "least squares with few entries")
    .decided("dual", "residual", "moved into the dual cone in the same call")
    .decided("region", "two_point_ball", "it costs no product")
)


class CompiledResult(Result):
    """A `Result` some of whose attributes are made when they are first asked for.

    Beside a problem that takes a few microseconds to solve they would take most of the time.
    """

    @classmethod
    def of(
        cls, found: CertifiedFit, watch: Stopwatch, terms: list[str], plan: Plan | None = None
    ) -> CompiledResult:
        """What was found since the watch began; `terms` are those beside the loss."""
        proof, result = found.proof, cls.__new__(cls)
        vars(result).update(
            x=found.x,
            theta=found.theta,
            lower=found.lower,
            upper=found.upper,
            gap=proof.gap,
            target_gap=proof.target,
            objective=proof.objective,
            dual_objective=proof.dual_objective,
            status=Status.CONVERGED,
            screened=found.screened,
            n_iter=proof.rounds,
            work=proof.products / len(found.x),
            shape=found.shape,
            scale=proof.scale,
            plan=_PLAN if plan is None else plan,
            seconds=watch.seconds,
            _proof=proof,
            _terms=terms,
        )
        return result

    @cached_property
    def certificate(self) -> Certificate:
        """That of the compiled call."""
        return certificate_of(vars(self)["_proof"])

    @cached_property
    def message(self) -> str:
        """How it ended, and how small the gap is."""
        said = (self.status.value, precision(self.certificate, self.scale))
        return " ".join(filter(None, said))

    @cached_property
    def screened_at(self) -> Index:
        """All at the end."""
        return np.where(self.screened == 0, -1, self.n_iter)

    @cached_property
    def history(self) -> History:
        """One check."""
        preserved = len(self.x) - int(np.count_nonzero(self.screened))
        known = (self.n_iter, self.seconds, self.work, self.objective, self.gap)
        return History.single(*known, preserved)

    @cached_property
    def settings(self) -> dict[str, str]:
        """As those of a run."""
        terms = ", ".join(vars(self)["_terms"])
        return {
            "solver": COMPILED,
            "dual": "residual",
            "region": "two_point_ball",
            "screening": "on",
            "loss": LeastSquares.name,
            **({"terms": terms} if terms else {}),
        }

    def __getstate__(self) -> dict[str, Any]:
        """All attributes, made or not."""
        for name in ("certificate", "message", "screened_at", "history", "settings"):
            getattr(self, name)
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}
