"""A digest of a matrix by its values."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np
from scipy import sparse

_BLOCK = 64
"""Columns digested at a time."""


def digest(A: Any) -> str:
    """sha256 of a matrix or vector: the same dense or sparse, in whatever file or precision held.

    Over the shape, and for every 64 columns the counts of non-zero entries, their rows and their
    values as float64, little-endian, column by column. A vector is a matrix of one column.
    """
    is_sparse = bool(sparse.issparse(A))
    matrix = A if is_sparse else np.asarray(A)
    if matrix.ndim == 1:
        matrix = matrix.reshape(-1, 1)
    total = sha256(f"{matrix.shape[0]} {matrix.shape[1]}\n".encode())
    for counts, rows, values in _sparse(matrix) if is_sparse else _dense(matrix):
        total.update(counts.astype("<i8").tobytes())
        total.update(rows.astype("<i8").tobytes())
        total.update(values.astype("<f8").tobytes())
    return total.hexdigest()


def _sparse(matrix: Any) -> Iterator[tuple[Any, Any, Any]]:
    held = sparse.csc_array(matrix, copy=True)
    held.sum_duplicates()
    held.eliminate_zeros()
    for first in range(0, matrix.shape[1], _BLOCK):
        ends = held.indptr[first : first + _BLOCK + 1]
        inside = slice(ends[0], ends[-1])
        yield np.diff(ends), held.indices[inside], held.data[inside]


def _dense(matrix: Any) -> Iterator[tuple[Any, Any, Any]]:
    for first in range(0, matrix.shape[1], _BLOCK):
        block = matrix[:, first : first + _BLOCK].T
        filled = block != 0
        yield filled.sum(axis=1), np.nonzero(filled)[1], block[filled]
