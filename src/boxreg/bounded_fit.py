"""Least squares between bounds, in SciPy's form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult
from scipy.sparse.linalg import LinearOperator, lsmr

from . import validate
from .arrays import Array
from .budget import Deadline
from .certificate import Certificate
from .dense_fit import CertifiedFit, certified_fit, small_fit
from .designs import DenseDesign
from .driver import Outcome, run
from .floating_point import own_errstate
from .point import Point, inward_slopes
from .presolve import reference_scale, unreduced
from .problem import Problem
from .progress import Progress
from .rounding import gamma, norm
from .status import Status
from .stopping import Limits
from .work import WorkMeter

_MESSAGES = {
    -3: "No dual point was found that proves the target gap; x may well be optimal.",
    -2: "The time limit was reached.",
    -1: "The gap is as small as rounding allows it to be proved, but above the target.",
    0: "The iteration limit was reached.",
    1: "The first-order optimality measure is below `tol`, or below its rounding error.",
    2: "The duality gap is at or below `tol` times the cost at the point of the box nearest to 0.",
    3: "The unconstrained solution is optimal.",
}

_CODES = {
    Status.CONVERGED: 2,
    Status.ITERATION_LIMIT: 0,
    Status.PRECISION_LIMIT: -1,
    Status.TIME_LIMIT: -2,
    Status.NOT_PROVED: -3,
}
"""SciPy's codes, and ours for what it does not tell apart."""


class BoundedFit(OptimizeResult):  # type: ignore[misc, unused-ignore]
    """SciPy's result, whose `unbounded_sol` is computed when it is first asked for."""

    @own_errstate
    def __missing__(self, key: str) -> Any:
        if key != "unbounded_sol":
            raise KeyError(key)
        A, b, options = self.__dict__["_unbounded"]
        self[key] = np.linalg.lstsq(A, b, rcond=-1) if options is None else lsmr(A, b, **options)
        return self[key]


@own_errstate
def lsq_linear(
    A: Any,
    b: Any,
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    tol: float = 1e-10,
    lsq_solver: str | None = None,
    lsmr_tol: float | str | None = None,
    max_iter: int | None = None,
    verbose: int = 0,
    *,
    lsmr_maxiter: int | None = None,
    time_limit: float | None = None,
) -> BoundedFit:
    """Minimise ½ ||A x - b||² over lb <= x <= ub, with the signature of `scipy.optimize.lsq_linear`.

    Parameters
    ----------
    A, b : matrix (dense, sparse or LinearOperator) and vector.
    bounds : (lb, ub), numbers or vectors, or a `scipy.optimize.Bounds`. lb = ub is accepted.
    method : 'trf' or 'bvls'. There is one method here; the name decides what `optimality` means.
    tol : the duality gap asked for, relative to the cost at the point of the box nearest to 0. With a
        matrix the answer is exact up to rounding whatever the tol; with an operator the run goes on
        until the gap proves every gradient to within tol, or to within rounding.
    lsq_solver, lsmr_tol, lsmr_maxiter : how `unbounded_sol` is computed, as in SciPy. A run with an
        operator starts from it; with a matrix no unbounded problem is solved on the way. 'exact' is
        refused for sparse A and operators.
    max_iter : steps of the solver; None for its own limit.
    time_limit : seconds after which the best point so far is returned; None for no limit. (Not in
        SciPy.)
    verbose : 1 prints how it ended, 2 shows progress on a terminal too.

    Returns
    -------
    OptimizeResult
        SciPy's fields: x, cost, fun = A x - b, optimality, active_mask, unbounded_sol (computed when
        first asked for), nit, status, message, success. `active_mask` is exact: -1 or 1 where x is at
        its bound. status is 3 (the unconstrained solution is optimal; nit is then 0), 1 (optimality
        below tol or its rounding error), 2 (gap below target), 0 (iteration limit), -1 (what is left
        of the gap is mostly rounding), -2 (time limit) or -3 (no dual point was found that proves the
        target gap). In addition `gap`, a proved bound on cost - min cost, `theta` and
        `certificate`.
    """
    deadline = Deadline.after(validate.seconds(time_limit, "time_limit"))
    relative = validate.tolerance(tol, "tol")
    steps = validate.iterations(max_iter, "max_iter", least=1)
    validate.one_of(method, "method", ("trf", "bvls"))
    validate.one_of(verbose, "verbose", (0, 1, 2))
    lower, upper = validate.bound_pair(bounds)
    matrix, target = validate.at_least_2d(A), np.atleast_1d(validate.real_array(b, "b"))
    options = (lsq_solver, lsmr_tol, lsmr_maxiter, relative)
    small = certified_fit(matrix, target, lower, upper, relative, 0.0, steps)
    if small is not None:
        unbounded = validate.lsmr_options(True, *options)
        found = _result(_small_answer(matrix, target, small), method, relative)
    else:
        problem = validate.problem(
            *(matrix, target, lower, upper, "least_squares"), target_name="b", sweeping=True
        )
        dense = isinstance(problem.design, DenseDesign)
        unbounded = validate.lsmr_options(dense, *options)
        with Progress(enabled=verbose > 1) as progress:
            outcome = _solved(problem, relative, steps, deadline, unbounded, progress)
        found = _result(_answer(problem, outcome), method, relative)
    found.__dict__["_unbounded"] = (matrix, target, unbounded)
    if verbose:
        print(found.message)
        print(f"Steps {found.nit}, cost {found.cost:.4e}, gap {found.gap:.2e}.")
    return found


