"""What every answer must satisfy, judged by references more precise than the solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from boxreg import Certificate, Result
from boxreg.dual_updates import SupportPolish
from boxreg.solvers import CoordinateDescent, ProjectedGradient
from references.exact import ExactSolution
from references.problems import BoxProblem

SOLVERS = (
    "active_set",
    "coordinate_descent",
    "interior_point",
    "projected_gradient",
    "chambolle_pock",
    "working_set",
)
VARIANTS = {
    **{name: name for name in SOLVERS},
    "coordinate_descent-plain": CoordinateDescent.plain(),
    "projected_gradient-plain": ProjectedGradient.plain(),
    "projected_gradient-anderson": ProjectedGradient(acceleration="anderson"),
}
"""Every solver with every acceleration."""

REGIONS = ("gap_sphere", "two_point_ball", "dome")

DUALS = {
    "auto": "auto",
    "polish-own-iterates": SupportPolish(adopt=False),
    "extrapolated": "extrapolated",
    "line_search": "line_search",
    "translation": "translation",
}


def assert_feasible(result: Result, problem: BoxProblem) -> None:
    """l <= x <= u exactly, and screened coordinates exactly at their bound."""
    assert np.all(result.x >= problem.lower)
    assert np.all(result.x <= problem.upper)
    at_lower, at_upper = result.screened == -1, result.screened == 1
    assert np.array_equal(result.x[at_lower], problem.lower[at_lower])
    assert np.array_equal(result.x[at_upper], problem.upper[at_upper])


def false_screenings(result: Result, signs: np.ndarray) -> np.ndarray:
    """Coordinates screened although the sign of w* does not prove it."""
    wrong_lower = (result.screened == -1) & (signs >= 0)
    wrong_upper = (result.screened == 1) & (signs <= 0)
    return np.flatnonzero(wrong_lower | wrong_upper)


def exact_objective(problem: BoxProblem, x: np.ndarray) -> Fraction:
    """½ ||y - A x||² in exact arithmetic."""
    values = [Fraction(float(v)) for v in x]
    total = Fraction(0)
    for row, target in zip(np.asarray(problem.A, dtype=float), problem.y, strict=True):
        fit = sum((Fraction(float(a)) * v for a, v in zip(row, values, strict=True)), Fraction(0))
        total += (Fraction(float(target)) - fit) ** 2
    return total / 2


def assert_certified(result: Result) -> None:
    """The certificate is PROVED, or has a finite gap and names the assumptions that it rests on."""
    proof = result.certificate
    assert np.isfinite(proof.gap)
    assert proof or all(reason.startswith("assumption (") for reason in proof.reasons)


def assert_confirmed(again: Certificate, result: Result) -> None:
    """A certificate says of a result what the result says of itself; but for assumptions, that is
    PROVED."""
    assert again.verdict is result.certificate.verdict, again.reasons
    assert again.gap <= result.gap
    assert again or all(reason.startswith("assumption (") for reason in again.reasons)


def assert_gap_is_a_bound(result: Result, problem: BoxProblem, reference: ExactSolution) -> None:
    """P(x) - P* <= gap in exact arithmetic, where the certificate says that it is rigorous."""
    if result.certificate.rigorous:
        excess = exact_objective(problem, result.x) - reference.objective
        assert 0 <= excess <= Fraction(result.gap)
