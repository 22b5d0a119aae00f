"""A float64 guess of a box-constrained least-squares solution, to start the references from."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import lsq_linear, nnls


def float_start(
    A: ArrayLike, y: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> NDArray[np.float64]:
    """A point of the box, usually on the optimal face.

    Only l <= x <= u is promised: the references reach the solution from any point of the box, a
    good guess merely saves them pivots.  Columns and right-hand side are scaled by powers of two,
    so the guess does not depend on units.
    """
    a = np.asarray(A, dtype=np.float64)
    lo, hi = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    rhs = np.asarray(y, dtype=np.float64) - a @ lo
    size = np.abs(a).max(axis=0, initial=0.0)
    used = (size > 0.0) & (lo < hi)
    x = lo.copy()
    if not used.any() or not rhs.any():
        return x

    unit, rhs_unit = _power_of_two(size[used]), _power_of_two(np.abs(rhs).max())
    cap = (hi - lo)[used] * (unit / rhs_unit)
    step = _solve(a[:, used] / unit, rhs / rhs_unit, cap)
    inside = np.clip(lo[used] + step * (rhs_unit / unit), lo[used], hi[used])
    x[used] = np.where(step >= cap, hi[used], np.where(step > 0.0, inside, lo[used]))
    return x


def _solve(
    a: NDArray[np.float64], b: NDArray[np.float64], cap: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Roughly minimise |a t - b| over 0 <= t <= cap; t = 0 where SciPy gives up."""
    try:
        if np.isinf(cap).all():
            t = nnls(a, b)[0]
        else:
            t = lsq_linear(a, b, bounds=(0.0, cap), method="bvls").x
    except (RuntimeError, ValueError, np.linalg.LinAlgError):
        return np.zeros(a.shape[1])
    return np.where(np.isfinite(t), t, 0.0)


def _power_of_two(size: NDArray[np.float64]) -> NDArray[np.float64]:
    """The power of two next above each positive size."""
    return np.ldexp(1.0, np.frexp(size)[1])