def _solved(
    problem: Problem,
    tol: float,
    steps: int | None,
    deadline: Deadline,
    unbounded: dict[str, Any] | None,
    progress: Progress,
) -> Outcome:
    """The outcome of a run to a gap of tol · P₀; for operators to one that bounds gradients by tol."""
    method = validate.method(problem, "auto", "auto", "auto", "auto", True)
    scale, floor = reference_scale(problem)
    goal, start, begin = tol * scale, None, small_fit(problem, steps)
    if not problem.design.has_columns:
        steepest = float(np.max(problem.survey.norms, initial=0.0))
        goal = min(goal, 0.5 * (tol / steepest) ** 2 if steepest > 0.0 else goal)
        start = _unbounded_start(problem, unbounded or {})
    limit = method.solver.max_iter if steps is None else steps
    limits = Limits(max(goal, floor), limit, deadline, finishing=np.inf)
    return run(problem, method, limits, x0=start, stop=progress.watch(None), begin=begin)


def _unbounded_start(problem: Problem, options: dict[str, Any]) -> Array:
    """The unbounded solution: projected on the box it is where operators start."""
    design = problem.design
    products: Any = LinearOperator(
        design.shape, matvec=design.matvec, rmatvec=design.rmatvec, dtype=np.float64
    )
    return np.asarray(lsmr(products, problem.target, **options)[0])


class _Answer(NamedTuple):
    """x with all that SciPy's fields are made of."""

    x: Array
    residual: Array
    """b - A x."""
    slopes: Array
    """Aᵀ(b - A x)."""
    noise: Array
    """What rounding may have added to each slope."""
    lower: Array
    upper: Array
    theta: Array
    certificate: Certificate
    status: Status
    rounds: int


def _answer(problem: Problem, outcome: Outcome) -> _Answer:
    """That of a general run."""
    point = Point(unreduced(problem, WorkMeter(1)), outcome.x)
    return _Answer(
        x=outcome.x,
        residual=point.residual,
        slopes=point.correlation,
        noise=point.gradient_noise,
        lower=problem.lower,
        upper=problem.upper,
        theta=outcome.theta,
        certificate=outcome.certificate,
        status=outcome.status,
        rounds=outcome.n_iter,
    )


def _small_answer(A: Array, b: Array, found: CertifiedFit) -> _Answer:
    """That of the compiled call."""
    A = np.asarray(A, dtype=np.float64)
    residual = b - A @ found.x
    norms = np.sqrt(np.einsum("ij,ij->j", A, A))
    size = gamma(len(b) + 2) * norm(residual) + gamma(len(norms) + 2) * (norms @ np.abs(found.x))
    return _Answer(
        x=found.x,
        residual=residual,
        slopes=residual @ A,
        noise=size * norms,
        lower=found.lower,
        upper=found.upper,
        theta=found.theta,
        certificate=found.certificate,
        status=Status.CONVERGED,
        rounds=found.rounds,
    )


def _result(answer: _Answer, method: str, tol: float) -> BoundedFit:
    optimality = _kkt(answer) if method == "bvls" else _scaled_gradient(answer)
    status = _status(answer, optimality <= tol)
    residual = -answer.residual
    fields: dict[str, Any] = {
        "x": answer.x,
        "cost": 0.5 * float(residual @ residual),
        "fun": residual,
        "optimality": optimality,
        "active_mask": _active(answer),
        "nit": 0 if status == 3 else answer.rounds,
        "status": status,
        "message": _MESSAGES[status],
        "success": status > 0,
        "gap": answer.certificate.gap,
        "theta": answer.theta,
        "certificate": answer.certificate,
    }
    return BoundedFit(**fields)


def _inward(answer: _Answer) -> Array:
    return inward_slopes(answer.x, answer.slopes, answer.lower, answer.upper)


def _status(answer: _Answer, optimal: bool) -> int:
    if np.all(np.abs(answer.slopes) <= answer.noise):
        return 3
    if optimal or np.all(_inward(answer) <= answer.noise):
        return 1
    return _CODES[answer.status]


def _kkt(answer: _Answer) -> float:
    """The largest gradient that x may still follow: SciPy's measure for 'bvls'."""
    return float(np.max(_inward(answer), initial=0.0))


def _scaled_gradient(answer: _Answer) -> float:
    """max |g_j v_j|, v_j the distance to the bound ahead, 1 without one: SciPy's measure for 'trf'."""
    x, w = answer.x, answer.slopes
    ahead = np.where(w > 0.0, answer.upper - x, x - answer.lower)
    ahead[np.isinf(ahead)] = 1.0
    return float(np.max(np.abs(w) * ahead, initial=0.0))


def _active(answer: _Answer) -> npt.NDArray[np.int_]:
    """-1 at the lower, 1 at the upper bound; where they are equal, the one that x is pressed against."""
    at_lower, at_upper = answer.x == answer.lower, answer.x == answer.upper
    fixed = at_lower & at_upper
    pressed = np.where(answer.slopes > 0.0, 1, -1)
    return np.where(fixed, pressed, at_upper.astype(int) - at_lower.astype(int))
