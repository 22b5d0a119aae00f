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
    columns = _counts("nips_1-17").T.tocsc()
    norms = np.sqrt(np.asarray(columns.multiply(columns).sum(axis=0)).ravel())
    columns = (columns @ sparse.diags(1.0 / norms)).tocsc()
    others = np.delete(np.arange(columns.shape[1]), left_out)
    return columns[:, others], columns[:, left_out].toarray().ravel()


def nips_counts(left_out: int) -> tuple[sparse.csc_matrix, np.ndarray]:
    """The NIPS documents as columns that sum to 1, and the word counts of one as the target."""
    counts = _counts("nips_1-17").T.tocsc()
    shares = (counts @ sparse.diags(1.0 / np.asarray(counts.sum(axis=0)).ravel())).tocsc()
    others = np.delete(np.arange(counts.shape[1]), left_out)
    return shares[:, others], counts[:, left_out].toarray().ravel()


def newsgroups(topic: str) -> tuple[sparse.csc_matrix, np.ndarray]:
    """Word counts of all documents, a row each, and ±1 for those of one topic and the rest."""
    counts = _counts("newsgroups20").tocsc()
    return counts, np.where(load("newsgroups20")["topics"] == topic, 1.0, -1.0)


def _counts(name: str) -> sparse.csr_matrix:
    data = load(name)
    held = (data["data"].astype(float), data["indices"], data["indptr"])
    return sparse.csr_matrix(held, data["shape"])
