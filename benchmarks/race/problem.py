"""One problem as every contestant gets it, and its way to another process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]

DENSE_LIMIT = 1_000_000_000
"""Bytes up to which a sparse A is made dense for those who take nothing else."""


@dataclass(frozen=True)
class Problem:
    """min ½‖A x - y‖² over lower <= x <= upper; A is an F-ordered float64 array or a csc_array."""

    A: Any
    y: Array
    lower: float | Array
    upper: float | Array

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self.A)

    @property
    def is_nnls(self) -> bool:
        return not np.any(self.lower) and bool(np.all(np.isinf(self.upper)))

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The bounds as vectors."""
        n = self.A.shape[1]
        return np.full(n, self.lower), np.full(n, self.upper)

    def project(self, x: Array) -> Array:
        return np.clip(x, self.lower, self.upper)

    def at_zero(self) -> float:
        """P at the projection of 0 on the box: what relative gaps are relative to."""
        start = self.project(np.zeros(self.A.shape[1]))
        return 0.5 * float(np.sum((self.y - self.A @ start) ** 2))

    def dense(self, order: str) -> Array:
        """A as a dense array in the given order."""
        return self.A.toarray(order=order) if self.is_sparse else np.asarray(self.A, order=order)

    def too_large_to_densify(self) -> str | None:
        """Why a sparse A cannot be made dense, if it cannot."""
        m, n = self.A.shape
        if self.is_sparse and 8 * m * n > DENSE_LIMIT:
            return f"takes dense A only, and {m}×{n} would be {8 * m * n / 1e9:.1f} GB"
        return None


def make(A: Any, y: Any, lower: float = 0.0, upper: float = np.inf) -> Problem:
    """A problem in the layout that this class promises."""
    if sparse.issparse(A):
        matrix = sparse.csc_array(A, dtype=np.float64)
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    else:
        matrix = np.asfortranarray(A, dtype=np.float64)
    return Problem(matrix, np.ascontiguousarray(y, dtype=np.float64), float(lower), float(upper))


def save(problem: Problem, folder: Path) -> None:
    """Write the problem for a process that shares nothing but files."""
    if problem.is_sparse:
        sparse.save_npz(folder / "A.npz", sparse.csc_matrix(problem.A), compressed=False)
    else:
        np.save(folder / "A.npy", problem.A)
    np.save(folder / "y.npy", problem.y)
    (folder / "bounds.json").write_text(json.dumps([problem.lower, problem.upper]))


def load(folder: Path) -> Problem:
    """What `save` wrote."""
    held = folder / "A.npz"
    A = sparse.load_npz(held) if held.exists() else np.load(folder / "A.npy")
    lower, upper = json.loads((folder / "bounds.json").read_text())
    return make(A, np.load(folder / "y.npy"), lower, upper)
