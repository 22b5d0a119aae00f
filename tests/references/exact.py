"""Exact rational solutions of small box-constrained least-squares problems.

A three-state (lower, free, upper) primal active-set method in the manner of Lawson-Hanson and
Stark-Parker, run in integer arithmetic on the exact values of the floating-point data.  Started
from a float64 guess it normally needs a single solve; started anywhere else it still ends at a
solution, and the result is certified by `kkt.certify` in either case.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from references.integers import IntegerProblem, dot, solve_semidefinite
from references.kkt import ExactSolution, KKTError, certify
from references.start import float_start

__all__ = ["ExactSolution", "KKTError", "certify", "exact_solution"]


def exact_solution(
    A: ArrayLike,
    y: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    start: ArrayLike | None = None,
) -> ExactSolution:
    """A certified exact solution of min 1/2 |A x - y|^2 subject to l <= x <= u.

    Where A_F has dependent columns x is one solution among many; theta and w are unique always.
    `start` is any point, projected onto the box; by default a float64 solution.
    """
    problem = IntegerProblem.from_floats(A, y, lower, upper)
    guess = float_start(A, y, lower, upper) if start is None else np.asarray(start)
    inside = np.clip(guess.astype(np.float64), lower, upper).tolist()
    z = [Fraction(v) / unit for v, unit in zip(inside, problem.unit, strict=True)]
    x = [v * unit for v, unit in zip(_descend(problem, z), problem.unit, strict=True)]
    return certify(A, y, lower, upper, x)


def _descend(problem: IntegerProblem, z: list[Fraction]) -> list[Fraction]:
    """Minimise from the feasible point z.

    Invariants: free columns are independent, and every other coordinate is at a bound.  When a
    coordinate enters, the free ones are strictly inside their bounds and minimise over their
    span, so (i) w_j != 0 proves the entering column independent of them, (ii) the next step has
    positive length and strictly lowers the objective.  Hence no free set minimised over comes
    back, and the method ends whichever violating coordinate is chosen.
    """
    free = [j for j, v in enumerate(z) if problem.within(j, v)]
    free, dependent = _independent(problem, free)
    for j in dependent:
        z[j] = Fraction(problem.lower[j])
    while True:
        numerators, denominator = _minimise_over_free(problem, free, z)
        while (step := _blocking_step(problem, free, z, numerators, denominator)) < 1:
            for j in free:
                z[j] += step * (Fraction(numerators[j], denominator) - z[j])
            free = [j for j in free if problem.within(j, z[j])]
            numerators, denominator = _minimise_over_free(problem, free, z)
        for j in free:
            z[j] = Fraction(numerators[j], denominator)
        free = [j for j in free if problem.within(j, z[j])]
        entering = _steepest_violation(problem, z, numerators, denominator)
        if entering is None:
            return z
        free.append(entering)


def _independent(problem: IntegerProblem, free: list[int]) -> tuple[list[int], list[int]]:
    """Split `free` into a maximal set of independent columns and the rest."""
    gram = [[problem.gram[i][j] for j in free] for i in free]
    kept, _, _ = solve_semidefinite(gram, [0] * len(free))
    chosen = {free[k] for k in kept}
    return [j for j in free if j in chosen], [j for j in free if j not in chosen]


def _minimise_over_free(
    problem: IntegerProblem, free: list[int], z: list[Fraction]
) -> tuple[list[int], int]:
    """The least-squares point (numerators, denominator) with all but the free z_j held."""
    fixed = {j: v.numerator for j, v in enumerate(z) if v}  # z_j is an integer at a bound
    for j in free:
        fixed.pop(j, None)
    rhs = [problem.moments[i] - sum(problem.gram[i][j] * v for j, v in fixed.items()) for i in free]
    gram = [[problem.gram[i][j] for j in free] for i in free]
    _, solved, denominator = solve_semidefinite(gram, rhs)
    numerators = [0] * len(z)
    for j, v in fixed.items():
        numerators[j] = v * denominator
    for j, v in zip(free, solved, strict=True):
        numerators[j] = v
    return numerators, denominator


def _blocking_step(
    problem: IntegerProblem,
    free: list[int],
    z: list[Fraction],
    numerators: list[int],
    denominator: int,
) -> Fraction:
    """The longest step in (0, 1] from z towards the given point that stays in the box."""
    step = Fraction(1)
    for j in free:
        p, q = problem.lower[j], problem.upper[j]
        if numerators[j] < p * denominator:
            bound = p
        elif q is not None and numerators[j] > q * denominator:
            bound = q
        else:
            continue
        step = min(step, (bound - z[j]) / (Fraction(numerators[j], denominator) - z[j]))
    return step


def _steepest_violation(
    problem: IntegerProblem, z: list[Fraction], numerators: list[int], denominator: int
) -> int | None:
    """The j with the largest w_j^2 / |B_j|^2 among those whose w_j has the wrong sign, if any."""
    rows = zip(*problem.columns, strict=True)
    residual = [
        denominator * b - dot(row, numerators) for b, row in zip(problem.target, rows, strict=True)
    ]
    best, steepest = None, Fraction(0)
    for j, column in enumerate(problem.columns):
        w = dot(column, residual)
        q = problem.upper[j]
        if (w > 0 and (q is None or z[j] < q)) or (w < 0 and z[j] > problem.lower[j]):
            slope = Fraction(w * w, problem.gram[j][j])
            if slope > steepest:
                best, steepest = j, slope
    return best
