"""Products of dense matrices, by the BLAS that SciPy's LAPACK uses.

The wheels of NumPy and SciPy each bring a BLAS with threads of its own, which stay awake for a while
after a call. Where a Gram matrix comes from one and its factor from the other, again and again, the
threads of each hold up the other's: on two cores such runs take up to three times as long.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm, dgemv, dsyrk

from .arrays import Array


def cross(left: Array, right: Array, out: Array | None = None) -> Array:
    """leftᵀ right, both column-major; into `out`, row-major, if it is given."""
    if not (left.size and right.size):
        empty = np.zeros((left.shape[1], right.shape[1])) if out is None else out
        empty[...] = 0.0
        return empty
    if out is None:
        out = np.empty((left.shape[1], right.shape[1]))
    dgemm(1.0, right, left, beta=0.0, c=out.T, trans_a=1, overwrite_c=1)
    return out


def own(columns: Array) -> Array:
    """columnsᵀ columns, column-major given, row-major returned: half of it is computed, and mirrored."""
    from .kernels.mirroring import mirror

    if not columns.size:
        return np.zeros((columns.shape[1], columns.shape[1]))
    gram = np.asarray(dsyrk(1.0, columns, trans=1, lower=1)).T
    mirror(gram)
    return gram


def combine(columns: Array, weights: Array) -> Array:
    """columns · weights, column-major."""
    if not columns.size:
        return np.zeros(columns.shape[0])
    return np.asarray(dgemv(1.0, columns, weights))


def correlate(columns: Array, v: Array) -> Array:
    """columnsᵀ v, column-major."""
    if not columns.size:
        return np.zeros(columns.shape[1])
    return np.asarray(dgemv(1.0, columns, v, trans=1))


def subtract(target: Array, left: Array, right: Array) -> None:
    """target ← target - left right, all of them column-major, in place."""
    if target.size and left.size:
        dgemm(-1.0, left, right, beta=1.0, c=target, overwrite_c=1)


def symmetric_times(matrix: Array, x: Array) -> Array:
    """A symmetric matrix times x."""
    from .kernels.lines import correlate_lines

    return np.asarray(correlate_lines(matrix if matrix.flags.c_contiguous else matrix.T, x))
