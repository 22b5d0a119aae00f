"""adelie: coordinate descent for bounded-variable least squares."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..problem import Array, Problem
from .rival import Rival, Run, takes_all, threads


def _prepare(problem: Problem, tolerance: float) -> Run:
    import adelie
    import adelie.matrix
    import adelie.solver

    if problem.is_sparse:
        matrix = adelie.matrix.sparse(sparse.csc_matrix(problem.A), n_threads=threads())
    else:
        matrix = adelie.matrix.dense(problem.A, method="naive", n_threads=threads())
    lower, upper = problem.bounds
    weights = np.ones(len(problem.y))

    def run() -> Array:
        state = adelie.solver.bvls(
            matrix,
            problem.y,
            lower,
            upper,
            weights=weights,
            tol=tolerance,
            max_iters=10_000_000,
            n_threads=threads(),
        )
        return np.array(state.beta)

    return run


ADELIE = (
    Rival(
        "adelie",
        "adelie",
        "adelie",
        "bvls, F order",
        _prepare,
        takes_all,
        tolerances=(1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-15),
        place="old_numpy",
    ),
)
