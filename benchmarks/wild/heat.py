"""One problem, all contestants: boxreg first, then everybody else for as long as it matters."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race.contestants import Away, Contestant
from benchmarks.race.guard import Failed, OverTime, describe
from benchmarks.race.measure import Heat, Measurement
from benchmarks.race.problem import Array
from benchmarks.race.remote import Parcel, Remote
from benchmarks.race.rivals import Rival
from benchmarks.race.timing import Policy

from .problem import WildProblem, save
from .rivals import CONTESTANTS, OURS
from .scoring import REACHED, Judge

SERVER = "benchmarks.wild.server"
NAMES = tuple(held.name for held in OURS)
GRACE = 1.0
"""Seconds beyond its time after which a process is killed: a new one has to compile everything again."""
LONG = (0.3, 10.0)
"""Seconds between which boxreg's trial is taken twice: the first may have had something to compile."""
HOPELESS = 4.0
"""A rival whose trial took this many times the fastest one's is not sampled again; where boxreg has a
proof, so that the minimum is known, it is stopped there."""


@dataclass(frozen=True)
class Patience:
    """Seconds: what boxreg may take before it has failed; what others may, as a multiple of boxreg's
    time between `least` and `most`; what they may where boxreg has no proof."""

    ours: float = 60.0
    multiple: float = 10.0
    least: float = 1.0
    most: float = 60.0
    unproved: float = 15.0

    def for_rivals(self, seconds: float | None, proved: bool) -> float:
        if seconds is None or not proved:
            return self.unproved
        return min(max(self.multiple * seconds, self.least), self.most)


class Pool:
    """A process for each solver, started when first needed; boxreg's functions share one."""

    def __init__(self, rivals_python: Path) -> None:
        self._old = rivals_python
        self._remotes: dict[str, Remote] = {}
        self._parcel: Parcel | None = None
        self.versions: dict[str, str] = {}
        self.out: dict[str, str] = {}
        """Why a contestant takes no part at all."""

    def start(self, show: Callable[[str], None]) -> None:
        """Start and import everything; what does not start is left out."""
        for rival in CONTESTANTS.values():
            show(f"starting {rival.name}")
            if rival.place == "old_numpy" and not self._old.exists():
                self.out[rival.name] = "its environment is not there (make rivals)"
                continue
            try:
                said = self.of(rival).hello(rival.name)
                self.versions[rival.distribution] = said["version"]
            except (Failed, OverTime) as error:
                self.out[rival.name] = f"does not start: {describe(error)}"

    def of(self, rival: Rival) -> Remote:
        """Its process."""
        name = "boxreg" if rival.name in NAMES else rival.name
        if name not in self._remotes:
            python = self._old if rival.place == "old_numpy" else Path(sys.executable)
            self._remotes[name] = Remote(python, SERVER, GRACE)
            self._remotes[name].hold(self._parcel)
        return self._remotes[name]

    def hold(self, parcel: Parcel | None) -> None:
        """Make this the problem that everybody is asked about."""
        self._parcel = parcel
        for remote in self._remotes.values():
            remote.hold(parcel)

    def close(self) -> None:
        for remote in self._remotes.values():
            remote.close()


class _Ours(Away):
    """boxreg: remarks are kept, and a long trial is taken twice."""

    def __init__(self, rival: Rival, remote: Remote, remarks: dict[str, Any]) -> None:
        super().__init__(rival, remote, 0.0)
        self._kept, self._process = remarks, remote

    def trial(self, cap: float) -> tuple[float, Array]:
        seconds, x = super().trial(cap)
        if LONG[0] < seconds < LONG[1]:
            again, x = super().trial(cap)
            seconds = min(seconds, again)
        self._kept.update(self._process.remarks)
        return seconds, x


