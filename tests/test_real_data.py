"""Real spectra, decay curves and documents: ill-conditioned, and certified all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import boxreg
from boxreg.losses import Huber, KullbackLeibler
from real_data import load, newsgroups, nips, nips_counts


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


def check_certified(A: Any, y: np.ndarray, upper: float, loss: Any, tol: float = 1e-8) -> Any:
    """Solved by the default, and proved by `verify` from the data alone."""
    result = boxreg.solve(A, y, 0.0, upper, loss=loss, tol=tol)
    assert result.success
    assert result.relative_gap <= tol
    proof = boxreg.verify(A, y, result.x, result.theta, 0.0, upper, loss=loss, gap=result.gap)
    assert proof
    assert proof.rigorous
    return result


def check_tumours(stride: int) -> None:
    data = load("mutational_signatures")
    A = np.asarray(data["A_cosmic_v34"], dtype=float)
    counts = np.asarray(data["Y_pcawg"], dtype=float)
    for j in range(0, counts.shape[1], stride):
        check_certified(A, counts[:, j], np.inf, "kullback_leibler")


def test_tumours_by_kullback_leibler() -> None:
    """Every 20th of the tumours."""
    check_tumours(20)


@pytest.mark.slow
def test_all_tumours_by_kullback_leibler() -> None:
    """All 2,780 of them, at a relative gap of 1e-8: `make real-data`."""
    check_tumours(1)


@pytest.mark.parametrize("left_out", [100, 1000])
def test_documents_by_kullback_leibler(left_out: int) -> None:
    """Word counts of a document by those of all others and a small background: sparse, few used."""
    A, y = nips_counts(left_out)
    result = check_certified(A, y, np.inf, KullbackLeibler(0.01))
    assert result.screening_ratio > 0.8


def test_newsgroups_by_logistic_regression_in_a_box() -> None:
    """One topic against the rest, all 55,911 words as columns, 0 <= x <= 1."""
    A, y = newsgroups("sci.space")
    assert A.shape == (18774, 55911)
    result = check_certified(A, y, 1.0, "logistic")
    assert result.objective == pytest.approx(12464.6515, abs=1e-3)
    assert np.any(result.x == 1.0)
    assert np.any((result.x > 0.0) & (result.x < 1.0))
    assert result.screening_ratio > 0.9


@pytest.mark.parametrize("voxel", [0, 100, 5000, 12000])
@pytest.mark.parametrize("dictionary", ["exp", "epg"])
def test_mri_relaxometry_by_huber(voxel: int, dictionary: str) -> None:
    """Decays with a threshold of a hundredth of their largest value; one echo is spoilt."""
    data = load("mri_t2_decay")
    y = np.asarray(data["Y"][:, voxel], dtype=float)
    y = y / np.max(y)
    y[5] += 1.0
    A = np.asarray(data["A_exp"] if dictionary == "exp" else data["A_epg"][3], dtype=float)
    check_certified(A, y, np.inf, Huber(0.01))
