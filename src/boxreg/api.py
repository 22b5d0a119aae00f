"""The public functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from . import validate
from .arrays import Array
from .budget import Deadline
from .certificate import Certificate, certify
from .compile_time import Stopwatch
from .compiled_result import CompiledResult
from .dense_fit import (
    COMPILED,
    Begun,
    Fit,
    certified_fit,
    certified_start,
    first_fit,
    is_plain,
    nonnegative_fit,
)
from .designs import OperatorDesign
from .driver import Outcome, run
from .floating_point import own_errstate
from .history import History, Snapshot
from .losses import LeastSquares
from .method import Method
from .plan import Plan
from .planning import first_products
from .point import Point
from .presolve import presolve, reference_scale
from .problem import Problem
from .progress import Progress
from .proved import precision
from .result import Result
from .smooth_fit import SmallProblem, SmoothFit
from .status import Status
from .stopping import Limits
from .warning_types import ConvergenceWarning
from .work import WorkMeter

_NNLS_GAP = 1e-10
"""Relative gap at which `nnls` stops, once no gradient exceeds its rounding error either."""

_SMOOTH_PLAN = (
    Plan()
    .decided("engine", COMPILED, "few entries, and a loss that kernels know")
    .decided("dual", "residual", "made to fit the dual cone by the same call")
    .decided("region", "gap_sphere", "it costs no product, and the gap is next to 0")
)

_AT_THE_END = (Status.PRECISION_LIMIT, Status.NOT_PROVED)
"""How runs end in which the solver could do no more."""


def solve(
    A: Any,
    y: Any,
    lower: Any = 0.0,
    upper: Any = np.inf,
    *,
    loss: Any = "least_squares",
    sample_weight: Any = None,
    linear: Any = None,
    ridge: Any = 0.0,
    solver: Any = "auto",
    screening: bool = True,
    dual: Any = "auto",
    direction: Any = "auto",
    region: Any = "auto",
    tol: float = 1e-8,
    atol: float = 0.0,
    max_iter: int | None = None,
    time_limit: float | None = None,
    finish: str = "precision",
    x0: Any = None,
    callback: Callable[[Snapshot], object] | None = None,
    verbose: int = 0,
) -> Result:
    """Minimise sum_i ω_i f([A x]_i; y_i) + cᵀx + ½ μ ||x||² over lower <= x <= upper, with a proof.

    Parameters
    ----------
    A : array (float64 or float32, any order), scipy.sparse matrix or array, or LinearOperator, m × n.
    y : vector with m entries.
    lower, upper : numbers or vectors with n entries; lower may hold -inf, upper inf. A coordinate with
        both is free, as an intercept is.
    loss : 'least_squares', 'huber', 'logistic', 'squared_hinge', 'log_cosh', 'kullback_leibler',
        'beta_divergence', or a `Loss`, such as `losses.Huber(0.5)` or what `custom_loss` makes.
    sample_weight : ω, m numbers >= 0; a row with weight 0 is left out.
    linear : c, n numbers or one for all columns: the non-negative Lasso has linear = λ.
    ridge : μ >= 0, n such numbers for ½ sum_j μ_j x_j², or a matrix Γ (dense, sparse or LinearOperator)
        for ½ ||Γ x||². The dual point then has a component for each row of Γ (for each μ_j > 0) after
        those of A.
    solver : 'auto', 'working_set', 'newton', 'active_set', 'coordinate_descent', 'projected_gradient',
        'chambolle_pock', or a `PrimalSolver`, such as `CoordinateDescent(acceleration=None)`. 'auto' is
        'working_set' for least squares, or 'sparse_descent' where A is sparse, 'newton' for other
        losses, and 'projected_gradient' where A is an operator. 'working_set', 'sparse_descent' and
        'active_set' are for least squares only.
    screening : fix coordinates, and drop their columns, as soon as they are proved to be at a bound.
    dual : 'auto', 'residual', 'translation', 'line_search', 'extrapolated', 'support_polish', or a
        `DualUpdate`. 'auto' is 'line_search' without screening and for 'working_set', and
        'support_polish' otherwise; first-order solvers then go on from the polished point where that is
        better than their own. `SupportPolish(adopt=False)` leaves them their iterates.
    direction : direction into the dual cone, for coordinates with no upper bound: 'auto', 'ones',
        'mean', 'most_correlated', 'least_correlated', 'data', 'least_squares', or a vector t with
        Aᵀt < 0.
    region : 'auto', 'two_point_ball', 'gap_sphere', 'dome', or a `SafeRegion`. 'auto' is 'dome' for
        first-order solvers where A >= 0, and 'two_point_ball' elsewhere.
    tol, atol : stop when the gap is at most max(tol · P₀, atol), P₀ the objective at the projection
        of 0 on the box.
    max_iter : steps of the solver; None for the solver's own limit.
    time_limit : seconds after which the best point so far is returned, with its gap and the status
        TIME_LIMIT; None for no limit.
    finish : 'precision' lets a run that has proved the gap asked for go on to the precision of the data,
        for as long again at most; 'tolerance' ends it there.
    x0 : starting point, projected on the box.
    callback : called with a `Snapshot` at each check; a true return value stops the run.
    verbose : 1 shows progress on a terminal (nothing in a pipe).

    Returns
    -------
    Result
        With `x`, `gap`, `certificate` and more. If the gap asked for was not reached, the best point
        so far, with a status that says so and a `ConvergenceWarning`.
    """
    watch = Stopwatch()
    most = validate.seconds(time_limit, "time_limit")
    terms = {"sample_weight": sample_weight, "linear": linear, "ridge": ridge}
    limit = validate.iterations(max_iter, "max_iter")
    relative, absolute = validate.tolerance(tol, "tol"), validate.tolerance(atol, "atol")
    validate.one_of(finish, "finish", ("precision", "tolerance"))
    watcher, shown = validate.function(callback, "callback"), validate.verbosity(verbose) > 0
    choices = (solver, dual, direction, region)
    found = None
    if screening is True and x0 is None and _is_least_squares(loss) and _are_default(choices):
        given = {} if _is_plain(terms) else _given(terms)
        found = certified_fit(A, y, lower, upper, relative, absolute, limit, **given)
        if found is not None and found.proved:
            return CompiledResult.of(found, watch, list(given))
    limits = (relative, absolute, limit, most, 1.0 if finish == "precision" else 0.0)
    options = (*choices, screening, x0)
    result = _general_result(
        *((A, y, lower, upper, loss), terms, options, limits, found, watcher, shown, watch)
    )
    if result.status.fell_short:
        warnings.warn(
            f"{result.message} Gap {result.gap:.3g}, asked for {result.target_gap:.3g}.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return result


@own_errstate
def _general_result(
    data: tuple[Any, ...],
    terms: dict[str, Any],
    options: tuple[Any, ...],
    asked: tuple[float, float, int | None, float | None, float],
    begin: Begun | None,
    watcher: Callable[[Snapshot], object] | None,
    shown: bool,
    watch: Stopwatch,
) -> Result:
    """The result of a run; its arguments are those of `solve`, numbers checked and nothing else.

    `begin` is what the compiled call found, if it was tried.
    """
    solver, dual, direction, region, screening, x0 = options
    relative, absolute, limit, most, finishing = asked
    deadline = Deadline.after(most)
    sweeping = x0 is None and isinstance(solver, str) and solver in ("auto", "working_set")
    problem = validate.problem(*data, **terms, sweeping=sweeping)
    method = validate.method(problem, solver, dual, region, direction, screening)
    start = validate.start(x0, problem)
    products = method.first_products(problem, deadline)
    usual = begin is None and screening is True and x0 is None and _are_default(options[:4])
    if usual and products > 0.0 and is_plain(problem):
        begin = certified_start(problem, products, relative, absolute, limit)
        if begin is not None and begin.proved:
            plan = method.plan.decided("start", COMPILED, method.first[1])
            return CompiledResult.of(begin, watch, [], plan)
    scale, floor = reference_scale(problem)
    target = max(relative * scale, absolute, floor)
    if begin is None and start is None and isinstance(solver, str) and solver == "auto":
        small = SmallProblem.of(problem)
        begin, proved = (None, None) if small is None else small.answer(scale, target, limit)
        if proved is not None and usual:
            return _smooth_result(proved, watch, problem, terms)
    limits = Limits(
        target=target,
        max_iter=method.solver.max_iter if limit is None else limit,
        deadline=deadline,
        finishing=finishing,
    )
    with Progress(enabled=shown) as progress:
        stop = progress.watch(watcher)
        outcome = run(problem, method, limits, x0=start, stop=stop, begin=begin)
    result = _result(problem, method, limits, scale, outcome, watch.seconds)
    result.settings.update(_named(list(_given(terms))))
    return result


def nnls(
    A: Any, b: Any, *, maxiter: int | None = None, atol: float | None = None
) -> tuple[Array, float]:
    """Solve argmin_x ||A x - b|| for x >= 0, with the signature of `scipy.optimize.nnls`.

    Parameters
    ----------
    A, b : matrix and vector; whatever `solve` takes but operators.
    maxiter : rounds, each of which frees one variable of a small dense problem, and a batch of them
        otherwise; default 3 n. When they run out the best point so far is returned, with a
        `ConvergenceWarning`.
    atol : a bound coordinate is freed only where its gradient a_jᵀ(b - A x) exceeds this; default:
        its rounding error.

    Returns
    -------
    x, rnorm : the solution and ||A x - b||. Where there are several solutions, one of them, which need
        not be the one that SciPy finds.
    """
    threshold = 0.0 if atol is None else validate.tolerance(atol, "atol")
    limit = None if maxiter is None else validate.iterations(maxiter, "maxiter")
    b = validate.real_array(b, "b")
    if b.ndim == 2 and b.shape[1] == 1:  # a column, as SciPy accepts it
        b = b[:, 0]
    begin = nonnegative_fit(A, b, threshold, limit)
    if begin is not None and (begin.solved or limit is not None):
        if not begin.solved:
            _warn_of_rounds(begin.rounds)
        return begin.x, begin.norm
    return _general_nnls(A, b, threshold, limit, begin)


@own_errstate
def _general_nnls(
    A: Any, b: Array, threshold: float, limit: int | None, begin: Fit | None
) -> tuple[Array, float]:
    """The answer of a run, from where the compiled call ended."""
    from .solvers import SparseDescent
    from .solvers.last_resort import last_resort, suspects

    problem = validate.problem(
        validate.with_columns(A), b, 0.0, np.inf, "least_squares", target_name="b"
    )
    n = problem.design.shape[1]
    steps = 3 * n if limit is None else limit
    products, _ = first_products(problem)
    if begin is None and threshold == 0.0 and products > 0.0:
        begin = first_fit(problem, products, limit)
        if begin.solved:
            return begin.x, begin.norm
    target = _NNLS_GAP * reference_scale(problem)[0]
    limits = Limits(target=target, max_iter=steps, finishing=np.inf)
    solver = SparseDescent(threshold, precision=0.0)
    method = validate.method(problem, solver, "auto", "auto", "auto", True)
    outcome = run(problem, method, limits, begin=begin)
    if outcome.status is Status.ITERATION_LIMIT:
        _warn_of_rounds(steps, 5)
    point = Point(presolve(problem, WorkMeter(n)), outcome.x)
    if suspects(point).any() or outcome.status in _AT_THE_END:
        point = last_resort(point)
    return point.x, float(np.linalg.norm(point.residual))


def _warn_of_rounds(made: int, level: int = 3) -> None:
    warnings.warn(
        f"maxiter: {made} steps were not enough; the best point so far is returned",
        ConvergenceWarning,
        stacklevel=level,
    )


@own_errstate
def verify(
    A: Any,
    y: Any,
    x: Any,
    theta: Any,
    lower: Any = 0.0,
    upper: Any = np.inf,
    *,
    loss: Any = "least_squares",
    sample_weight: Any = None,
    linear: Any = None,
    ridge: Any = 0.0,
    gap: float | None = None,
) -> Certificate:
    """Check an answer from any source, trusting nothing but the arguments.

    Parameters
    ----------
    A, y, lower, upper, loss, sample_weight, linear, ridge : the problem, as for `solve`.
    x : the answer.
    theta : a dual point, such as `Result.theta`.
    gap : float, optional
        The claim that P(x) - P* is at most this. A claim below what can be proved is never accepted.

    Returns
    -------
    Certificate
        Its `verdict` is PROVED (x and theta are feasible, and the gap, rounding errors included, is
        finite and at most the claimed one), REFUTED (x is outside the box, or P(x) - P* is proved to
        exceed the claim) or NOT_PROVED; `reasons` say why. A certificate is true if it is PROVED.
        Whatever rests on an assumption is NOT_PROVED, with the assumption named.

    Notes
    -----
    `Result.gap` has room for a second computation: `verify` confirms it in whatever order, and from
    whatever storage of A, the sums are computed.

    Examples
    --------
    >>> import boxreg
    >>> certificate = boxreg.verify([[1.0]], [1.0], x=[0.0], theta=[0.0], gap=0.1)
    >>> certificate.verdict.name, certificate.reasons
    ('REFUTED', ('the claimed gap 0.1 is false: P(x) - P* is at least 0.5',))
    """
    terms = {"sample_weight": sample_weight, "linear": linear, "ridge": ridge}
    problem = validate.problem(A, y, lower, upper, loss, **terms)
    point = validate.point(x, problem)
    problem = replace(problem, design=problem.design.counted())
    dual = validate.dual_point(theta, problem)
    claim = None if gap is None else validate.claim(gap, "gap")
    return certify(problem, point, dual, claimed_gap=claim)[0]


@own_errstate
def operator(A: Any, column_norms: Any = None) -> OperatorDesign:
    """A `LinearOperator` together with the norms of its columns, which saves computing them."""
    return validate.operator(A, column_norms)


def _is_least_squares(loss: Any) -> bool:
    return type(loss) is LeastSquares or (type(loss) is str and loss == LeastSquares.name)


def _smooth_result(
    found: SmoothFit, watch: Stopwatch, problem: Problem, terms: dict[str, Any]
) -> Result:
    """The result of a problem with another loss that compiled calls have solved and proved."""
    certificate, rounds = found.certificate, found.rounds
    gap, objective = certificate.gap, certificate.objective
    n, seconds = len(found.x), watch.seconds
    work, screened = found.products / n, found.screened
    preserved = n - int(np.count_nonzero(screened))
    row_map = problem.row_map
    return Result(
        x=found.x,
        theta=found.theta if row_map is None else row_map.expand(found.theta),
        lower=problem.lower,
        upper=problem.upper,
        gap=gap,
        target_gap=found.target,
        objective=objective,
        dual_objective=certificate.dual_objective,
        status=found.status,
        message=f"{found.status.value} {precision(certificate, found.scale)}",
        screened=screened,
        screened_at=np.where(screened == 0, -1, rounds),
        n_iter=rounds,
        work=work,
        seconds=seconds,
        history=History.single(rounds, seconds, work, objective, gap, preserved),
        certificate=certificate,
        shape=problem.data_shape,
        scale=found.scale,
        plan=_SMOOTH_PLAN,
        settings={
            "solver": COMPILED,
            "dual": "residual",
            "region": "gap_sphere",
            "screening": "on",
            "loss": problem.loss.name,
            **_named(list(_given(terms))),
        },
    )


def _is_plain(terms: dict[str, Any]) -> bool:
    """Whether no further terms are asked for, at a glance."""
    weight, linear, ridge = terms.values()
    return weight is None and linear is None and type(ridge) is float and ridge == 0.0


def _given(terms: dict[str, Any]) -> dict[str, Any]:
    """The terms that there are beside loss and bounds."""
    return {name: v for name, v in terms.items() if not (v is None or _is_zero(v))}


def _are_default(choices: tuple[Any, ...]) -> bool:
    """Whether nobody asks for another solver, dual update, direction or region than the default."""
    return all(type(choice) is str and choice == "auto" for choice in choices)


def _named(terms: list[str]) -> dict[str, str]:
    """Which terms there are beside loss and bounds, for those who show a result."""
    return {"terms": ", ".join(terms)} if terms else {}


def _is_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 0


def _result(
    problem: Problem, method: Method, limits: Limits, scale: float, outcome: Outcome, seconds: float
) -> Result:
    certificate = outcome.certificate
    said = (outcome.status.value, precision(certificate, scale), outcome.note)
    settings = {
        "solver": outcome.ran,
        "dual": method.dual.name,
        "region": method.region.name,
        "screening": "on" if method.screening else "off",
        "loss": problem.loss.name,
    }
    return Result(
        x=outcome.x,
        theta=outcome.theta if problem.row_map is None else problem.row_map.expand(outcome.theta),
        lower=problem.lower,
        upper=problem.upper,
        gap=certificate.gap,
        target_gap=limits.target,
        objective=certificate.objective,
        dual_objective=certificate.dual_objective,
        status=outcome.status,
        message=" ".join(filter(None, said)),
        screened=outcome.screened,
        screened_at=outcome.screened_at,
        n_iter=outcome.n_iter,
        work=outcome.work,
        seconds=seconds,
        history=outcome.history,
        certificate=certificate,
        shape=problem.data_shape,
        scale=scale,
        plan=outcome.plan,
        settings=settings,
    )
