"""Real spectra, decay curves and documents: ill-conditioned, and certified all the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import boxreg
from real_data import load, nips


def check_against_scipy(A: np.ndarray, y: np.ndarray) -> None:
    """Certified, and no worse than SciPy beyond the gap that was asked for."""
    result = boxreg.solve(A, y)
    _, rnorm = optimize.nnls(A, y)
    assert result.success
    assert result.certificate.rigorous
    assert result.objective <= 0.5 * rnorm**2 + result.target_gap
    assert result.relative_gap <= 1e-8


@pytest.mark.parametrize("pixel", [0, 777, 3000, 4499])
def test_cuprite(pixel: int) -> None:
    """Mineral spectra with a condition number of 1e5."""
    data = load("cuprite_usgs")
    y = data["Y_int16"][:, pixel] * float(data["Y_scale"])
    check_against_scipy(np.asarray(data["A"], dtype=float), y)
    boxed = boxreg.solve(np.asarray(data["A"], dtype=float), y, 0.0, 1.0)
    assert boxed.success


@pytest.mark.parametrize("voxel", [0, 100, 5000, 12000])
def test_mri_relaxometry(voxel: int) -> None:
    """Exponential decays: 56 × 100 with a numerical rank of 21."""
    data = load("mri_t2_decay")
    y = np.asarray(data["Y"][:, voxel], dtype=float)
    check_against_scipy(np.asarray(data["A_exp"], dtype=float), y)
    check_against_scipy(np.asarray(data["A_epg"][3], dtype=float), y)


@pytest.mark.parametrize("solver", ["active_set", "coordinate_descent", "projected_gradient"])
def test_nips_documents(solver: str) -> None:
    """Sparse, 14036 × 2482: every solver finds the same objective and screens most columns."""
    A, y = nips(100)
    result = boxreg.solve(A, y, solver=solver, tol=1e-7)
    assert result.success
    assert result.objective == pytest.approx(0.311272056163, rel=1e-6)
    assert result.screening_ratio > 0.8


def test_mutational_signatures() -> None:
    """A tumour's counts by the COSMIC signatures."""
    data = load("mutational_signatures")
    check_against_scipy(
        np.asarray(data["A_cosmic_v34"], dtype=float),
        np.asarray(data["Y_pcawg"][:, 7], dtype=float),
    )
