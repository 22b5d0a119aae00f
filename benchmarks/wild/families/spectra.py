"""Spectra: lines, peaks and mixtures."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy import sparse

from .family import Drawn, family, few, humps, many, smooth_columns


@family(aspect=(0.1, 5.0))
def raman_peaks(rng: Generator, m: int, n: int) -> Drawn:
    """Raman or NMR spectrum: Lorentzian lines at a grid of positions, all of one width."""
    at, centres = np.linspace(0, 1, m), np.linspace(0, 1, n)
    width = 10.0 ** rng.uniform(-3.0, -1.0)
    A = 1.0 / (1.0 + ((at[:, None] - centres) / width) ** 2)
    return Drawn(A, few(rng, n))


@family(data="counts", aspect=(1.0, 50.0))
def gamma_lines(rng: Generator, m: int, n: int) -> Drawn:
    """Gamma-ray or XRF spectrum: photopeaks that widen with the energy, each with its continuum."""
    at, energy = np.linspace(0, 1, m), np.sort(rng.uniform(0.05, 0.95, n))
    width = rng.uniform(0.002, 0.01) * np.sqrt(energy / 0.5)
    peak = np.exp(-0.5 * ((at[:, None] - energy) / width) ** 2)
    edge = 1.0 / (1.0 + np.exp(np.clip((at[:, None] - 0.8 * energy) / 0.01, -40, 40)))
    return Drawn(peak + rng.uniform(0.01, 0.3) * edge, few(rng, n))


@family(aspect=(1.0, 30.0), several=0.3)
def chromatogram(rng: Generator, m: int, n: int) -> Drawn:
    """Chromatography: Gaussian peaks with exponential tails at a grid of retention times."""
    at, start = np.linspace(0, 1, m), np.linspace(0, 0.9, n)
    width, tail = 10.0 ** rng.uniform(-2.5, -1.5), rng.uniform(0.01, 0.1)
    late = at[:, None] - start
    A = np.where(late > 0, np.exp(-np.maximum(late, 0) / tail), np.exp(-0.5 * (late / width) ** 2))
    return Drawn(A, few(rng, n))


@family(density=0.02, aspect=(0.5, 10.0))
def isotope_patterns(rng: Generator, m: int, n: int) -> Drawn:
    """Mass spectrum: each column is the isotope pattern of a molecule at a charge, in mass bins."""
    mass = rng.uniform(0, m, n)
    step = m * rng.uniform(0.002, 0.01) / rng.integers(1, 5, n)
    k = np.arange(max(2, min(12, int(0.02 * m) + 2)))
    rows = np.minimum((mass[:, None] + step[:, None] * k).astype(int), m - 1)
    rate = 0.5 + 4.0 * mass / m
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(k[1:]))])
    share = np.exp(k * np.log(rate)[:, None] - rate[:, None] - log_factorial)
    columns = np.broadcast_to(np.arange(n)[:, None], rows.shape)
    A = sparse.csc_array((share.ravel(), (rows.ravel(), columns.ravel())), shape=(m, n))
    return Drawn(A, few(rng, n))


@family(aspect=(0.2, 3.0), bounds=("nonneg", "nonneg", "box"), several=0.3)
def mineral_library(rng: Generator, m: int, n: int) -> Drawn:
    """Hyperspectral unmixing: a pixel as a mixture of a library of smooth reflectance spectra."""
    A = np.clip(0.2 + smooth_columns(rng, m, n, rng.uniform(0.02, 0.2)) / 4.0, 0.0, 1.5)
    A *= rng.uniform(0.5, 1.0, n)
    x = few(rng, n)
    return Drawn(A, x / x.sum())


@family(aspect=(5.0, 500.0), bounds=("nonneg",), several=0.7)
def curve_resolution(rng: Generator, m: int, n: int) -> Drawn:
    """Multivariate curve resolution: spectra of a few components, one step of the alternation."""
    return Drawn(smooth_columns(rng, m, n, rng.uniform(0.01, 0.1)), many(rng, n))


@family(aspect=(0.3, 10.0))
def particle_sizes(rng: Generator, m: int, n: int) -> Drawn:
    """Small-angle scattering: intensities by sphere sizes, form factors on logarithmic grids."""
    q, radius = np.geomspace(0.01, 1.0, m), np.geomspace(1.0, 200.0, n)
    t = q[:, None] * radius
    t3 = np.maximum(t, 1e-3)
    small = 1.0 - t**2 / 10.0
    factor = np.where(t < 0.05, small, 3.0 * (np.sin(t3) - t3 * np.cos(t3)) / t3**3)
    return Drawn(factor**2 * (radius / 50.0) ** rng.choice([0, 3, 6]), humps(rng, n))
