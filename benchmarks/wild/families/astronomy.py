"""Galaxies and stars."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from .family import Drawn, family, few, many, smooth_columns


@family(aspect=(2.0, 50.0), bounds=("mixed", "mixed", "nonneg"), noise=(1e-3, 0.1))
def galaxy_spectrum(rng: Generator, m: int, n: int) -> Drawn:
    """Stellar populations: templates with shared absorption lines, and a polynomial continuum."""
    at = np.linspace(0.0, 1.0, m)
    age = np.linspace(0.0, 1.0, n)
    A = np.exp(-2.0 * (1.2 - age) * at[:, None]) + 0.2
    for centre in rng.uniform(0, 1, 12):
        line = np.exp(-0.5 * ((at[:, None] - centre) / 0.005) ** 2)
        A *= 1.0 - line * rng.uniform(0.1, 0.8) * age
    x = few(rng, n)
    powers = min(4, n - 1)
    if powers > 0:
        A[:, :powers] = np.polynomial.legendre.legvander(2 * at - 1, powers - 1)
        x[:powers] = 0.3 * rng.standard_normal(powers)
    return Drawn(A, x)


@family(aspect=(0.02, 0.8), noise=(1e-2, 0.2), bounds=("nonneg",), several=0.3)
def photometric_redshift(rng: Generator, m: int, n: int) -> Drawn:
    """Photometry: fluxes in some filters by many template spectra at redshifts."""
    return Drawn(smooth_columns(rng, m, n, 0.15) * 10.0 ** rng.uniform(-1, 1, n), few(rng, n))


@family(aspect=(2.0, 30.0), bounds=("nonneg", "box"))
def crowded_field(rng: Generator, m: int, n: int) -> Drawn:
    """Photometry of a crowded field: pixels by stars with overlapping images."""
    side = max(int(np.sqrt(m)), 1)
    row, column = np.divmod(np.arange(m), side)
    u, v = rng.uniform(0, side, n), rng.uniform(0, side, n)
    width = rng.uniform(0.8, 0.2 * side + 1.0)
    away = (row[:, None] - u) ** 2 + (column[:, None] - v) ** 2
    return Drawn(np.exp(-0.5 * away / width**2), many(rng, n))
