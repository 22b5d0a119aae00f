"""Images: rays, counts, sources, dictionaries."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy import sparse

from .family import Drawn, family, few, humps, scattered, second_differences, strength


def _rays(rng: Generator, m: int, n: int) -> sparse.csc_array:
    """Lengths of m random lines in the pixels of a square, sampled along each line."""
    side = max(int(np.sqrt(n)), 1)
    count = 2 * side
    angle, offset = rng.uniform(0, np.pi, m), rng.uniform(-0.6, 0.6, m)
    t = np.linspace(-0.75, 0.75, count)
    u = 0.5 + offset[:, None] * np.cos(angle)[:, None] - t * np.sin(angle)[:, None]
    v = 0.5 + offset[:, None] * np.sin(angle)[:, None] + t * np.cos(angle)[:, None]
    inside = (u >= 0) & (u < 1) & (v >= 0) & (v < 1)
    pixel = np.minimum((u * side).astype(int) * side + (v * side).astype(int), n - 1)
    ray = np.broadcast_to(np.arange(m)[:, None], pixel.shape)
    lengths = np.full(np.count_nonzero(inside), 1.5 * side / count)
    return sparse.csc_array((lengths, (ray[inside], pixel[inside])), shape=(m, n))


@family(density=0.03, aspect=(0.3, 3.0), bounds=("nonneg", "nonneg", "box"))
def tomography_rays(rng: Generator, m: int, n: int) -> Drawn:
    """X-ray or seismic tomography: travel times along rays through the pixels they cross (sparse)."""
    return Drawn(_rays(rng, m, n), few(rng, n))


@family(data="counts", density=0.03, aspect=(0.5, 5.0), bounds=("nonneg",))
def positron_emission(rng: Generator, m: int, n: int) -> Drawn:
    """PET: counts on lines of response by the activity of pixels, with scattered background (sparse)."""
    A = _rays(rng, m, n)
    return Drawn(A * rng.uniform(0.5, 1.0, (m, 1)), few(rng, n) + 0.05)


@family(density=0.03, aspect=(0.5, 4.0), bounds=("nonneg", "nonneg", "mixed"))
def lensing_source(rng: Generator, m: int, n: int) -> Drawn:
    """Gravitational lensing: image pixels by a source grid, bilinear weights; smoothness rows below."""
    place = np.clip(0.5 + 0.4 * np.sin(np.linspace(0, 9, m)) + 0.05 * rng.standard_normal(m), 0, 1)
    place *= n - 1
    left = np.minimum(place.astype(int), max(n - 2, 0))
    right = np.minimum(left + 1, n - 1)
    i = np.tile(np.arange(m), 2)
    weight = np.concatenate([1.0 - (place - left), place - left])
    A = sparse.csc_array((weight, (i, np.concatenate([left, right]))), shape=(m, n))
    rows = sparse.csc_array(strength(rng, A, -3.0, 0.0) * second_differences(n))
    return Drawn(A, humps(rng, n), rows, np.zeros(rows.shape[0]))


@family(aspect=(0.02, 0.5), several=0.3)
def mr_fingerprints(rng: Generator, m: int, n: int) -> Drawn:
    """MR fingerprinting: signal evolutions of a dictionary of (T1, T2), highly correlated."""
    t = np.linspace(0.01, 3.0, m)[:, None]
    t1, t2 = 10.0 ** rng.uniform(-1.0, 0.5, n), 10.0 ** rng.uniform(-2.0, 0.0, n)
    flip = np.sin(np.cumsum(rng.uniform(0.0, 0.6, m)))[:, None]
    A = (1.0 - 2.0 * np.exp(-t / t1)) * flip + np.exp(-t / t2) * np.cos(3 * t)
    return Drawn(A / np.linalg.norm(A, axis=0), few(rng, n))


@family(aspect=(0.05, 2.0), noise=(1e-2, 0.2), several=0.4)
def fibre_orientations(rng: Generator, m: int, n: int) -> Drawn:
    """Diffusion MRI: signals of gradient directions by fibres along a dictionary of orientations."""
    g, f = rng.standard_normal((m, 3)), rng.standard_normal((n, 3))
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    f /= np.linalg.norm(f, axis=1, keepdims=True)
    b = rng.uniform(1.0, 3.0)
    x = np.zeros(n)
    x[rng.integers(0, n, 3)] = rng.uniform(0.2, 0.8, 3)
    return Drawn(np.exp(-b * (0.2 + 1.5 * (g @ f.T) ** 2)), x)


@family(aspect=(0.1, 2.0), integers=True, several=0.2)
def pictures(rng: Generator, m: int, n: int) -> Drawn:
    """Images by images: pixel values 0 to 255 of many similar pictures as columns."""
    side = np.arange(m) / m
    bright = np.zeros((m, n))
    for _ in range(4):
        centre, width = rng.uniform(0, 1, n), rng.uniform(0.02, 0.2, n)
        bright += np.exp(-0.5 * ((side[:, None] - centre) / width) ** 2)
    return Drawn(np.floor(np.minimum(120.0 * bright, 255.0)), few(rng, n))


@family(data="counts", density=0.05, aspect=(0.5, 5.0), bounds=("nonneg", "box"))
def coded_aperture(rng: Generator, m: int, n: int) -> Drawn:
    """Coded-aperture or single-pixel camera: counts behind random open masks (sparse)."""
    return Drawn(scattered(rng, m, n, 0.05), few(rng, n))
