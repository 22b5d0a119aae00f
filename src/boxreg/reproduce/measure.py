"""One measurement: solve, time, verify."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ..api import solve, verify
from ..history import Snapshot
from ..result import Result
from ..status import Status
from ..warning_types import ConvergenceWarning
from .case import Case
from .off_the_clock import OffTheClock
from .ways import Way

GAP = 1e-6
"""The absolute gap at which every run stops, as in the paper."""

_POINTS = 200
"""Points of a history that are kept for the figures."""

Figures = dict[str, Any]
Track = list[Any]
"""Arrays of iterations, seconds and work, one entry a check."""


@dataclass(frozen=True)
class Policy:
    """cap: seconds after which a run is stopped. Runs are repeated `repeats` times, or until they have
    taken `budget` seconds together; the best time counts."""

    cap: float
    repeats: int = 3
    budget: float = 3.0

    def settings(self) -> Figures:
        """What decides the figures."""
        return asdict(self)


def measured(case: Case, way: Way, policy: Policy) -> Figures:
    """Seconds, work, gap and history of one way to solve a case, and whether the answer holds."""
    best: Figures | None = None
    spent = 0.0
    for _ in range(policy.repeats):
        clock = perf_counter()
        seconds, work, track, result = _run(case, way, policy.cap)
        spent += perf_counter() - clock
        if best is None or seconds < best["seconds"]:
            best = {"seconds": seconds, "work": work} | _described(case, result, track)
        if spent > policy.budget:
            break
    assert best is not None
    return best


def _run(case: Case, way: Way, cap: float) -> tuple[float, float, Track, Result]:
    """Seconds, work, (iteration, seconds, work) at each check, and the result."""
    arguments = way.arguments(case)
    clock = OffTheClock(arguments["solver"]) if way.off_the_clock else None
    if clock is not None:
        arguments["solver"] = clock

    def over(seen: Snapshot) -> bool:
        return (clock.trail[-1][0] if clock else seen.seconds) > cap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status is kept and shown
        result = solve(
            *case.data,
            loss=case.loss,
            **{"tol": 0.0, "atol": GAP, "max_iter": 10_000_000, "callback": over, **arguments},
        )
    history = result.history
    if clock is None:
        return (
            result.seconds,
            result.work,
            [history.iteration, history.seconds, history.work],
            result,
        )
    checks = len(history)
    seconds, work = (np.array(part[:checks]) for part in zip(*clock.trail, strict=True))
    return float(seconds[-1]), float(work[-1]), [history.iteration, seconds, work], result


def _described(case: Case, result: Result, track: Track) -> Figures:
    proof = verify(
        case.A,
        case.y,
        result.x,
        result.theta,
        case.lower,
        case.upper,
        loss=case.loss,
        gap=result.gap if np.isfinite(result.gap) else None,
    )
    return {
        "capped": result.status is Status.STOPPED_BY_CALLBACK,
        "status": result.status.name.lower(),
        "iterations": result.n_iter,
        "gap": result.gap,
        "objective": result.objective,
        "screened": result.screening_ratio,
        "saturation": case.saturation(result.x),
        "verified": bool(proof),
        "history": _thinned(result, track),
    }


def _thinned(result: Result, track: Track) -> dict[str, list[float]]:
    """The history at up to 200 checks: the first ones, then spread evenly on a log scale."""
    count = len(result.history)
    spread = np.unique(np.geomspace(1, count, _POINTS).round().astype(int)) - 1
    history, n = result.history, result.shape[1]
    iteration, seconds, work = track
    columns = {
        "iteration": iteration,
        "seconds": seconds,
        "work": work,
        "gap": history.gap,
        "ratio": (n - history.preserved) / max(n, 1),
    }
    return {name: [float(v) for v in values[spread]] for name, values in columns.items()}
