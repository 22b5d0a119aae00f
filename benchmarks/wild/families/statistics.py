"""Regression, finance, surveys, text."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy import sparse

from .family import Drawn, family, few, many, scattered, signs


def _words(rng: Generator, m: int, n: int) -> sparse.csc_array:
    """Counts of words in texts: word frequencies by Zipf's law, every text and word at least once."""
    stored = max(int(0.01 * m * n), n)
    rank = np.minimum(m ** rng.random(stored), m).astype(int) - 1
    i = np.concatenate([np.maximum(rank, 0), rng.integers(0, m, n), np.arange(m)])
    j = np.concatenate([rng.integers(0, n, stored), np.arange(n), rng.integers(0, n, m)])
    return sparse.csc_array((np.ones(len(i)), (i, j)), shape=(m, n))


@family(density=0.01, aspect=(0.5, 10.0), bounds=("nonneg", "nonneg", "box"), integers=True)
def texts(rng: Generator, m: int, n: int) -> Drawn:
    """Texts by texts: word counts of one document by those of others (sparse)."""
    return Drawn(_words(rng, m, n), few(rng, n))


@family(data="labels", density=0.01, aspect=(0.2, 3.0), bounds=("nonneg", "box", "signed"))
def topics(rng: Generator, m: int, n: int) -> Drawn:
    """Text classification: one topic against the rest by the words of documents (sparse)."""
    A = sparse.csc_array(_words(rng, n, m).T)
    A.data = np.log1p(A.data)
    return Drawn(A, few(rng, n))


@family(aspect=(2.0, 100.0), bounds=("mixed", "mixed", "nonneg"), noise=(1e-2, 0.5))
def monotone_splines(rng: Generator, m: int, n: int) -> Drawn:
    """Monotone regression: a free intercept and integrated splines with non-negative slopes."""
    at, knots = np.sort(rng.uniform(0, 1, m)), np.linspace(0, 1, n)
    t = np.clip((at[:, None] - knots) * n / 3.0 + 0.5, 0, 1)
    A = t * t * (3 - 2 * t)
    A[:, 0] = 1.0
    return Drawn(A, few(rng, n))


@family(aspect=(0.2, 5.0), bounds=("box", "nonneg"), noise=(1e-3, 0.1))
def synthetic_control(rng: Generator, m: int, n: int) -> Drawn:
    """Policy evaluation: a unit before the treatment by donors with common trends; weights sum to 1."""
    A = np.cumsum(rng.standard_normal((m, 3)), axis=0) @ rng.uniform(0.5, 1.5, (3, n))
    A += 10.0 + 0.3 * np.cumsum(rng.standard_normal((m, n)), axis=0)
    x = few(rng, n)
    heavy = strength_of_sum(rng, A)
    return Drawn(A, x / x.sum(), np.full((1, n), heavy), np.array([heavy]))


def strength_of_sum(rng: Generator, A: np.ndarray) -> float:
    """How much a row that fixes the sum of x weighs: 1 to 1000 times the largest entry."""
    return float(10.0 ** rng.uniform(0, 3) * np.max(np.abs(A)))


@family(aspect=(0.2, 10.0), bounds=("box", "box", "signed"), noise=(1e-3, 0.3))
def index_tracking(rng: Generator, m: int, n: int) -> Drawn:
    """Finance: the returns of an index by those of assets with common factors; limits on positions."""
    market = rng.standard_normal((m, 1))
    sectors = rng.standard_normal((m, 8))[:, rng.integers(0, 8, n)]
    A = 0.01 * (rng.uniform(0.5, 1.5, n) * market + 0.7 * sectors + rng.standard_normal((m, n)))
    x = many(rng, n)
    return Drawn(A, x / x.sum())


@family(data="outliers", aspect=(3.0, 50.0), bounds=("mixed", "box", "nonneg"), noise=(1e-2, 0.3))
def calibration_with_outliers(rng: Generator, m: int, n: int) -> Drawn:
    """Sensor calibration: readings by positive responses; some readings are far off."""
    return Drawn(np.abs(rng.standard_normal((m, n))) + 0.2, many(rng, n))


@family(
    density=0.1, aspect=(0.02, 0.5), integers=True, bounds=("box", "box", "nonneg"), noise=(0, 0)
)
def survey_weights(rng: Generator, m: int, n: int) -> Drawn:
    """Survey raking: weights of respondents between limits that give known totals of groups (0/1)."""
    A = scattered(rng, m, n, 0.1)
    A.data[:] = 1.0
    return Drawn(A, np.clip(many(rng, n), 0.3, 3.0))


@family(density=0.05, aspect=(0.05, 1.0), integers=True, bounds=("nonneg", "nonneg", "box"))
def traffic_matrix(rng: Generator, m: int, n: int) -> Drawn:
    """Network tomography: flows between places from counts on links, 0/1 routes (sparse)."""
    A = scattered(rng, m, n, 0.05)
    A.data[:] = 1.0
    return Drawn(A, many(rng, n))


@family(data="labels", aspect=(2.0, 100.0), bounds=("mixed", "nonneg"))
def dose_response(rng: Generator, m: int, n: int) -> Drawn:
    """Toxicology: a monotone logistic response in dose thresholds, with a strong signal."""
    dose = rng.uniform(0, 1, m)
    A = (dose[:, None] > np.linspace(0, 1, n)).astype(float)
    A[:, 0] = 1.0
    return Drawn(A, few(rng, n) * rng.uniform(1.0, 20.0))


@family(data="labels", aspect=(1.0, 20.0), bounds=("nonneg", "box", "signed", "mixed"))
def credit_scores(rng: Generator, m: int, n: int) -> Drawn:
    """Scoring: default or not by skewed positive characteristics on different scales."""
    A = np.exp(rng.standard_normal((m, n))) * 10.0 ** rng.uniform(-1, 1, n)
    return Drawn(A - A.mean(axis=0), signs(rng, n))
