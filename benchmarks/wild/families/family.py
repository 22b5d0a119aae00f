"""What a family is, and parts that several families are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Data = Literal["real", "outliers", "counts", "labels"]
Bounds = Literal["nonneg", "box", "signed", "mixed"]


class Drawn(NamedTuple):
    """A, the x behind the data, and rows below A with their targets (regularisation, constraints)."""

    A: Any
    x: Array
    rows: Any = None
    targets: Array | None = None


Draw = Callable[[Generator, int, int], Drawn]


@dataclass(frozen=True)
class Family:
    """One kind of problem: a function that draws A and x for a size, and what is typical of it."""

    name: str
    draw: Draw
    data: Data
    aspect: tuple[float, float]
    """Least and largest m / n."""
    bounds: tuple[Bounds, ...]
    """One is drawn; a kind that is named twice is drawn twice as often."""
    noise: tuple[float, float]
    """Least and largest noise over the size of A x; (0, 0) for exact data."""
    density: float
    """Share of the entries that is stored; 1 where A is dense."""
    integers: bool
    """Whether the entries of A are integers."""
    several: float
    """The probability of several right-hand sides."""

    @property
    def source(self) -> str:
        """Where it comes from: the first line of its function."""
        return (self.draw.__doc__ or "").strip().splitlines()[0]


FAMILIES: dict[str, Family] = {}
"""In the order in which seeds take them."""


def family(
    data: Data = "real",
    aspect: tuple[float, float] = (0.05, 20.0),
    bounds: tuple[Bounds, ...] = ("nonneg", "nonneg", "nonneg", "box", "mixed"),
    noise: tuple[float, float] = (1e-5, 0.3),
    density: float = 1.0,
    integers: bool = False,
    several: float = 0.1,
) -> Callable[[Draw], Draw]:
    """Put a function into the registry."""

    def register(draw: Draw) -> Draw:
        name = draw.__name__
        held = Family(name, draw, data, aspect, bounds, noise, density, integers, several)
        FAMILIES[name] = held
        return draw

    return register


def support(rng: Generator, n: int) -> NDArray[np.bool_]:
    """Which coordinates of x are not 0: a share that is log-uniform from 1 % to 60 %, at least one."""
    share = 10.0 ** rng.uniform(-2.0, np.log10(0.6))
    chosen = np.zeros(n, dtype=bool)
    chosen[rng.permutation(n)[: max(1, round(share * n))]] = True
    return chosen


def few(rng: Generator, n: int) -> Array:
    """Positive amounts on a drawn support, spread over a decade or so."""
    amounts: Array = np.where(support(rng, n), np.exp(0.8 * rng.standard_normal(n)), 0.0)
    return amounts


def many(rng: Generator, n: int) -> Array:
    """Positive amounts everywhere, spread over orders of magnitude."""
    amounts: Array = np.exp(1.5 * rng.standard_normal(n))
    return amounts


def signs(rng: Generator, n: int) -> Array:
    """Gaussian amounts of both signs on a drawn support."""
    amounts: Array = np.where(support(rng, n), rng.standard_normal(n), 0.0)
    return amounts


def humps(rng: Generator, n: int) -> Array:
    """A smooth distribution: a few Gaussian humps along the coordinates."""
    at = np.linspace(0.0, 1.0, n)
    x = np.zeros(n)
    for _ in range(rng.integers(1, 5)):
        x += rng.uniform(0.2, 1.0) * np.exp(
            -0.5 * ((at - rng.uniform()) / rng.uniform(0.01, 0.15)) ** 2
        )
    return np.where(x > 1e-3, x, 0.0)


def smooth_columns(rng: Generator, m: int, n: int, width: float) -> Array:
    """Positive random curves, each a sum of Gaussian humps of about this width along the rows."""
    at = np.linspace(0.0, 1.0, m)
    count = int(rng.integers(3, 9))
    basis = np.exp(-0.5 * ((at[:, None] - np.linspace(0, 1, 4 * count)) / width) ** 2)
    mixing = rng.random((4 * count, n)) ** 3 * (rng.random((4 * count, n)) < 0.6)
    curves: Array = basis @ mixing + 0.05 * rng.random(n)
    return curves


def second_differences(n: int) -> sparse.csc_array:
    """The second differences of x, n - 2 rows (at least one)."""
    rows = max(n - 2, 1)
    return sparse.csc_array(
        sparse.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(rows, n))
    )


def strength(rng: Generator, A: Any, least: float = -6.0, largest: float = 0.0) -> float:
    """A weight of regularisation rows: a share of the root mean square norm of the columns of A."""
    size = sparse.linalg.norm(A) if sparse.issparse(A) else np.linalg.norm(A)
    return float(10.0 ** rng.uniform(least, largest) * size / np.sqrt(A.shape[1]))


def scattered(rng: Generator, m: int, n: int, density: float) -> sparse.csc_array:
    """Positive entries at random places; every row and column has at least one."""
    stored = max(int(density * m * n), 1)
    i = np.concatenate([rng.integers(0, m, stored), np.arange(m), rng.integers(0, m, n)])
    j = np.concatenate([rng.integers(0, n, stored), rng.integers(0, n, m), np.arange(n)])
    return sparse.csc_array((rng.random(len(i)) + 0.05, (i, j)), shape=(m, n))
