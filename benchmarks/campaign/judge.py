"""Whether our answer to one problem is worse than somebody's, beyond rounding.

Objectives are those of the projections on the box, compared in exact rational arithmetic. What
rounding excuses: a backward-stable solver returns the exact solution for data A + E and y + f with
‖E_j‖ <= k u ‖a_j‖, ‖f‖ <= k u ‖y‖, u the unit roundoff. Such an answer x has

    ‖y - A x‖ <= ‖r‖ + δ,    δ = k u (2‖y‖ + Σ_j ‖a_j‖ (|x_j| + |z_j|))

for every feasible z with residual r, so its objective exceeds z's by up to ‖r‖ δ + ½ δ². Nobody who
computes in float64 can promise less. Besides, an objective of the size of P₀, the objective at the
projection of 0, is a number with an ulp: k ulps of P₀ are excused as well. (They matter where the
fit is perfect: r = 0, and all that is compared is the square of rounding errors.) k is a small
constant, the same for all problems; textbook analyses have the dimensions in its place.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from .solvers import Array, BoxProblem, Solver, answer, others, ours

from judging import exact_objective  # isort: skip  (the tests' folder is on the path by now)

UNIT = 2.0**-53
K = 4.0


class Hang(Exception):
    """A solver took longer than its wall-clock cap."""


@dataclass
class Tally:
    """What a range of problems showed."""

    problems: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    no_answer: Counter[str] = field(default_factory=Counter)
    strictly_better: Counter[str] = field(default_factory=Counter)
    excused: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    worst: float = 0.0
    """Largest share of the allowance that was used."""
    slowest: float = 0.0

    def add(self, more: Tally) -> None:
        self.problems += more.problems
        for name in ("compared", "no_answer", "strictly_better", "excused"):
            getattr(self, name).update(getattr(more, name))
        self.complaints += more.complaints
        self.worst = max(self.worst, more.worst)
        self.slowest = max(self.slowest, more.slowest)


def judge(
    problem: BoxProblem,
    label: str,
    cap: float,
    tally: Tally,
    say: Callable[[str], None] = lambda name: None,
) -> None:
    """Solve with everybody, compare, and count; `say` hears who is next."""
    tally.problems += 1
    mine, theirs = {}, {}
    for name, solver in ours(problem).items():
        say(name)
        clock = time.perf_counter()
        x = _guarded(solver, problem, cap)
        tally.slowest = max(tally.slowest, time.perf_counter() - clock)
        if isinstance(x, str):
            tally.complaints.append(f"{label}: {name}: {x}")
        elif not (np.all(x >= problem.lower) and np.all(x <= problem.upper)):
            tally.complaints.append(f"{label}: {name}: outside the box")
        else:
            mine[name] = x
    for name, solver in others(problem).items():
        say(name)
        x = _guarded(solver, problem, cap)
        if isinstance(x, str) or not np.all(np.isfinite(x)):
            tally.no_answer[name] += 1
        else:
            theirs[name] = np.clip(x, problem.lower, problem.upper)
    for name, x in mine.items():
        _compare(problem, f"{label}: {name}", x, theirs, tally)


def _guarded(solver: Solver, problem: BoxProblem, cap: float) -> Array | str:
    """The answer, or what went wrong.

    The wall clock interrupts Python code. Compiled code that spins does not listen to it: the
    virtual clock then ends the whole process, which whoever started it takes for a hang.
    """
    signal.signal(signal.SIGALRM, _ring)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, cap)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2.0 * cap)
    try:
        return answer(solver, problem)
    except Hang:
        return f"still running after {cap:g} s"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def _ring(number: int, frame: object) -> None:
    raise Hang


def _compare(
    problem: BoxProblem, label: str, x: Array, rivals: dict[str, Array], tally: Tally
) -> None:
    mine = exact_objective(problem, x)
    for name, z in rivals.items():
        theirs = exact_objective(problem, z)
        tally.compared[name] += 1
        if mine < theirs:
            tally.strictly_better[name] += 1
        elif mine > theirs:
            share = float((mine - theirs) / allowance(problem, x, z, theirs))
            tally.worst = max(tally.worst, share)
            if share > 1.0:
                excess = float((mine - theirs) / (_scale(problem) or 1))
                tally.complaints.append(
                    f"{label}: worse than {name} by {excess:.1e} P₀, {share:.1e} of the allowance"
                )
            else:
                tally.excused[name] += 1


def allowance(problem: BoxProblem, x: Array, z: Array, objective: Fraction) -> Fraction:
    """The larger of ‖r‖ δ + ½ δ² and k ulps of P₀; never 0."""
    A, y = np.asarray(problem.A, dtype=float), np.asarray(problem.y, dtype=float)
    norms = np.sqrt(np.sum(A * A, axis=0))
    size = 2.0 * float(np.linalg.norm(y)) + float(norms @ (np.abs(x) + np.abs(z)))
    delta = K * UNIT * size
    residual = (2.0 * float(objective)) ** 0.5
    perturbed = Fraction(residual * delta + 0.5 * delta**2)
    return max(perturbed, Fraction(2.0 * K * UNIT) * _scale(problem), Fraction(5e-324))


def _scale(problem: BoxProblem) -> Fraction:
    """P₀."""
    return exact_objective(problem, np.clip(0.0, problem.lower, problem.upper))
