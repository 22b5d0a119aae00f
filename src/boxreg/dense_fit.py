"""Dense least squares between bounds by one compiled call: an active set on orthogonal factors."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from . import validate
from .arrays import Array
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


COMPILED = "compiled_active_set"
"""Its name among those of the solvers."""


def fit(
    columns: Array,
    b: Array,
    lower: Array,
    upper: Array,
    x: Array,
    *,
    cost: Array | None = None,
    threshold: float = 0.0,
    classic: bool = False,
    rounds: int | None = None,
) -> Fit:
    """The minimum of ½ ||b - A x||² + cᵀx over the box, from x on; row j of `columns` is a_j.

    Arrays are float64, contiguous and writeable. No call makes more than `rounds` rounds, or 3 n + 30.
    `classic`: the largest slope is followed, as by SciPy, where others take the steepest.
    """
    most = 3 * len(columns) + 30
    x = np.clip(x, lower, upper)
    none = np.zeros(len(x)) if cost is None else cost
    most = most if rounds is None else min(rounds, most)
    norm, *how = _kernel()(columns, b, none, lower, upper, x, threshold, classic, most)
    return Fit(x, norm, *how)


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
    zero, none = np.zeros(n), np.full(n, np.inf)
    columns = _plain(A.T)
    found = fit(
        *(columns, _plain(b), zero, none, zero),
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
    return fit(_plain(columns), _plain(b), lower, upper, np.zeros(n), cost=cost, rounds=rounds)


def _plain(array: Any) -> Array:
    """The same numbers in a contiguous, writeable float64 array: compiled code is for one kind only."""
    plain = np.ascontiguousarray(array, dtype=np.float64)
    return plain if plain.flags.behaved else plain.copy()


@cache
def _kernel() -> Any:
    from .kernels.orthogonal_active_set import solve

    return solve
