"""The oracle limit: the time to solve a problem when somebody has told you the answer's support.

One least-squares fit on the free columns (already gathered, contiguous) and one product Aᵀr to prove
it; Cholesky of the normal equations or a least-squares factorisation, the faster of those that are
accurate. A certified solver can be faster on the same machine only where an iterative fit is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack, lstsq

from .problem import Array, Problem
from .scoring import Judge
from .timing import best_of

ACCURATE = 1e-9


@dataclass(frozen=True)
class Limit:
    """The limit of one problem, in seconds, with the relative gap that its fit reaches."""

    seconds: float
    fit: float
    product: float
    free: int
    method: str
    relative_gap: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def oracle_limit(problem: Problem, x: Array, judge: Judge, budget: float) -> Limit:
    """The limit, given a certified solution x."""
    free = np.flatnonzero((x > problem.lower) & (x < problem.upper))
    fixed = x.copy()
    fixed[free] = 0.0
    target = np.asarray(problem.y - problem.A @ fixed)
    columns = problem.A[:, free]
    fits: dict[str, Callable[[], Array]] = {}
    if len(free):
        fits["cholesky"] = (
            _sparse_cholesky(columns, target)
            if problem.is_sparse
            else (lambda: _cholesky(columns, target))
        )
        dense = columns.toarray(order="F") if problem.is_sparse else columns
        fits["lstsq"] = lambda: lstsq(dense, target, lapack_driver="gelsy", check_finite=False)[0]
    else:
        fits["nothing to fit"] = lambda: np.zeros(0)
    residual = np.asarray(problem.y - problem.A @ x)
    product = best_of(lambda: problem.A.T @ residual, budget)
    found = [
        _timed(name, fit, problem, fixed, free, judge, budget, product)
        for name, fit in fits.items()
    ]
    accurate = [limit for limit in found if limit.relative_gap <= ACCURATE]
    return min(accurate or found, key=lambda limit: limit.seconds)


def _timed(
    name: str,
    fit: Callable[[], Array],
    problem: Problem,
    fixed: Array,
    free: Array,
    judge: Judge,
    budget: float,
    product: float,
) -> Limit:
    point = fixed.copy()
    try:
        point[free] = fit()
        seconds = best_of(fit, budget)
    except np.linalg.LinAlgError:
        return Limit(np.inf, np.inf, product, len(free), name, np.inf)
    gap = judge.score(problem.project(point)).relative_gap
    return Limit(seconds + product, seconds, product, len(free), name, gap)


def _cholesky(columns: Array, target: Array) -> Array:
    gram = blas.dsyrk(1.0, columns, trans=1)
    return _definite(gram, columns.T @ target)


def _sparse_cholesky(columns: Any, target: Array) -> Callable[[], Array]:
    return lambda: _definite((columns.T @ columns).toarray(), columns.T @ target)


def _definite(gram: Array, right: Array) -> Array:
    _, z, info = lapack.dposv(gram, right)
    if info:
        raise np.linalg.LinAlgError("not definite to working precision")
    return np.asarray(z).ravel()
