"""Matrices and operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ..arrays import Array
from ..designs import ArrayDesign, DenseDesign, Design, OperatorDesign, SparseDesign
from ..devices import lives_on_gpu, on_gpu
from ..rounding import SMALLEST_NORM
from .arrays import check_range, real_array, vector

SMALLEST, LARGEST = SMALLEST_NORM, 1.0 / SMALLEST_NORM
"""Norms outside this range, unless 0, are refused: their squares would not be finite, or 0."""


def design(A: Any, name: str = "A") -> Design:
    """A as a design; dense arrays are held without a copy wherever their layout allows it."""
    if isinstance(A, Design):
        return A
    if isinstance(A, LinearOperator):
        if np.dtype(A.dtype).kind not in "fiub":
            raise TypeError(f"{name}: expected a real operator, got dtype {A.dtype}")
        return OperatorDesign(A)
    if sparse.issparse(A):
        return _sparse(A, name)
    if lives_on_gpu(A):
        return _on_gpu(A, name)
    array = real_array(A, name)
    if array.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (2 dimensions), got shape {array.shape}")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    return DenseDesign(array)


def _on_gpu(A: Any, name: str) -> ArrayDesign:
    array = on_gpu(A)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
    if array.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (2 dimensions), got shape {array.shape}")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    held = ArrayDesign(array)
    if not bool(held.xp.all(held.xp.isfinite(array))):
        raise ValueError(f"{name}: contains NaN or inf; expected finite numbers")
    return held


def _sparse(A: Any, name: str) -> SparseDesign:
    if A.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got dtype {A.dtype}")
    if A.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (2 dimensions), got shape {A.shape}")
    matrix = sparse.csc_array(A, dtype=np.float64)
    canonical = A.format == "csc" and A.has_canonical_format  # SciPy remembers the answer
    if not canonical and _has_duplicates(matrix):
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return SparseDesign(matrix)


def _has_duplicates(matrix: sparse.csc_array) -> bool:
    from ..kernels.csc import has_duplicates

    return bool(has_duplicates(matrix.indices, matrix.indptr, matrix.shape[0]))


def operator(A: Any, column_norms: Any = None) -> OperatorDesign:
    """A `LinearOperator` with its column norms, if the caller knows them."""
    if not isinstance(A, LinearOperator):
        raise TypeError(f"A: expected a LinearOperator, got {type(A).__name__}")
    norms = None
    if column_norms is not None:
        norms = vector(column_norms, "column_norms", A.shape[1], of="columns of A")
        if np.any(norms < 0):
            raise ValueError("column_norms: expected numbers >= 0")
    held = design(A)
    return OperatorDesign(held.operator, norms)  # type: ignore[attr-defined]


def check_norms(norms: Array, held: Design) -> None:
    """Refuse what is not finite, and what is so large or small that squares would not be."""
    if not len(norms) or (norms.min() >= SMALLEST and norms.max() <= LARGEST):
        return
    if held.entries is not None and not np.all(np.isfinite(norms)):
        check_range(held.entries, "A")
    largest = float(np.max(norms))
    if not largest <= LARGEST:
        raise ValueError(
            f"A: column {int(np.argmax(norms))} has norm {largest:g}; squares would overflow above "
            f"{LARGEST:g}: rescale A"
        )
    tiny = np.flatnonzero(norms < SMALLEST)
    if len(tiny) and held.has_columns and np.any(held.columns(tiny)):
        raise ValueError(
            f"A: a column among {tiny[:5].tolist()} is not zero but its norm is below {SMALLEST:g}, "
            "where squares underflow: rescale A"
        )
