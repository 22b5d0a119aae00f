"""Inverse problems: smooth kernels, which are ill-conditioned, with and without regularisation rows."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy import sparse

from .family import Drawn, family, few, humps, second_differences, signs, strength


@family(aspect=(0.3, 3.0))
def gaussian_blur(rng: Generator, m: int, n: int) -> Drawn:
    """Deconvolution: a signal blurred by a Gaussian, sampled at m places, asked for at n."""
    at, places = np.linspace(0, 1, m), np.linspace(0, 1, n)
    width = 10.0 ** rng.uniform(-2.5, -1.0)
    return Drawn(np.exp(-0.5 * ((at[:, None] - places) / width) ** 2), few(rng, n))


@family(aspect=(0.1, 3.0), noise=(1e-6, 0.03), several=0.3)
def t2_relaxometry(rng: Generator, m: int, n: int) -> Drawn:
    """Laplace inversion: echoes of a multi-exponential T2 decay, amounts on a logarithmic grid of T2."""
    echoes = np.arange(1, m + 1) * rng.uniform(5.0, 15.0) * 32.0 / m
    return Drawn(np.exp(-echoes[:, None] / np.geomspace(5.0, 2000.0, n)), humps(rng, n))


@family(aspect=(0.3, 3.0), noise=(1e-6, 0.01), bounds=("nonneg", "mixed"))
def impedance_drt(rng: Generator, m: int, n: int) -> Drawn:
    """Distribution of relaxation times: real and imaginary impedance, stacked; smoothness rows below."""
    smooth = rng.uniform() < 0.5
    half = max((max(m - n, m // 2) if smooth else m) // 2, 1)
    t = np.geomspace(1e-2, 1e5, half)[:, None] * np.geomspace(1e-5, 1e2, n)
    A = np.vstack([1.0 / (1.0 + t**2), t / (1.0 + t**2)])
    if not smooth:
        return Drawn(A, humps(rng, n))
    rows = (strength(rng, A, -4.0, 0.0) * second_differences(n)).toarray()
    return Drawn(A, humps(rng, n), rows, np.zeros(len(rows)))


@family(aspect=(0.5, 10.0), noise=(1e-4, 0.05))
def light_scattering(rng: Generator, m: int, n: int) -> Drawn:
    """Dynamic light scattering: a field autocorrelation as a mixture of exponentials in the lag."""
    lag, rate = np.geomspace(1e-3, 1e2, m), np.geomspace(1e-2, 1e2, n)
    return Drawn(np.exp(-lag[:, None] * rate), humps(rng, n))


@family(data="counts", aspect=(1.0, 30.0))
def fluorescence_lifetimes(rng: Generator, m: int, n: int) -> Drawn:
    """Time-correlated photon counts: decays convolved with the instrument's response."""
    t, lifetime = np.linspace(0, 1, m), np.geomspace(0.005, 1.0, n)
    start, width = 0.05, rng.uniform(0.005, 0.02)
    rise = 0.5 * (1.0 + np.tanh((t[:, None] - start) / width))
    return Drawn(rise * np.exp(-np.maximum(t[:, None] - start, 0) / lifetime), few(rng, n))


@family(aspect=(1.0, 4.0), noise=(1e-4, 0.1), bounds=("nonneg", "nonneg", "box"))
def dipolar_kernel(rng: Generator, m: int, n: int) -> Drawn:
    """DEER spectroscopy: a dipolar evolution by spin distances, with second-difference rows below."""
    top = max(m - n, m // 2, 1)
    t, r = np.linspace(0, 3.0, top), np.linspace(1.5, 8.0, n)
    frequency = 52.04 / r**3
    z = np.linspace(0, 1, 17)
    A = sum(np.cos((3 * zi**2 - 1) * 2 * np.pi * frequency * t[:, None]) for zi in z) / len(z)
    rows = (strength(rng, A, -3.0, 0.0) * second_differences(n)).toarray()
    return Drawn(A, humps(rng, n), rows, np.zeros(len(rows)))


@family(aspect=(0.3, 3.0), bounds=("nonneg", "box", "signed"))
def slip_inversion(rng: Generator, m: int, n: int) -> Drawn:
    """Geodesy: surface displacements by slip on the patches of a fault, smoothness rows below."""
    top = max(m - n, m // 2, 1)
    depth = rng.uniform(0.05, 0.3)
    station, patch = rng.uniform(-0.5, 1.5, (top, 2)), np.linspace(0, 1, n)
    away = (station[:, :1] - patch) ** 2 + station[:, 1:] ** 2 + depth**2
    A = depth * (station[:, :1] - patch + 0.3) / away**1.5
    rows = (strength(rng, A, -3.0, 0.0) * second_differences(n)).toarray()
    return Drawn(A, humps(rng, n), rows, np.zeros(len(rows)))


@family(aspect=(0.2, 2.0), bounds=("nonneg", "box", "box", "signed"))
def gravity_inversion(rng: Generator, m: int, n: int) -> Drawn:
    """Gravimetry: a profile by the density contrasts of cells, which decay fast with depth."""
    station = np.linspace(0, 1, m)[:, None]
    x, z = rng.uniform(0, 1, n), 0.02 + 0.5 * rng.random(n)
    return Drawn(z / ((station - x) ** 2 + z**2) ** 1.5 * 1e-2, few(rng, n))


@family(aspect=(1.0, 20.0), noise=(1e-3, 0.2))
def unit_hydrograph(rng: Generator, m: int, n: int) -> Drawn:
    """Hydrology: discharge as rainfall convolved with the catchment's response, which is asked for."""
    rain = rng.gamma(0.3, 1.0, m) * (rng.random(m) < 0.3)
    rain[0] += 1.0
    late = np.arange(m)[:, None] - np.arange(n)
    return Drawn(np.where(late >= 0, rain[np.maximum(late, 0)], 0.0), humps(rng, n))


@family(aspect=(1.0, 1.0), density=0.05, noise=(1e-2, 0.3))
def calcium_spikes(rng: Generator, m: int, n: int) -> Drawn:
    """Neuroscience: spikes from a calcium trace, each followed by an exponential decay (banded)."""
    decay = rng.uniform(0.5, 0.95)
    band = int(min(n, max(2, 0.05 * m), np.log(1e-4) / np.log(decay)))
    diagonals = [decay**k * np.ones(max(m - k, 1)) for k in range(band)]
    A = sparse.diags_array(diagonals, offsets=[-k for k in range(band)], shape=(m, n))
    return Drawn(sparse.csc_array(A), few(rng, n))


@family(aspect=(0.5, 3.0), bounds=("signed", "signed", "box", "mixed"), noise=(1e-3, 0.5))
def beamforming(rng: Generator, m: int, n: int) -> Drawn:
    """Antenna array: real and imaginary steering vectors of a grid of angles, bounded amplitudes."""
    half = max(m // 2, 1)
    phase = np.pi * np.arange(half)[:, None] * np.sin(np.linspace(-1.4, 1.4, n))
    return Drawn(np.vstack([np.cos(phase), np.sin(phase)]), signs(rng, n))
