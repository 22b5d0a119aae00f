"""Shapes that come up in every field."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from .family import Drawn, family, few, many, signs, strength

EVERY = ("nonneg", "nonneg", "box", "signed", "mixed")


@family(aspect=(3.0, 300.0), bounds=("nonneg",), several=0.8)
def factorisation_step(rng: Generator, m: int, n: int) -> Drawn:
    """Non-negative matrix factorisation: one factor, a few columns, for all columns of the data."""
    return Drawn(rng.random((m, n)) * (rng.random((m, n)) < 0.7), few(rng, n))


@family(aspect=(1.0, 1.0), bounds=EVERY)
def kernel_gram(rng: Generator, m: int, n: int) -> Drawn:
    """Kernel regression and normal equations handed over as A: a square, positive definite matrix."""
    points = rng.uniform(0, 1, (n, int(rng.integers(1, 6))))
    squares = np.sum(points**2, axis=1)
    away = np.maximum(squares[:, None] + squares - 2.0 * points @ points.T, 0.0)
    A = np.exp(-away / rng.uniform(0.01, 0.5)) + 10.0 ** rng.uniform(-8, 0) * np.eye(n)
    return Drawn(A, few(rng, n))


@family(aspect=(0.1, 10.0), bounds=EVERY)
def neighbouring_predictors(rng: Generator, m: int, n: int) -> Drawn:
    """Regression on correlated predictors: along the columns A is an autoregression."""
    phi = rng.choice([0.5, 0.9, 0.99])
    A = rng.standard_normal((m, n))
    for j in range(1, n):
        A[:, j] = phi * A[:, j - 1] + np.sqrt(1 - phi**2) * A[:, j]
    return Drawn(A, few(rng, n))


@family(aspect=(0.1, 10.0), bounds=EVERY)
def low_rank(rng: Generator, m: int, n: int) -> Drawn:
    """A few factors and a little noise: columns that nearly depend on each other."""
    rank = max(1, min(m, n) // int(rng.integers(2, 20)))
    A = rng.random((m, rank)) @ rng.random((rank, n))
    return Drawn(A + 10.0 ** rng.uniform(-6, -1) * rng.standard_normal((m, n)), few(rng, n))


@family(aspect=(1.5, 4.0), bounds=EVERY)
def tikhonov_rows(rng: Generator, m: int, n: int) -> Drawn:
    """Ridge regression by stacking: a multiple of the identity below A, zeros below y."""
    top = max(m - n, 1)
    A = np.abs(rng.standard_normal((top, n)))
    rows = strength(rng, A, -4.0, 0.0) * np.eye(n)
    return Drawn(A, few(rng, n), rows, np.zeros(n))


@family(aspect=(0.1, 10.0), bounds=EVERY, noise=(0.0, 0.0))
def perfect_fit(rng: Generator, m: int, n: int) -> Drawn:
    """Simulated data without noise: the model explains everything, the residual is rounding."""
    return Drawn(np.abs(rng.standard_normal((m, n))), few(rng, n))


@family(aspect=(0.1, 10.0), bounds=EVERY)
def mixed_units(rng: Generator, m: int, n: int) -> Drawn:
    """Columns in different units: norms over many orders of magnitude."""
    scale = 10.0 ** rng.uniform(-4, 4, n)
    return Drawn(np.abs(rng.standard_normal((m, n))) * scale, few(rng, n) / scale)


@family(aspect=(0.1, 10.0), bounds=("signed", "box", "mixed", "nonneg"))
def signed_gaussian(rng: Generator, m: int, n: int) -> Drawn:
    """Compressed sensing and bounded controls: Gaussian entries of both signs."""
    return Drawn(rng.standard_normal((m, n)), signs(rng, n))


@family(aspect=(0.1, 5.0))
def repeated_atoms(rng: Generator, m: int, n: int) -> Drawn:
    """A dictionary put together from several sources: some columns twice, some multiples of others."""
    A = np.abs(rng.standard_normal((m, n)))
    twice = rng.integers(0, n, max(1, n // 5))
    again = rng.integers(0, n, len(twice))
    A[:, again] = A[:, twice] * rng.choice([1.0, 2.0, 0.5], len(twice))
    return Drawn(A, few(rng, n))


@family(aspect=(0.2, 5.0), bounds=("nonneg", "box"))
def positive_random(rng: Generator, m: int, n: int) -> Drawn:
    """The plain test problem of papers: absolute values of Gaussian entries."""
    return Drawn(np.abs(rng.standard_normal((m, n))), many(rng, n) * (rng.random(n) < 0.5))
