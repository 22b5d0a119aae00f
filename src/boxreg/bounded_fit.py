"""Least squares between bounds, in SciPy's form."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import OptimizeResult
from scipy.sparse.linalg import LinearOperator, lsmr

from . import validate
from .arrays import Array
from .budget import Deadline
from .certificate import Certificate
from .dense_fit import (
    CertifiedFit,
    certificate_of,
    certified_fit,
    certified_start,
    is_plain,
)
from .designs import DenseDesign
from .driver import Outcome, run
from .floating_point import own_errstate
from .point import Point
from .presolve import reference_scale, unreduced
from .problem import Problem
from .progress import Progress
from .status import Status
from .stopping import Limits
from .work import WorkMeter

if TYPE_CHECKING:
    from .kernels.optimality import Optimality

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
    seconds = validate.seconds(time_limit, "time_limit")
    relative = validate.tolerance(tol, "tol")
    steps = validate.iterations(max_iter, "max_iter", least=1)
    validate.one_of(method, "method", ("trf", "bvls"))
    validate.one_of(verbose, "verbose", (0, 1, 2))
    lower, upper = validate.bound_pair(bounds)
    matrix, target = validate.at_least_2d(A), validate.real_array(b, "b")
    target = target if target.ndim else target[None]
    options = (lsq_solver, lsmr_tol, lsmr_maxiter, relative)
    small = certified_fit(matrix, target, lower, upper, relative, 0.0, steps)
    if small is not None and small.proved:
        unbounded = validate.lsmr_options(not sparse.issparse(matrix), *options)
        found = _result(_small_answer(small), method, relative)
    else:
        answer, unbounded = _answered(
            *(matrix, target, lower, upper, relative, steps, seconds, options, small, verbose)
        )
        found = _result(answer, method, relative)
    found.__dict__["_unbounded"] = (matrix, target, unbounded)
    if verbose:
        print(found.message)
        print(f"Steps {found.nit}, cost {found.cost:.4e}, gap {found.gap:.2e}.")
    return found


@own_errstate
def _answered(
    A: Any,
    b: Any,
    lower: Any,
    upper: Any,
    tol: float,
    steps: int | None,
    seconds: float | None,
    options: tuple[Any, ...],
    begin: CertifiedFit | None,
    verbose: int,
) -> tuple[_Answer, dict[str, Any] | None]:
    """The answer of a general run, and how `unbounded_sol` is computed."""
    deadline = Deadline.after(seconds)
    problem = validate.problem(A, b, lower, upper, "least_squares", target_name="b", sweeping=True)
    unbounded = validate.lsmr_options(isinstance(problem.design, DenseDesign), *options)
    with Progress(enabled=verbose > 1) as progress:
        found = _solved(problem, tol, steps, deadline, unbounded, begin, progress)
    if isinstance(found, CertifiedFit):
        return _small_answer(found), unbounded
    return _answer(problem, found), unbounded


def _solved(
    problem: Problem,
    tol: float,
    steps: int | None,
    deadline: Deadline,
    unbounded: dict[str, Any] | None,
    begin: CertifiedFit | None,
    progress: Progress,
) -> Outcome | CertifiedFit:
    """The answer of the compiled call, if it proves a gap of tol · P₀; or the outcome of a run to that
    gap, or for operators to one that bounds gradients by tol."""
    method = validate.method(problem, "auto", "auto", "auto", "auto", True)
    scale, floor = reference_scale(problem)
    goal, start = tol * scale, None
    products = method.first_products(problem, deadline)
    dense = isinstance(problem.design, DenseDesign)
    if begin is None and dense and products > 0.0 and is_plain(problem):
        begin = certified_start(problem, products, tol, 0.0, steps)
        if begin is not None and begin.proved:
            return begin
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
    fun: Array
    """A x - b."""
    active: npt.NDArray[np.int_]
    optimality: Optimality
    theta: Array
    certificate: Certificate
    status: Status
    rounds: int


def _answer(problem: Problem, outcome: Outcome) -> _Answer:
    """That of a general run."""
    point = Point(unreduced(problem, WorkMeter(1)), outcome.x)
    active = np.empty(len(outcome.x), dtype=np.int_)
    return _Answer(
        x=outcome.x,
        fun=-point.residual,
        active=active,
        optimality=_kernels().of_slopes(
            *(0.5 * point.residual_square, outcome.x, point.correlation, point.gradient_noise),
            *(problem.lower, problem.upper, active),
        ),
        theta=outcome.theta,
        certificate=outcome.certificate,
        status=outcome.status,
        rounds=outcome.n_iter,
    )


def _small_answer(found: CertifiedFit) -> _Answer:
    """That of the compiled call."""
    columns, b, x = found.columns, found.b, found.x
    fun, active = np.empty(len(b)), np.empty(len(x), dtype=np.int_)
    optimality = _kernels().of_point(columns, b, x, found.lower, found.upper, fun, active)
    return _Answer(
        *(x, fun, active, optimality, found.theta, certificate_of(found.proof)),
        *(Status.CONVERGED, found.proof.rounds),
    )


def _result(answer: _Answer, method: str, tol: float) -> BoundedFit:
    measured = answer.optimality
    optimality = measured.steepest if method == "bvls" else measured.scaled
    status = _CODES[answer.status]
    if optimality <= tol or measured.settled:
        status = 3 if measured.flat else 1
    fields: dict[str, Any] = {
        "x": answer.x,
        "cost": measured.cost,
        "fun": answer.fun,
        "optimality": optimality,
        "active_mask": answer.active,
        "nit": 0 if status == 3 else answer.rounds,
        "status": status,
        "message": _MESSAGES[status],
        "success": status > 0,
        "gap": answer.certificate.gap,
        "theta": answer.theta,
        "certificate": answer.certificate,
    }
    return BoundedFit(**fields)


@cache
def _kernels() -> Any:
    from .kernels import optimality

    return optimality
