"""Vectors and bounds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ..arrays import Array
from ..designs import Design
from ..devices import host, lives_on_gpu

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def vector(v: Any, name: str, length: int, *, of: str) -> Array:
    """A finite float64 vector of the given length."""
    array = real_array(v, name).astype(np.float64, copy=False)
    if array.ndim != 1 or len(array) != length:
        raise ValueError(
            f"{name}: expected a vector with {length} entries ({of}), got shape {array.shape}"
        )
    check_range(array, name)
    return array


def bounds(lower: Any, upper: Any, n: int) -> tuple[Array, Array]:
    """Bounds as vectors of length n; scalars broadcast."""
    low, high = _bound(lower, "lower", n), _bound(upper, "upper", n)
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ValueError("bounds: lower must be below +inf and upper above -inf")
    crossed = low > high
    low, high = _of_length(low, n), _of_length(high, n)
    if n and crossed.any():
        where = np.flatnonzero(low > high)
        j = int(where[0])
        raise ValueError(
            f"bounds: lower must not exceed upper, but lower[{j}] = {low[j]:g} > "
            f"upper[{j}] = {high[j]:g} ({len(where)} such coordinates)"
        )
    return low, high


def bound_pair(bounds: Any) -> tuple[Any, Any]:
    """(lower, upper) from a pair or from what has `lb` and `ub`, such as `scipy.optimize.Bounds`."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        low, high = bounds.lb, bounds.ub
        # Bounds makes vectors of one entry out of numbers.
        return (low[0], high[0]) if np.shape(low) == np.shape(high) == (1,) else (low, high)
    try:
        low, high = bounds
    except (TypeError, ValueError) as error:
        raise ValueError(
            "bounds: expected a pair (lower, upper) or a scipy.optimize.Bounds"
        ) from error
    return low, high


def _bound(value: Any, name: str, n: int) -> Array:
    """A number or n of them, as an array with as many dimensions."""
    array = real_array(value, name).astype(np.float64, copy=False)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n):
        raise ValueError(
            f"{name}: expected a number or a vector with {n} entries (columns of A), "
            f"got shape {array.shape}"
        )
    if np.isnan(array).any():
        raise ValueError(f"{name}: contains NaN; expected numbers (lower may hold -inf, upper inf)")
    return array


def _of_length(bound: Array, n: int) -> Array:
    """A vector of its own."""
    return np.full(n, bound) if bound.ndim == 0 else bound.copy()


def at_least_2d(A: Any) -> Any:
    """A, or as SciPy has it a matrix of one row where A is a vector or a number."""
    if type(A) is np.ndarray and A.ndim == 2 and A.dtype in _FLOATS:
        return A
    if sparse.issparse(A) or isinstance(A, (LinearOperator, Design)) or lives_on_gpu(A):
        return A
    return np.atleast_2d(real_array(A, "A"))


def in_memory(A: Any, name: str) -> np.ndarray[Any, np.dtype[Any]] | None:
    """A dense A as an array of real numbers; None for sparse matrices, operators and GPU arrays."""
    if type(A) is np.ndarray and A.dtype.kind in "fiub":
        return A
    if sparse.issparse(A) or isinstance(A, (LinearOperator, Design)) or lives_on_gpu(A):
        return None
    return real_array(A, name)


def real_array(value: Any, name: str) -> np.ndarray[Any, np.dtype[Any]]:
    """A float64 or float32 array on the host; integers and booleans become float64."""
    if type(value) is np.ndarray and value.dtype in _FLOATS:
        return value
    if type(value) is float or (type(value) is int and abs(value) < 2**53):
        return np.array(value, dtype=np.float64)
    value = host(value)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name}: has masked entries; fill or drop them first")
    if sparse.issparse(value):
        raise TypeError(f"{name}: expected a dense array, got a sparse matrix")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            array = np.asarray(value)
    except Exception as error:  # whatever the object's own conversion raises
        raise ValueError(f"{name}: cannot be read as an array of numbers ({error})") from error
    if array.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, got complex dtype {array.dtype}")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
    if array.dtype in _FLOATS:
        return np.asarray(array)
    with np.errstate(over="ignore"):  # wider numbers that are too large become inf
        return array.astype(np.float64)


def check_range(array: np.ndarray[Any, np.dtype[Any]], name: str) -> None:
    """Refuse NaN and inf. No temporary is made."""
    if array.size == 0:
        return
    least, greatest = float(array.min()), float(array.max())
    if not (np.isfinite(least) and np.isfinite(greatest)):
        what = "NaN" if np.isnan(least) or np.isnan(greatest) else "inf"
        raise ValueError(f"{name}: contains {what}; expected finite numbers")