class WildHeat(Heat):
    """`Heat` with trials kept apart from samples, so that who cannot win need not be sampled."""

    def __init__(self, judge: Judge, policy: Policy, show: Callable[[str], None]) -> None:
        super().__init__(judge, policy, show, good=0.5 * REACHED)
        self._trials: dict[str, float] = {}

    def _plan(self, name: str, contestant: Contestant) -> None:
        self._trials[name] = float(self.found[name].seconds or 0.0)
        super()._plan(name, contestant)

    def reached(self) -> dict[str, float]:
        """The trial times of the rivals that have reached the minimum, as far as it is known."""
        self.score()
        return {
            name: seconds
            for name, seconds in self._trials.items()
            if name not in NAMES and _reached(self.found[name])
        }

    def prune(self) -> None:
        """Leave out of the samples the rivals that did not reach the minimum or were far slower."""
        reached = self.reached()
        fastest = min(reached.values(), default=np.inf)
        for name in set(self._running) - set(NAMES):
            trial = self._trials[name]
            if name not in reached or (trial > HOPELESS * fastest and trial > 0.02):
                del self._running[name]
                self.found[name].seconds, self.found[name].samples = trial, 1


def _reached(held: Measurement) -> bool:
    return held.status == "ok" and held.relative_gap is not None and held.relative_gap <= REACHED


def race(
    problem: WildProblem,
    pool: Pool,
    policy: Policy,
    patience: Patience,
    show: Callable[[str], None],
) -> list[dict[str, Any]]:
    """What everybody did on one problem."""
    judge = Judge(problem)
    heat = WildHeat(judge, policy, show)
    parcel = Parcel(problem, save)
    pool.hold(parcel)
    remarks: dict[str, dict[str, Any]] = {name: {} for name in NAMES}
    try:
        for rival in OURS:
            _enter(heat, rival, problem, pool, patience.ours, remarks[rival.name])
        seconds, proved = _ours(heat, judge, remarks)
        cap, best = patience.for_rivals(seconds, proved), {}
        for rival in CONTESTANTS.values():
            if rival.name not in NAMES:
                fastest = min(heat.reached().values(), default=np.inf) if proved else np.inf
                cap = min(cap, max(HOPELESS * fastest, patience.least))
                _enter(heat, rival, problem, pool, cap, None)
                best[rival.name] = judge.best.copy()
        heat.score()
        for name, then in best.items():  # who aimed at a worse objective aims again
            held = heat.found[name]
            improved = np.any(judge.best < then - 0.1 * REACHED * judge.scales)
            if held.status == "ok" and not _reached(held) and improved:
                _enter(heat, CONTESTANTS[name], problem, pool, cap, None)
        heat.prune()
        heat.sample()
        heat.score()
    finally:
        pool.hold(None)
        parcel.close()
    found = []
    for name, held in heat.found.items():
        entry = held.as_dict()
        if name in NAMES:
            entry |= _claims(remarks[name], judge)
        if held.status not in ("refused", "absent"):
            found.append(entry)
    return found


def _enter(
    heat: WildHeat,
    rival: Rival,
    problem: WildProblem,
    pool: Pool,
    cap: float,
    remarks: dict[str, Any] | None,
) -> None:
    refusal = rival.refuses(problem) if rival.name not in pool.out else None
    if rival.name in pool.out:
        heat.sit_out(rival.name, "absent", pool.out[rival.name])
    elif refusal is not None:
        heat.sit_out(rival.name, "refused", refusal)
    elif remarks is not None:
        heat.enter(
            rival.name, lambda _: _Ours(rival, pool.of(rival), remarks), rival.tolerances, cap
        )
    else:
        heat.enter(
            rival.name,
            lambda tolerance: Away(rival, pool.of(rival), tolerance),
            rival.tolerances,
            cap,
        )


def _ours(
    heat: WildHeat, judge: Judge, remarks: dict[str, dict[str, Any]]
) -> tuple[float | None, bool]:
    """(the longest trial of boxreg's, whether `solve` or `solve_many` proved its answer)."""
    trials = [heat._trials[name] for name in NAMES if name in heat._trials]
    proved = any(_claims(said, judge).get("proved") for said in remarks.values())
    return max(trials, default=None), proved


def _claims(said: dict[str, Any], judge: Judge) -> dict[str, Any]:
    """What boxreg claims of its answer: the largest gap over P₀, and whether it is the one asked for."""
    if "gaps" not in said:
        return {}
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.array(said["gaps"]) / judge.scales
    relative = np.where(np.array(said["gaps"]) == 0.0, 0.0, relative)
    worst = float(np.max(relative))
    proved = bool(worst <= REACHED * (1.0 + 1e-9))
    return {"gap": worst if np.isfinite(worst) else None, "proved": proved, "ended": said["ended"]}
