"""Races one case: everybody's trials, then samples in turn, scored by neutral code."""

from __future__ import annotations

import statistics
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.race.guard import describe
from benchmarks.race.measure import Heat
from benchmarks.race.progress import Line
from benchmarks.race.real_data import Absent
from benchmarks.race.timing import Policy
from benchmarks.race.worker import merged

from . import data
from .cases import Case
from .many import race_many
from .problem import LossProblem, make
from .rivals import CONTESTANTS, Contestant
from .rivals.contestant import Prepared
from .rivals.ours import ASKED, proved, solved
from .scoring import Judge

FURTHER = 1e-10
"""What boxreg is asked for, off the clock, for the judge's dual bound: no answer suffers by more."""


class Worker:
    """Everything that is measured in one process."""

    def __init__(self, policy: Policy, line: Line) -> None:
        self.policy, self.line = policy, line
        self._out: dict[str, str] = {}
        """Why a contestant takes no part at all."""
        self._loosest: dict[tuple[str, str], float] = {}
        """(contestant, case) → the tolerance that the problem before needed."""

    def versions(self) -> dict[str, str]:
        """Of those who are there."""
        here = {c.distribution for c in CONTESTANTS.values() if c.installed()}
        self._out = {c.name: "not installed" for c in CONTESTANTS.values() if not c.installed()}
        return {name: version(name) for name in sorted(here)}

    def _warm_up(self, problem: LossProblem) -> None:
        """Compile and import what a problem of this kind needs, on a corner of it."""
        m, n = problem.A.shape
        rows, columns = min(m, 200), min(n, 50)
        A = problem.A.tocsr()[:rows, :columns] if problem.is_sparse else problem.A[:rows, :columns]
        corner = make(A, problem.y[:rows], problem.function, problem.upper, problem.linear)
        for name, contestant in CONTESTANTS.items():
            if name not in self._out and contestant.refuses(corner) is None:
                self.line.show(f"warming up {name}")
                with suppress(Exception):  # what fails on the problem itself is reported there
                    contestant.prepare(corner, contestant.tolerances[0])()

    def race(self, case: Case) -> dict[str, Any]:
        """All contestants on all problems of a case, or why it was not raced."""
        try:
            problems = case.problems()[:: self.policy.stride]
            self._warm_up(problems[0])
            found = self._race(case, problems)
            if case.name == "kl-tumours":
                found["many"] = race_many(*data.signatures(), problems, self.line.show)
            return found
        except Absent as error:
            return {"case": case.name, "threads": 1, "skipped": str(error)}
        except Exception as error:  # one case is lost, visibly
            return {"case": case.name, "threads": 1, "skipped": f"failed: {describe(error)}"}

    def _race(self, case: Case, problems: list[LossProblem]) -> dict[str, Any]:
        heats, certified, free = [], [], []
        for i, problem in enumerate(problems):
            part = f" {i + 1}/{len(problems)}" if len(problems) > 1 else ""
            self.line.prefix = f"{case.name}{part}  "
            heat, proof, inside = self._heat(case, problem, self.policy.shared(len(problems)))
            heats.append(heat)
            certified.append(proof)
            free.append(inside)
        self.line.prefix = ""
        m, n = problems[0].A.shape
        return {
            "case": case.name,
            "threads": 1,
            "ours": "boxreg.solve",
            "loss": problems[0].function.name,
            "m": m,
            "n": n,
            "problems": len(problems),
            "free": int(statistics.median(free)),
            "certified_gap": max(certified),
            "entries": [merged([heat.found[name] for heat in heats]) for name in CONTESTANTS],
        }

    def _heat(self, case: Case, problem: LossProblem, policy: Policy) -> tuple[Heat, float, int]:
        self.line.show("dual bounds")
        judge = Judge(problem)
        own = solved(problem, tol=ASKED)
        judge.learn_dual(own.theta)
        judge.learn_dual(solved(problem, tol=FURTHER).theta)
        heat = Heat(judge, policy, self.line.show)
        for name, contestant in CONTESTANTS.items():
            why = self._out.get(name)
            refusal = contestant.refuses(problem) if why is None else None
            if why is not None:
                heat.sit_out(name, "absent", why)
            elif refusal is not None:
                heat.sit_out(name, "refused", refusal)
            else:
                self._enter(heat, contestant, case, problem)
        heat.sample()
        heat.score()
        # Same input, same output: `own` is what the timed call returns.
        inside = np.count_nonzero((own.x > problem.lower) & (own.x < problem.upper))
        return heat, proved(problem, own.x, own.theta) / judge.scale, int(inside)

    def _enter(self, heat: Heat, contestant: Contestant, case: Case, problem: LossProblem) -> None:
        key = (contestant.name, case.name)
        loosest = 30.0 * self._loosest.get(key, np.inf)
        tolerances = [held for held in contestant.tolerances if held <= loosest]
        heat.enter(
            contestant.name,
            lambda tolerance: Prepared(contestant, problem, tolerance),
            tolerances,
            heat.policy.cap,
        )
        tolerance = heat.found[contestant.name].tolerance
        if tolerance:
            self._loosest[key] = tolerance
