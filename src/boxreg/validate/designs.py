"""Matrices and operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ..arrays import Array, Index
from ..designs import ArrayDesign, DenseDesign, Design, OperatorDesign, SparseDesign
from ..devices import lives_on_gpu, on_gpu
from ..rounding import SMALLEST_NORM
from .arrays import check_range, real_array, vector

SMALLEST, LARGEST = SMALLEST_NORM, 1.0 / SMALLEST_NORM
"""Norms outside this range, unless 0, are refused: their squares would not be finite, or 0."""


_INDICES = (np.dtype(np.int32), np.dtype(np.int64))
"""What SciPy and compiled loops take for indices; others are converted."""


def design(A: Any, name: str = "A") -> Design:
    """A as a design; dense arrays are held without a copy wherever their layout allows it."""
    if isinstance(A, Design):
        return A
    if isinstance(A, LinearOperator):
        return _operator(A, name)
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


def _operator(A: LinearOperator, name: str) -> OperatorDesign:
    """The operator, tried on vectors of zeros: shapes, kinds of numbers, and that Aᵀ is there."""
    if A.dtype is not None and np.dtype(A.dtype).kind not in "fiub":
        raise TypeError(f"{name}: expected a real operator, got dtype {A.dtype}")
    m, n = (int(length) for length in A.shape)
    for product, entries, length in (("matvec", n, m), ("rmatvec", m, n)):
        try:
            found = np.asarray(getattr(A, product)(np.zeros(entries)))
        except NotImplementedError as error:
            raise TypeError(f"{name}: the operator has no {product}, which is needed") from error
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name}: {product} of a vector with {entries} entries fails ({error})"
            ) from error
        if found.dtype.kind not in "fiub":
            raise TypeError(f"{name}: {product} gives dtype {found.dtype}, expected real numbers")
        if found.shape != (length,):
            raise ValueError(f"{name}: {product} gives shape {found.shape}, expected ({length},)")
        if not np.isfinite(found).all():
            raise ValueError(f"{name}: {product} of a vector of zeros is not finite")
    return OperatorDesign(A)


def _sparse(A: Any, name: str) -> SparseDesign:
    if A.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got dtype {A.dtype}")
    if A.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (2 dimensions), got shape {A.shape}")
    try:
        held = structure_checked(A)
        with np.errstate(over="ignore"):  # wider numbers that are too large become inf
            matrix = sparse.csc_array(held, dtype=np.float64)
    except Exception as error:  # SciPy has no one class for what is wrong with its arrays
        raise ValueError(f"{name}: is a broken sparse {A.format} matrix: {error}") from error
    if _has_duplicates(matrix):
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return SparseDesign(matrix)


def structure_checked(A: Any) -> Any:
    """A with starts in order and indices inside its shape, as compiled loops trust them to be.

    The arrays of a sparse matrix can be set to anything, by hand or by a file. CSC, CSR and BSR are
    checked where they lie; other formats are brought into coordinates first. ValueError says what is
    wrong.
    """
    if A.format not in ("csc", "csr", "bsr"):
        _check_convertible(A)
        A = A.tocoo()
        for index, length in zip((A.row, A.col), A.shape, strict=True):
            if len(index) != len(A.data):
                raise ValueError("there are not as many indices as entries")
            _check_indices(np.asarray(index), length)
        return A
    m, n = A.shape
    if A.format == "bsr":
        height, width = A.data.shape[1:]
        if m % height or n % width:
            raise ValueError(f"blocks of {height} × {width} do not fill the shape {m} × {n}")
        m, n = m // height, n // width
    major, minor = (n, m) if A.format == "csc" else (m, n)
    starts, indices = np.asarray(A.indptr), np.asarray(A.indices)
    if starts.dtype.kind not in "iu" or starts.shape != (major + 1,):
        raise ValueError(f"expected {major + 1} starts, got {starts.dtype} of shape {starts.shape}")
    if starts[0] != 0 or np.any(starts[1:] < starts[:-1]):
        raise ValueError("the starts of rows or columns are out of order")
    stored = int(starts[-1])
    if indices.ndim != 1 or not stored <= min(len(indices), len(A.data)):
        raise ValueError("the starts of rows or columns reach beyond the entries")
    _check_indices(indices[:stored], minor)
    if starts.dtype in _INDICES and indices.dtype in _INDICES:
        return A
    index = (part.astype(np.int64) for part in (indices[:stored], starts))
    return type(A)((A.data[:stored], *index), shape=A.shape)


def _check_convertible(A: Any) -> None:
    """Refuse diagonals and lists whose lengths differ, which SciPy's own conversions trust."""
    m, n = A.shape
    if A.format == "dia":
        offsets = np.asarray(A.offsets)
        if offsets.ndim != 1 or A.data.ndim != 2 or len(offsets) != len(A.data):
            raise ValueError("there are not as many offsets as diagonals")
        if len(offsets) and not (offsets.min() > -m and offsets.max() < n):
            raise ValueError("a diagonal is outside the shape")
    elif A.format == "lil":
        if len(A.rows) != m or len(A.data) != m:
            raise ValueError("there are not as many lists as rows")
        if any(len(index) != len(part) for index, part in zip(A.rows, A.data, strict=True)):
            raise ValueError("there are not as many indices as entries")


def _check_indices(indices: Index, length: int) -> None:
    """Refuse indices outside 0 … length - 1, in one pass: a negative one is large when unsigned."""
    if indices.dtype.kind not in "iu":
        raise ValueError(f"expected whole numbers as indices, got dtype {indices.dtype}")
    if not indices.dtype.isnative:
        indices = indices.astype(indices.dtype.newbyteorder("="))
    unsigned = indices.view(np.dtype(f"u{indices.dtype.itemsize}"))
    if len(unsigned) and unsigned.max() >= length:
        raise ValueError("an index is outside the shape")


def _has_duplicates(matrix: sparse.csc_array) -> bool:
    from ..kernels.csc import has_duplicates

    return bool(has_duplicates(matrix.indices, matrix.indptr, matrix.shape[0]))


def with_columns(A: Any) -> Design:
    """A as a design whose single columns can be read; TypeError for operators."""
    held = design(A)
    if not held.has_columns:
        raise TypeError(
            f"A: expected an array or a scipy.sparse matrix, got {type(A).__name__}: "
            "single columns of A are needed"
        )
    return held


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


def check_norms(norms: Array, held: Design, name: str = "A") -> None:
    """Refuse what is not finite, and what is so large or small that squares would not be."""
    if not len(norms) or (norms.min() >= SMALLEST and norms.max() <= LARGEST):
        return
    if held.entries is not None and not np.all(np.isfinite(norms)):
        check_range(held.entries, name)
    largest = float(np.max(norms))
    if not largest <= LARGEST:
        raise ValueError(
            f"{name}: column {int(np.argmax(norms))} has norm {largest:g}; squares would overflow "
            f"above {LARGEST:g}: rescale {name}"
        )
    tiny = np.flatnonzero(norms < SMALLEST)
    if len(tiny) and held.has_columns and np.any(held.columns(tiny)):
        raise ValueError(
            f"{name}: a column among {tiny[:5].tolist()} is not zero but its norm is below "
            f"{SMALLEST:g}, where squares underflow: rescale {name}"
        )
