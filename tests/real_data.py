"""Real data sets from the folder that BOXREG_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse


def load(name: str) -> dict[str, np.ndarray]:
    """The arrays of one data set, or a visible skip where they are not there."""
    folder = os.environ.get("BOXREG_DATA")
    if not folder:
        pytest.skip("set BOXREG_DATA to the folder of real data sets")
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{name}.npz is not in BOXREG_DATA")
    with np.load(path) as data:
        return {key: data[key] for key in data.files}


def nips(left_out: int) -> tuple[sparse.csc_matrix, np.ndarray]:
    """The NIPS documents as unit columns, and one of them as the target."""
    data = load("nips_1-17")
    counts = sparse.csr_matrix((data["data"], data["indices"], data["indptr"]), data["shape"])
    columns = counts.astype(float).T.tocsc()
    norms = np.sqrt(np.asarray(columns.multiply(columns).sum(axis=0)).ravel())
    columns = (columns @ sparse.diags(1.0 / norms)).tocsc()
    others = np.delete(np.arange(columns.shape[1]), left_out)
    return columns[:, others], columns[:, left_out].toarray().ravel()
