"""Races all cases with one thread count; one line of JSON on standard output for each case.

The thread count comes from the environment, which is set before NumPy is imported.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .cases import CASES, Case
from .contestants import Away, Contestant, Local
from .guard import Failed, OverTime, describe
from .limit import Limit, oracle_limit
from .measure import Heat, Measurement
from .problem import Array, Problem, make
from .progress import Line
from .real_data import Absent
from .remote import Parcel, Remote
from .remote_server import known_version
from .rivals import RIVALS, Rival
from .rivals.rival import threads
from .scoring import Judge
from .timing import FULL, QUICK, Policy

LIMIT_BUDGET = 0.3


class Worker:
    """Everything that one process does."""

    def __init__(
        self, policy: Policy, remotes: dict[str, Remote], slow: dict[str, list[str]]
    ) -> None:
        self.policy, self.remotes, self.slow = policy, remotes, slow
        self.line = Line()
        self.versions: dict[str, str] = {}
        self._out: dict[str, str] = {}
        """Why a contestant takes no part at all."""
        self._gave_up: dict[tuple[str, str], str] = {}
        """(contestant, family) → the case in which it was over its time."""
        self._loosest: dict[tuple[str, str], float] = {}
        """(contestant, case) → the tolerance that the problem before needed."""

    def warm_up(self) -> dict[str, str]:
        """Compile and import everything once; versions of those who are there."""
        for rival in RIVALS.values():
            self.line.show(f"warming up {rival.name}")
            try:
                self._warm(rival)
            except (Failed, OverTime, Exception) as error:
                self._out[rival.name] = f"does not start: {describe(error)}"
        return self.versions

    def _warm(self, rival: Rival) -> None:
        if rival.place == "old_numpy" and not self.remotes[rival.place].exists:
            self._out[rival.name] = "its environment is not there (make rivals)"
            return
        if rival.place != "here":
            said = self.remotes[rival.place].hello(rival.name)
            other = said["numpy"] != np.__version__
            numpy = f" (NumPy {said['numpy']})" if other else ""
            self.versions[rival.distribution] = said["version"] + numpy
            return
        if not rival.installed():
            self._out[rival.name] = "not installed"
            return
        self.versions[rival.distribution] = known_version(rival.distribution)
        for problem in _warm_up_problems():
            if rival.refuses(problem) is None:
                with suppress(ArithmeticError):  # no answer to this problem: others may do
                    rival.prepare(problem, rival.tolerances[0])()

    def race(self, case: Case) -> dict[str, Any]:
        """All contestants on all problems of a case, or why it was not raced."""
        try:
            return self._race(case, case.problems()[:: self.policy.stride])
        except Absent as error:
            why = str(error)
        except Exception as error:  # ours, or the race's own: one case is lost, visibly
            why = f"failed: {describe(error)}"
        return {"case": case.name, "threads": threads(), "skipped": why}

    def _race(self, case: Case, problems: list[Problem]) -> dict[str, Any]:
        start = time.perf_counter()
        heats, limits, certified, sizes = [], [], [], []
        for i, problem in enumerate(problems):
            part = f" {i + 1}/{len(problems)}" if len(problems) > 1 else ""
            self.line.prefix = f"{threads()} thread(s)  {case.name}{part}  "
            heat, limit, proof = self._heat(case, problem, self.policy.shared(len(problems)))
            heats.append(heat)
            limits.append(limit)
            certified.append(proof)
            sizes.append(limit.free)
        self.line.prefix = ""
        m, n = problems[0].A.shape
        density = problems[0].A.nnz / (m * n) if problems[0].is_sparse else 1.0
        return {
            "case": case.name,
            "threads": threads(),
            "ours": case.ours,
            "m": m,
            "n": n,
            "density": density,
            "lower": problems[0].lower,
            "upper": problems[0].upper,
            "problems": len(problems),
            "free": int(statistics.median(sizes)),
            "certified_gap": max(certified),
            "limit": {
                "seconds": statistics.median(limit.seconds for limit in limits),
                "each": [limit.as_dict() for limit in limits],
            },
            "wall_seconds": round(time.perf_counter() - start, 1),
            "entries": [merged([heat.found[name] for heat in heats]) for name in RIVALS],
        }

    def _heat(self, case: Case, problem: Problem, policy: Policy) -> tuple[Heat, Limit, float]:
        solution, theta = _certified_solution(problem)
        judge = Judge(problem)
        judge.learn_dual(theta)
        heat = Heat(judge, policy, self.line.show)
        parcel = Parcel(problem)
        for remote in self.remotes.values():
            remote.hold(parcel)
        for rival in RIVALS.values():
            why = self._stays_out(rival, case, problem)
            if why is None:
                self._enter(heat, rival, case, problem)
            else:
                heat.sit_out(rival.name, *why)
        heat.sample()
        parcel.close()
        heat.score()
        limit = oracle_limit(problem, solution, judge, LIMIT_BUDGET)
        answer = heat.answers.get(case.ours)
        if case.ours == "boxreg.solve":  # the proof must be that of the call that was timed
            theta = _own_dual(problem)
        proof = np.inf if answer is None else _certified_gap(problem, answer, theta, judge.scale)
        return heat, limit, proof

    def _enter(self, heat: Heat, rival: Rival, case: Case, problem: Problem) -> None:
        def contestant(tolerance: float) -> Contestant:
            if rival.place == "here":
                return Local(rival, problem, tolerance)
            return Away(rival, self.remotes[rival.place], tolerance)

        cap = heat.policy.cap
        if heat.policy.patient:
            cap = max(cap, case.patience.get(rival.name, 0.0))
        first = self._loosest.get((rival.name, case.name), np.inf)
        tolerances = [tolerance for tolerance in rival.tolerances if tolerance <= first]
        heat.enter(rival.name, contestant, tolerances, cap)
        found = heat.found[rival.name]
        if found.status == "over":
            self._gave_up[rival.name, case.family] = case.name
        if found.tolerance is not None:
            self._loosest[rival.name, case.name] = found.tolerance

    def _stays_out(self, rival: Rival, case: Case, problem: Problem) -> Any:
        if rival.name in self._out:
            return "absent", self._out[rival.name]
        refusal = rival.refuses(problem)
        if refusal is not None:
            return "refused", refusal
        if rival.slow and problem.A.shape[0] * problem.A.shape[1] > self.policy.large:
            return "refused", "not on large problems in a quick race"
        if (rival.name, case.family) in self._gave_up:
            return "refused", f"over its time at {self._gave_up[rival.name, case.family]}"
        if rival.name in self.slow.get(case.name, ()):
            return "refused", "too slow with fewer threads"
        return None


def _certified_solution(problem: Problem) -> tuple[Array, Array]:
    """boxreg's answer and its dual point, as precise as it gets."""
    import boxreg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
        result = boxreg.solve(problem.A, problem.y, problem.lower, problem.upper, tol=1e-14)
    return result.x, result.theta


