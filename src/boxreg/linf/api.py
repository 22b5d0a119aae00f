"""The public function."""

from __future__ import annotations

import warnings
from typing import Any

from .. import validate
from ..budget import Deadline
from ..compile_time import Stopwatch
from ..floating_point import own_errstate
from ..progress import Progress
from ..rounding import dot
from ..stopping import Limits
from ..warning_types import ConvergenceWarning
from .result import AntisparseResult
from .run import run

_STEPS = 10_000


@own_errstate
def antisparse(
    A: Any,
    y: Any,
    penalty: float,
    *,
    squeezing: bool = True,
    tol: float = 1e-8,
    atol: float = 0.0,
    max_iter: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
) -> AntisparseResult:
    """Minimise ½||y - A x||² + penalty · ||x||∞, and prove the answer.

    The penalty spreads a signal over all coordinates: most end at ± ||x||∞. Those proved to do so are
    merged into one column as the run goes (Elvira and Herzet, 2020, "Safe squeezing for antisparse
    coding"). For ||x||∞ <= c as a constraint use `solve(A, y, -c, c)`.

    Parameters
    ----------
    A : array (float64 or float32, any order) or scipy.sparse matrix or array, m × n.
    y : vector with m entries.
    penalty : λ > 0. From ||Aᵀy||₁ on the answer is x = 0.
    squeezing : merge columns as soon as their coordinates are proved to be at ± ||x||∞.
    tol, atol : the gap to reach is max(tol · ½||y||², atol); the method is exact and goes on from
        there until the gap stops shrinking.
    max_iter : steps, each one a level or a box-constrained solution on a working set.
    time_limit : seconds after which the best point so far is returned, with its gap and the status
        TIME_LIMIT; None for no limit.
    verbose : 1 shows progress on a terminal (nothing in a pipe).

    Returns
    -------
    AntisparseResult
        With `x`, `level`, `squeezed`, `gap`, `certificate` and more. If the gap asked for was not
        reached, the best point so far, with a status that says so and a `ConvergenceWarning`. Where
        several x are optimal it is one of them; `level`, Ax and `squeezed` are the same for all.
    """
    watch = Stopwatch()
    deadline = Deadline.after(validate.seconds(time_limit, "time_limit"))
    problem = validate.level_zero(A, y)
    weight = validate.positive(penalty, "penalty")
    squeeze = validate.switch(squeezing, "squeezing")
    scale = 0.5 * dot(problem.target, problem.target)
    relative, absolute = validate.tolerance(tol, "tol"), validate.tolerance(atol, "atol")
    steps = validate.iterations(max_iter, "max_iter")
    target, most = max(relative * scale, absolute), _STEPS if steps is None else steps
    limits = Limits(target, most, deadline)
    with Progress(enabled=validate.verbosity(verbose) > 0) as progress:
        outcome = run(problem, weight, limits, squeezing=squeeze, watch=progress.watch(None))
    result = AntisparseResult.of(outcome, weight, scale, limits.target, watch.seconds)
    if result.status.fell_short:
        warnings.warn(
            f"{result.message} Gap {result.gap:.3g}, asked for {result.target_gap:.3g}.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return result
