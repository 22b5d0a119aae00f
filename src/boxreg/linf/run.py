"""The loop over levels and steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..certificate import Certificate
from ..history import Snapshot
from ..problem import Problem
from ..status import Status
from ..stopping import Limits
from ..work import WorkMeter
from .ledger import Ledger
from .level_search import LevelSearch
from .merged import Merged
from .proof import certify, squeezable


@dataclass(frozen=True)
class Outcome:
    """All that a run found out."""

    x: Array
    theta: Array
    certificate: Certificate
    status: Status
    squeezed: npt.NDArray[np.int8]
    levels: int
    n_iter: int
    work: float


def run(
    problem: Problem,
    penalty: float,
    limits: Limits,
    *,
    squeezing: bool,
    watch: Callable[[Snapshot], object] | None = None,
) -> Outcome:
    """Solve at a level, prove, squeeze, change the level: until the gap is small and stays put."""
    n = problem.design.shape[1]
    work = WorkMeter(n, deadline=limits.deadline)
    work.add(3 * n)  # the survey: norms, Aᵀ1 and Aᵀy
    search = LevelSearch(problem, penalty, work)
    ledger = Ledger(n, limits.target)
    for iteration in range(limits.max_iter + 1):
        proof = search.prove()
        ledger.record(iteration, search.state.point, search.objective, search.level, proof.gap)
        if watch is not None:
            watch(ledger.snapshot())
        moved = squeezing and search.squeeze(proof, ledger)
        if iteration == limits.max_iter or work.over:
            break
        if moved:
            continue  # the proof is about another point
        if not search.settled:
            search.step()
        elif ledger.polished(proof) or not search.change_level(proof):
            break
    whole = Merged.of(problem, penalty, work)
    certificate, last, point = certify(whole, ledger.x)
    if squeezing:
        ledger.note(whole, *squeezable(whole, point, last))
    if certificate.gap <= limits.target:
        status = Status.CONVERGED
    elif work.deadline.passed:
        status = Status.TIME_LIMIT
    elif iteration == limits.max_iter:
        status = Status.ITERATION_LIMIT
    else:
        status = Status.of_gap(certificate.gap, certificate.rounding)
    return Outcome(
        x=ledger.x,
        theta=last.dual.theta,
        certificate=certificate,
        status=status,
        squeezed=ledger.squeezed,
        levels=search.levels,
        n_iter=iteration,
        work=work.total,
    )