def _own_dual(problem: Problem) -> Array:
    """The dual point that the default call itself returns: same input, same output."""
    import boxreg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
        return boxreg.solve(problem.A, problem.y, problem.lower, problem.upper).theta


def _certified_gap(problem: Problem, x: Array, theta: Array, scale: float) -> float:
    """What boxreg's verifier proves of the answer that was timed, rounding included."""
    import boxreg

    proof = boxreg.verify(problem.A, problem.y, x, theta, problem.lower, problem.upper)
    return float(proof.gap / scale) if proof else float("inf")


def merged(parts: list[Measurement]) -> dict[str, Any]:
    """One contestant over all problems of a case: median time, worst gap, worst status."""
    worst = next((part for part in parts if part.status != "ok"), None)
    if worst is not None:
        return worst.as_dict()
    whole = replace(parts[0])
    whole.seconds = statistics.median(part.seconds for part in parts if part.seconds is not None)
    for field in ("relative_gap", "violation"):
        setattr(whole, field, max(getattr(part, field) for part in parts))
    return {**whole.as_dict(), "each": [part.seconds for part in parts]}


def _warm_up_problems() -> list[Problem]:
    rng = np.random.default_rng(0)
    problems = []
    for m, n in ((12, 6), (300, 200)):
        A = np.abs(rng.standard_normal((m, n)))
        y = A @ rng.random(n) + rng.standard_normal(m)
        for matrix in (A, sparse.csc_array(A * (A > 1.0) + np.eye(m, n))):
            problems += [make(matrix, y, 0.0, upper) for upper in (np.inf, 1.0)]
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cases", nargs="+", required=True)
    parser.add_argument("--rivals-python", type=Path, required=True)
    parser.add_argument("--slow", default="{}", help="JSON: case → contestants not to start")
    options = parser.parse_args()
    remotes = {"apart": Remote(Path(sys.executable)), "old_numpy": Remote(options.rivals_python)}
    worker = Worker(QUICK if options.quick else FULL, remotes, json.loads(options.slow))
    try:
        print(json.dumps({"versions": worker.warm_up()}), flush=True)
        for case in CASES:
            if case.name in options.cases:
                print(json.dumps(worker.race(case)), flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        worker.line.clear()
        for remote in remotes.values():
            remote.close()
        sys.stdout.flush()


if __name__ == "__main__":
    main()
