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
from .functions import Huber, KullbackLeibler, Logistic, LogCosh, Quadratic, SquaredHinge
from .many import race_many
from .problem import LossProblem, make
from .rivals import CONTESTANTS, Contestant
from .rivals.contestant import Prepared
from .rivals.ours import ASKED, proved, solved
from .scoring import Judge

BOUNDS = (1e-9, 1e-11, 1e-13)
"""Tolerances of the boxreg runs, off the clock, whose dual points the judge is given."""


class Worker:
    """Everything that is measured in one process."""

    def __init__(self, policy: Policy, line: Line) -> None:
        self.policy, self.line = policy, line
        self._out: dict[str, str] = {}
        """Why a contestant takes no part at all."""
        self._loosest: dict[tuple[str, str], float] = {}
        """(contestant, case) → the tolerance that the problem before needed."""

    def warm_up(self) -> dict[str, str]:
        """Compile and import everything once; versions of those who are there."""
        versions = {}
        for name, contestant in CONTESTANTS.items():
            self.line.show(f"warming up {name}")
            if not contestant.installed():
                self._out[name] = "not installed"
                continue
            versions[contestant.distribution] = version(contestant.distribution)
            for problem in _warm_up_problems():
                if contestant.refuses(problem) is None:
                    with suppress(ArithmeticError):
                        contestant.prepare(problem, contestant.tolerances[0])()
        return versions

    def race(self, case: Case) -> dict[str, Any]:
        """All contestants on all problems of a case, or why it was not raced."""
        try:
            problems = case.problems()[:: self.policy.stride]
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
        for tolerance in BOUNDS:
            judge.learn_dual(solved(problem, tol=tolerance).theta)
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
        own = solved(problem, tol=ASKED)  # same input, same output as the call that was timed
        inside = np.count_nonzero((own.x > problem.lower) & (own.x < problem.upper))
        return heat, proved(problem, own.x, own.theta) / judge.scale, int(inside)

    def _enter(
        self, heat: Heat, contestant: Contestant, case: Case, problem: LossProblem
    ) -> None:
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


def _warm_up_problems() -> list[LossProblem]:
    """Small problems that make everybody compile what the cases will use."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    A = np.abs(rng.standard_normal((300, 200)))
    counts = A @ rng.random(200)
    labels = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    signed = rng.standard_normal((300, 200))
    found = []
    for kind in (np.asarray, sparse.csc_array):
        positive, plain = kind(A * (A > 0.5)), kind(signed)
        found += [make(positive, counts, f) for f in (Quadratic(), Huber(0.2), LogCosh())]
        found += [make(positive, counts, KullbackLeibler(b)) for b in (0.0, 0.01)]
        found += [make(positive, counts, Quadratic(), linear=1.0)]
        found += [make(plain, labels, f, upper=0.01) for f in (Logistic(), SquaredHinge())]
        found += [make(plain, labels, f, linear=0.1) for f in (Logistic(), SquaredHinge())]
    return found
