"""Dense least squares between bounds by one compiled call: an active set on orthogonal factors."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import validate
from .arrays import Array
from .certificate import Certificate
from .problem import Problem
from .settings import current


class Fit(NamedTuple):
    """What the compiled call did."""

    x: Array
    norm: float
    """||b - A x||."""
    rounds: int
    products: int
    """Products of length m with columns of A."""
    solved: bool
    """Whether no slope points into the box by more than rounding."""


class CertifiedFit(NamedTuple):
    """What the compiled call solved and proved."""

    x: Array
    theta: Array
    screened: npt.NDArray[np.int8]
    lower: Array
    upper: Array
    certificate: Certificate
    scale: float
    """P₀, the objective at the projection of 0 on the box."""
    target: float
    """The gap asked for."""
    rounds: int
    products: int


COMPILED = "compiled_active_set"
"""Its name among those of the solvers."""


def fit(
    columns: Array,
    b: Array,
    lower: Array,
    upper: Array,
    *,
    x: Array | None = None,
    cost: Array | None = None,
    threshold: float = 0.0,
    classic: bool = False,
    rounds: int | None = None,
) -> Fit:
    """The minimum of ½ ||b - A x||² + cᵀx over the box; row j of `columns` is a_j.

    It is sought from the point of the box nearest to x, or to 0. Arrays are float64, contiguous and
    writeable. No call makes more than `rounds` rounds, or 3 n + 30. `classic`: the largest slope is
    followed, as by SciPy, where others take the steepest.
    """
    most = 3 * len(columns) + 30
    most = most if rounds is None else min(rounds, most)
    x = np.zeros(len(columns)) if x is None else x.copy()
    cost = np.zeros(len(columns)) if cost is None else cost
    norm, *how = _kernels().solve(columns, b, cost, lower, upper, x, threshold, classic, most)
    return Fit(x, norm, *how)


def certified_fit(
    A: Any, y: Any, lower: Any, upper: Any, tol: float, atol: float, rounds: int | None
) -> CertifiedFit | None:
    """The answer of plain least squares with few entries, with its proof.

    None where A or y is something else, and where the gap asked for is not proved: the general way
    then begins with the same compiled call (`small_fit`), and goes on.
    """
    A = validate.in_memory(A, "A")
    if A is None or A.ndim != 2 or not 0 < A.size <= current().small_entries:
        return None
    y = validate.in_memory(y, "y")
    m, n = A.shape
    if y is None or y.shape != (m,):
        return None
    low, high = validate.bounds(lower, upper, n)
    x, theta, screened, most = np.empty(n), np.empty(m), np.empty(n, np.int8), 3 * n + 30
    most = most if rounds is None else min(rounds, most)
    gap, rounding, objective, dual, scale, target, made, products = _certified_kernel()(
        _plain(A.T), _plain(y), low, high, x, theta, screened, tol, atol, most
    )
    if not gap <= target < np.inf:
        return None
    certificate = Certificate(objective, dual, gap, True, True, True, rounding=rounding)
    return CertifiedFit(x, theta, screened, low, high, certificate, scale, target, made, products)


def nonnegative_fit(A: Any, b: Array, threshold: float, rounds: int | None) -> Fit | None:
    """The non-negative fit of a dense A with few entries; None where A is another matrix.

    Where A is wide and has negative entries there are many solutions as a rule: then SciPy's is found.
    Any array will do, in any order and of any kind of real numbers. Shapes that do not match and what
    is not finite are left to `validate`, which explains.
    """
    A = validate.in_memory(A, "A")
    if A is None or A.ndim != 2:
        return None
    m, n = A.shape
    if not 0 < A.size <= current().small_entries or b.shape != (m,):
        return None
    columns = _plain(A.T)
    found = fit(
        *(columns, _plain(b), np.zeros(n), np.full(n, np.inf)),
        threshold=threshold,
        classic=n > m and bool((columns < 0.0).any()),
        rounds=rounds,
    )
    return found if found.norm < np.inf else None


def small_fit(problem: Problem, rounds: int | None = None) -> Fit | None:
    """The answer of a least-squares problem with few entries, for a run to start from; None for others.

    Weights, ridge terms and costs are part of it; sparse columns are made dense. A caller's limit on
    steps is one on rounds.
    """
    design, loss = problem.design, problem.loss
    m, n = design.shape
    if not (loss.quadratic and design.has_columns and 0 < m * n <= current().small_entries):
        return None
    root = np.sqrt(problem.smoothness.times(np.ones(m)))
    columns, b = design.by_columns(), problem.target
    if not np.all(root == 1.0):
        columns, b = columns * root, b * root
    cost = None if problem.cost is None else problem.cost.c
    lower, upper = problem.lower, problem.upper
    return fit(_plain(columns), _plain(b), lower, upper, cost=cost, rounds=rounds)


def _plain(array: Any) -> Array:
    """The same numbers in a contiguous, writeable float64 array: compiled code is for one kind only."""
    plain = np.ascontiguousarray(array, dtype=np.float64)
    return plain if plain.flags.behaved else plain.copy()


@cache
def _certified_kernel() -> Any:
    from .kernels.certified_fit import solve

    return solve


@cache
def _kernels() -> Any:
    from .kernels import orthogonal_active_set

    return orthogonal_active_set
