"""Public files as the arrays that the experiments read."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..files.containers import load_mat

Arrays = dict[str, "np.ndarray[Any, np.dtype[Any]]"]


def digest(arrays: Arrays) -> str:
    """sha256 over names, types, shapes and entries: the same whatever file held the arrays."""
    total = sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def nips(path: Path) -> Arrays:
    """Word counts, one document a row, from the words × documents matrix `counts`."""
    counts = sparse.csr_array(load_mat(path)["counts"].T, dtype=np.float32)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    return {
        "data": counts.data,
        "indices": counts.indices.astype(np.int32),
        "indptr": counts.indptr.astype(np.int32),
        "shape": np.array(counts.shape, dtype=np.int64),
    }


def mnist(path: Path) -> Arrays:
    """Digits as rows of 784 pixels."""
    with np.load(path, allow_pickle=False) as held:
        return {
            "train": held["x_train"].reshape(-1, 784),
            "train_labels": held["y_train"],
            "test": held["x_test"].reshape(-1, 784),
            "test_labels": held["y_test"],
        }
