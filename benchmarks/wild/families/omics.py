"""Genes, cells, molecules."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from .family import Drawn, family, few, many, scattered, signs


@family(aspect=(3.0, 300.0), bounds=("nonneg", "nonneg", "box"), noise=(1e-2, 0.3), several=0.4)
def cell_mixtures(rng: Generator, m: int, n: int) -> Drawn:
    """Bulk RNA deconvolution: expression by signatures of cell types, log-normal and correlated."""
    shared = 2.0 * rng.standard_normal((m, 1))
    A = np.exp(shared + rng.uniform(0.2, 1.5) * rng.standard_normal((m, n)))
    x = many(rng, n)
    return Drawn(A, x / x.sum())


@family(data="counts", aspect=(0.5, 5.0), bounds=("nonneg",), several=0.4)
def mutational_signatures(rng: Generator, m: int, n: int) -> Drawn:
    """Cancer genomics: mutation counts by signatures, columns that sum to 1, most entries small."""
    A = rng.gamma(0.3, 1.0, (m, n)) + 1e-9
    return Drawn(A / A.sum(axis=0), few(rng, n))


@family(data="counts", density=0.02, aspect=(0.3, 3.0), bounds=("nonneg",))
def transcript_abundance(rng: Generator, m: int, n: int) -> Drawn:
    """RNA-seq: reads of equivalence classes by the transcripts they may come from (sparse)."""
    return Drawn(scattered(rng, m, n, 0.02), few(rng, n))


@family(aspect=(0.1, 5.0), integers=True, bounds=("signed", "nonneg", "mixed"), noise=(0.3, 3.0))
def genotypes(rng: Generator, m: int, n: int) -> Drawn:
    """Statistical genetics: a trait by 0/1/2 genotypes in blocks that are inherited together."""
    block = rng.integers(0, max(n // 8, 1), n)
    frequency = rng.uniform(0.05, 0.5, n)
    common = rng.standard_normal((m, max(n // 8, 1)))[:, np.sort(block)]
    latent = np.sqrt(0.7) * common + np.sqrt(0.3) * rng.standard_normal((m, n))
    A = (latent > 1.5 - 2 * frequency).astype(float) + (latent > 2.2 - frequency)
    return Drawn(A, signs(rng, n))


@family(data="labels", aspect=(0.02, 2.0), bounds=("signed", "nonneg", "mixed"))
def diagnosis(rng: Generator, m: int, n: int) -> Drawn:
    """Diagnosis by gene expression: standardised, more genes than patients, so mostly separable."""
    factors = rng.standard_normal((m, 5)) @ rng.standard_normal((5, n))
    return Drawn(factors / 3.0 + rng.standard_normal((m, n)), signs(rng, n))
