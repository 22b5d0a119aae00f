"""Indices of sparse matrices from files, which may be broken."""

from __future__ import annotations

from typing import Any

import numpy as np


def checked(matrix: Any) -> Any:
    """A sparse matrix whose indices are inside its shape; ValueError if they are not.

    Compiled loops trust the indices. Formats other than CSR and CSC become COO.
    """
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    if matrix.format in ("csr", "csc"):
        starts = matrix.indptr
        if starts[-1] != len(matrix.indices) or np.any(np.diff(starts) < 0):
            raise ValueError("the starts of rows or columns are out of order")
        return matrix
    matrix = matrix.tocoo()
    for index, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
        if index.size and not (index.min() >= 0 and index.max() < size):
            raise ValueError("an index is outside the shape")
    return matrix
