"""Compiling ahead of the first call."""

from __future__ import annotations

import warnings

import numpy as np

from .compile_time import compile_time
from .warning_types import ConvergenceWarning


def warmup(*, sparse: bool = True, many: bool = True) -> float:
    """Compile what later calls need, so that none of them has to wait for it.

    Everything that boxreg compiles is kept on disk, so that this takes time once in an environment, and
    again after an upgrade of boxreg or numba. Without it each kernel is compiled by the first call that
    needs it.

    Parameters
    ----------
    sparse : bool, default True
        Compile kernels for sparse A too.
    many : bool, default True
        Compile those of `solve_many` too, which take the longest.

    Returns
    -------
    float
        The seconds spent on compiling; next to 0 where everything was on disk.

    Notes
    -----
    Small problems are solved: dense ones of float64 in C and Fortran order, with one and with two
    bounds, with least squares and other losses. Other types of numbers (float32) and losses of your own
    are compiled when they are first used.

    Examples
    --------
    >>> import boxreg
    >>> seconds = boxreg.warmup(sparse=False, many=False)
    """
    before = compile_time.spent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _dense()
        if sparse:
            _sparse()
        if many:
            _many()
    return compile_time.spent - before


def _dense() -> None:
    from .api import nnls, solve
    from .bounded_fit import lsq_linear

    rng = np.random.default_rng(0)
    A, y = rng.random((8, 5)), rng.random(8)
    nnls(A, y)
    solve(A, y)
    lsq_linear(A, y, (0.0, 1.0))
    solve(A, np.where(y > 0.5, 1.0, -1.0), loss="logistic")
    solve(A, y, loss="kullback_leibler")
    for m, n in ((300, 700), (2000, 120)):  # too large for the compiled calls; long columns
        A, y = rng.standard_normal((m, n)), rng.standard_normal(m)
        labels = np.where(y > 0.0, 1.0, -1.0)
        for ordered in (A, np.asfortranarray(A)):
            solve(ordered, y)
            solve(ordered, y, -0.05, 0.05)
            solve(ordered, y, solver="active_set", max_iter=100)
            solve(ordered, y, loss="huber", sample_weight=np.linspace(0.5, 1.5, m))
            solve(ordered, labels, loss="logistic", ridge=1.0)
            solve(np.abs(ordered), np.abs(y), loss="kullback_leibler", max_iter=50)
            solve(ordered, y, solver="coordinate_descent", max_iter=20)


def _sparse() -> None:
    import scipy.sparse

    from .api import solve

    rng = np.random.default_rng(0)
    A = scipy.sparse.csr_matrix(scipy.sparse.random(3000, 1000, density=0.01, random_state=0))
    y = np.abs(A @ np.maximum(rng.standard_normal(1000), 0.0) + 0.1 * rng.standard_normal(3000))
    for stored in (A, A.tocsc()):
        solve(stored, y)
        solve(stored, y, -1.0, 1.0, sample_weight=np.full(3000, 2.0))
        solve(stored, np.where(y > 1.0, 1.0, -1.0), loss="logistic", ridge=1.0)
        solve(stored, y, solver="coordinate_descent", max_iter=20)


def _many() -> None:
    from .batch import solve_many

    rng = np.random.default_rng(0)
    A, Y = rng.random((8, 5)), rng.random((8, 3))
    solve_many(A, Y)
    solve_many(A, Y, 0.0, 1.0)
    solve_many(A, Y, loss="kullback_leibler")
