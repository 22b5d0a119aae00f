"""The synthetic problems of the screening literature, drawn by seed.

The paper describes its data in one way (`printed`) and its public code draws them in another
(`coded`); both are here, under those names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from .arrays import Array

Variant: TypeAlias = Literal["printed", "coded"]


@dataclass(frozen=True)
class Workload:
    """A problem ready for `solve(A, y, lower, upper)`."""

    name: str
    A: Array
    y: Array
    lower: float
    upper: float


def nnls_table1(n: int, *, m: int = 2000, variant: Variant = "coded", seed: int = 0) -> Workload:
    """Non-negative least squares, A = |N(0,1)|, 5 % of x̄ non-zero.

    printed: x̄ ~ |N(0,1)|, y = A x̄ + N(0,1). coded: unit columns, x̄ ~ U(0,1), A x̄ scaled to unit
    norm, y = A x̄ + N(0,1) with negative entries set to 0.
    """
    rng = np.random.default_rng(seed)
    A = np.asfortranarray(np.abs(rng.standard_normal((m, n))))
    if variant == "printed":
        y = A @ _sparse(rng, n, "half_normal") + rng.standard_normal(m)
        return Workload(f"nnls-table1-printed-n{n}", A, y, 0.0, np.inf)
    A /= np.linalg.norm(A, axis=0)
    clean = A @ _sparse(rng, n, "uniform")
    y = np.maximum(clean / np.linalg.norm(clean) + rng.standard_normal(m), 0.0)
    return Workload(f"nnls-table1-coded-n{n}", A, y, 0.0, np.inf)


def bvls_table2(n: int, *, m: int = 1000, variant: Variant = "coded", seed: int = 0) -> Workload:
    """Least squares over [0, 1]ⁿ, A = |N(0,1)|, 5 % of x̄ ~ U(0,1) non-zero, y = A x̄ + N(0,1).

    coded: unit columns.
    """
    rng = np.random.default_rng(seed)
    A = np.asfortranarray(np.abs(rng.standard_normal((m, n))))
    if variant == "coded":
        A /= np.linalg.norm(A, axis=0)
    y = A @ _sparse(rng, n, "uniform") + rng.standard_normal(m)
    return Workload(f"bvls-table2-{variant}-n{n}", A, y, 0.0, 1.0)


def bvls_figure1(
    box: float, *, m: int = 4000, n: int = 2000, variant: Variant = "coded", seed: int = 0
) -> Workload:
    """Least squares over [-box, box]ⁿ, A and y ~ N(0,1). coded: unit columns."""
    rng = np.random.default_rng(seed)
    A = np.asfortranarray(rng.standard_normal((m, n)))
    if variant == "coded":
        A /= np.linalg.norm(A, axis=0)
    return Workload(f"bvls-figure1-{variant}-b{box:g}", A, rng.standard_normal(m), -box, box)


FIGURE1_BOXES: tuple[float, ...] = tuple(float(b) for b in np.geomspace(0.1, 5.0, 10))


def _sparse(rng: np.random.Generator, n: int, values: Literal["half_normal", "uniform"]) -> Array:
    """A vector with 5 % of its entries non-zero, at least one."""
    x = np.zeros(n)
    support = rng.permutation(n)[: max(1, n // 20)]
    if values == "uniform":
        x[support] = rng.uniform(size=len(support))
    else:
        x[support] = np.abs(rng.standard_normal(len(support)))
    return x
