"""What every answer must satisfy with any loss, judged by the batched reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

import boxreg
from boxreg.losses import LOSSES
from boxreg.solvers import SOLVERS
from references.loss_problem import LossProblem
from references.loss_reference import LossSolution, exact_values


def arguments(problem: LossProblem, storage: str = "dense") -> dict[str, Any]:
    """The keyword arguments of `boxreg.solve` and `boxreg.verify` that pose the problem."""
    return {
        "A": sparse.csc_array(problem.A) if storage == "sparse" else problem.A,
        "y": problem.y,
        "lower": problem.lower,
        "upper": problem.upper,
        "loss": LOSSES[problem.loss](**problem.parameters),
        **problem.terms,
    }


def fitting_solvers(loss: str) -> list[str]:
    """Names of the solvers that take the loss; the refusal of any other must list them."""
    fit, refused = ["auto"], {}
    posed = {"A": np.eye(2), "y": np.ones(2), "loss": loss}
    for name in SOLVERS:
        try:
            boxreg.solve(**posed, solver=name)
            fit.append(name)
        except ValueError as error:
            refused[name] = str(error)
    for name, message in refused.items():
        assert message.startswith("solver"), f"{name}: {message}"
        assert all(other in message for other in fit), f"{name}: {message}"
    return fit


def judge(
    problems: Sequence[LossProblem],
    results: Sequence[boxreg.Result],
    references: Sequence[LossSolution],
    *,
    agreement: float = np.inf,
    verified: int = 1,
) -> list[str]:
    """Everything that is wrong with the answers, each complaint naming its problem.

    `agreement` is the relative error of the objective that an answer may have. One
    answer in `verified` is verified.
    """
    complaints: list[str] = []
    values = exact_values(problems, [result.x for result in results])
    rows = zip(problems, results, references, values, strict=True)
    for number, (problem, result, known, value) in enumerate(rows):
        found = [
            *_infeasible(problem, result),
            *_false_screenings(problem, result, known),
            *_wrong_numbers(result, known, *value),
            *_disagreement(problem, result, known, value[0] - known.objective, agreement),
            *(_not_verified(problem, result) if number % verified == 0 else ()),
        ]
        complaints += [f"{problem!r}: {complaint}" for complaint in found]
    return complaints


def _infeasible(problem: LossProblem, result: boxreg.Result) -> Iterable[str]:
    """l <= x <= u exactly, screened coordinates exactly at their bound."""
    x, at_lower, at_upper = result.x, result.screened == -1, result.screened == 1
    if not np.all((problem.lower <= x) & (x <= problem.upper)):
        yield f"x is not feasible: {x}"
    if np.any(x[at_lower] != problem.lower[at_lower]):
        yield "x is not at the lower bound where screened"
    if np.any(x[at_upper] != problem.upper[at_upper]):
        yield "x is not at the upper bound where screened"


def _false_screenings(
    problem: LossProblem, result: boxreg.Result, known: LossSolution
) -> Iterable[str]:
    """Coordinates screened although w*, or a solution that is elsewhere, contradicts it.

    Screening proves that w*_j is not 0, so that x_j is at the bound in every solution.
    """
    if not known.accurate:
        return
    moves = problem.lower < problem.upper
    off_lower = known.x - problem.lower > known.x_error
    off_upper = problem.upper - known.x > known.x_error
    wrong = (result.screened == -1) & moves & ((known.w > known.w_error) | off_lower)
    wrong |= (result.screened == 1) & moves & ((known.w < -known.w_error) | off_upper)
    for j in np.flatnonzero(wrong):
        yield (
            f"false screening of {j} to {result.screened[j]:+d}: w* = {known.w[j]:.3g} ± "
            f"{known.w_error[j]:.1g}, x* = {known.x[j]:.6g} ± {known.x_error[j]:.1g} in "
            f"[{problem.lower[j]:.6g}, {problem.upper[j]:.6g}]"
        )


def _wrong_numbers(
    result: boxreg.Result,
    known: LossSolution,
    value: np.longdouble,
    error: np.longdouble,
    size: np.longdouble,
) -> Iterable[str]:
    """The gap is a bound, the dual objective too, the objective is P(x), success means the target.

    The reference is feasible, so P(x) - P(x*) <= gap holds however accurate it is. Where it has no value
    nothing is compared with it.
    """
    found = bool(np.isfinite(known.objective))
    rounding = error + (known.objective_error if found else 0.0)
    excess = value - known.objective
    if result.certificate.rigorous and found and excess - error > result.gap:
        yield f"P(x) - P* >= {excess:.6g} exceeds the gap {result.gap:.6g} ({result.status.name})"
    # A margin that is met to one rounding error leaves the square of that.
    allowed = 1e-11 * size + rounding + 1e-28 * result.scale
    if not (result.objective == value or abs(result.objective - value) <= allowed):
        yield f"the objective {result.objective!r} is not P(x) = {float(value)!r}"
    above = result.dual_objective - known.objective
    if result.certificate.rigorous and found and not above <= 1e-11 * size + rounding:
        yield f"the dual objective exceeds P* by {above:.6g}"
    if result.success and not result.gap <= result.target_gap:
        yield f"success with a gap of {result.gap:.6g}, above {result.target_gap:.6g}"


def _disagreement(
    problem: LossProblem,
    result: boxreg.Result,
    known: LossSolution,
    excess: np.longdouble,
    agreement: float,
) -> Iterable[str]:
    """Success means P(x) - P* within what was asked for; any answer agrees with P*, if so asked."""
    if not known.accurate:
        return
    if result.success and excess > result.target_gap + known.objective_error:
        yield f"success, but P(x) - P* = {excess:.6g} > target {result.target_gap:.6g}"
    if np.isfinite(agreement):
        scale = objective_scale(problem, known)
        if not abs(excess) <= agreement * scale + known.objective_error:
            yield f"P(x) - P* = {excess:.6g} = {excess / scale:.2g} P* ({result.status.name})"


def objective_scale(problem: LossProblem, known: LossSolution) -> float:
    """P*; where it is almost 0, a millionth of its terms, or of the objective at the point next to 0."""
    nearest = np.clip(0.0, problem.lower, problem.upper)
    (_, _, size), (start, _, _) = exact_values([problem] * 2, [known.x, nearest])
    start = start if np.isfinite(start) else 0
    return float(max(abs(known.objective), 1e-6 * size, 1e-6 * abs(start)))


def _not_verified(problem: LossProblem, result: boxreg.Result) -> Iterable[str]:
    """`verify` agrees with the certificate and the gap, where there is one."""
    if not np.isfinite(result.gap):
        if result.success:
            yield "success without a gap"
        return
    certificate = boxreg.verify(
        **arguments(problem), x=result.x, theta=result.theta, gap=result.gap
    )
    if certificate.verdict is not result.certificate.verdict:
        yield f"{certificate.verdict.name} on verification: {certificate.reasons}"
