"""Problems from the real data sets in the folder that BOXREG_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .problem import Problem, make

FEW = 5
"""Right-hand sides of the sets that have thousands: spread evenly, so that no lucky one decides."""


class Absent(Exception):
    """The data set is not there."""


def arrays(name: str) -> dict[str, NDArray[np.generic]]:
    """The arrays of one data set."""
    folder = os.environ.get("BOXREG_DATA")
    if not folder:
        raise Absent("BOXREG_DATA is not set to a folder of real data")
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        raise Absent(f"{name}.npz is not in BOXREG_DATA")
    with np.load(path) as data:
        return {key: data[key] for key in data.files}


def spread(count: int) -> NDArray[np.intp]:
    """A few indices out of `count`, evenly spread, the ends left out."""
    return np.linspace(0, count - 1, FEW + 2).astype(np.intp)[1:-1]


def documents(name: str, left_out: int) -> list[Problem]:
    """One document as y, the others as the columns of A, all scaled to unit norm."""
    data = arrays(name)
    counts = sparse.csr_array(
        (data["data"].astype(float), data["indices"], data["indptr"]), shape=tuple(data["shape"])
    )
    counts = counts[counts.sum(axis=1) > 0]
    norms = np.sqrt(counts.multiply(counts).sum(axis=1))
    columns = sparse.csc_array((sparse.diags_array(1.0 / norms) @ counts).T)
    others = np.delete(np.arange(columns.shape[1]), left_out)
    return [make(columns[:, others], columns[:, [left_out]].toarray().ravel())]


def cuprite(upper: float) -> list[Problem]:
    """Pixels of the scene against the mineral library."""
    data = arrays("cuprite_usgs")
    pixels = data["Y_int16"] * float(data["Y_scale"])
    return [make(data["A"], pixels[:, j], 0.0, upper) for j in spread(pixels.shape[1])]


def relaxometry(dictionary: str) -> list[Problem]:
    """Voxels of the multi-echo scan: pure exponentials, or echoes with imperfect refocusing."""
    data = arrays("mri_t2_decay")
    A = data["A_exp"] if dictionary == "exp" else data["A_epg"][len(data["A_epg"]) // 2]
    return [make(A, data["Y"][:, j]) for j in spread(data["Y"].shape[1])]


def tumours() -> list[Problem]:
    """Mutation counts of tumours against the catalogue of signatures."""
    data = arrays("mutational_signatures")
    counts = data["Y_pcawg"]
    return [make(data["A_cosmic_v34"], counts[:, j]) for j in spread(counts.shape[1])]


def digits() -> list[Problem]:
    """A test digit as y, all training digits as the columns of A, pixels in [0, 1]."""
    data = arrays("mnist")
    return [make(data["train"].T / 255.0, data["test"][0] / 255.0)]
