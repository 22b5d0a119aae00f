"""From a seed to a problem: family, size, data, loss, bounds, terms and memory layout are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import sparse

from benchmarks.losses.functions import (
    Array,
    Function,
    Huber,
    KullbackLeibler,
    Logistic,
    Quadratic,
    SquaredHinge,
)

from .families import FAMILIES, Drawn, Family
from .problem import WildProblem, laid_out

GENERATION = 1
"""Raised whenever a seed no longer gives the problem it gave before: records of two do not add up."""

TUNING = range(10_000)
"""Seeds to look at while the library is worked on."""

REPORT = range(1_000_000, 2_000_000)
"""Seeds of published figures: never to be run or looked at while the library is tuned."""

ENTRIES = (1e1, 1e7)
"""Least and largest number of stored entries of A; its logarithm is uniform."""

LARGEST_SHAPE = 2e7
"""Upper limit on m · n of sparse problems."""

LOSSES: dict[str, dict[str, float]] = {
    "real": {"least_squares": 0.88, "huber": 0.12},
    "outliers": {"least_squares": 0.25, "huber": 0.75},
    "counts": {"least_squares": 0.4, "kullback_leibler": 0.5, "huber": 0.1},
    "labels": {"least_squares": 0.1, "logistic": 0.6, "squared_hinge": 0.3},
}
"""How often each loss is drawn, by the kind of data."""

LAYOUTS = {"C": 0.5, "F": 0.3, "strided": 0.08, "float32": 0.12}
"""How often each layout of a dense A is drawn."""

WEIGHTED, RIDGED, PRICED = 0.12, 0.12, 0.1
"""Probabilities of sample weights, of a ridge term and of a linear cost."""


def draw(seed: int) -> WildProblem:
    """The problem of this seed; the same on every machine, up to the rounding of matrix products."""
    names = list(FAMILIES)
    kind = FAMILIES[names[seed % len(names)]]
    rng = np.random.default_rng([GENERATION, seed])
    drawn = kind.draw(rng, *_shape(rng, kind))
    loss = _choice(rng, LOSSES[kind.data])
    bounds = str(rng.choice(kind.bounds))
    if loss == "kullback_leibler" and bounds not in ("nonneg", "box"):
        bounds = "nonneg"
    Y, function = _data(rng, kind, drawn, loss, _count(rng, kind, drawn, loss))
    A = _stacked(drawn)
    if drawn.targets is not None:
        below = np.broadcast_to(drawn.targets[:, None], (len(drawn.targets), Y.shape[1]))
        Y = np.vstack([Y, below])
    lower, upper = _bounds(rng, A, drawn.x, bounds)
    terms = _terms(rng, A, Y, function, bounds, kind)
    layout = _layout(rng, kind, A)
    if layout == "float32":
        Y = Y.astype(np.float32)
    elif kind.data == "counts" and rng.uniform() < 0.3:
        Y = Y.astype(np.int64)
    return WildProblem(
        seed=seed,
        family=kind.name,
        A=laid_out(
            A if not sparse.issparse(A) or layout in ("CSR", "CSC") else A.toarray(), layout
        ),
        Y=Y[:, 0].copy() if Y.shape[1] == 1 else np.ascontiguousarray(Y),
        function=function,
        lower=lower,
        upper=upper,
        bounds=bounds,
        layout=layout,
        bounded_fit=bool(
            loss == "least_squares" and Y.shape[1] == 1 and not terms and rng.uniform() < 0.5
        ),
        **terms,
    )


def _choice(rng: Generator, shares: Mapping[str, float]) -> str:
    return str(rng.choice(list(shares), p=list(shares.values())))


def _shape(rng: Generator, kind: Family) -> tuple[int, int]:
    """Stored entries log-uniform, m / n log-uniform between what the family says."""
    stored = 10.0 ** rng.uniform(*np.log10(ENTRIES))
    size = min(stored / kind.density, LARGEST_SHAPE)
    aspect = np.exp(rng.uniform(*np.log(kind.aspect)))
    n = max(int(np.sqrt(size / aspect)), 1)
    return max(int(size / n), 1), n


def _count(rng: Generator, kind: Family, drawn: Drawn, loss: str) -> int:
    """Right-hand sides: 1, or log-uniform from 2 to 300 as far as the size allows."""
    if rng.uniform() >= kind.several:
        return 1
    m, n = drawn.A.shape
    most = 300 if loss in ("least_squares", "kullback_leibler") else 20
    most = min(most, int(1e8 / (m * n)), int(1e6 / max(m, n)))
    return int(10.0 ** rng.uniform(np.log10(2.0), np.log10(most))) if most > 2 else 1


def _data(
    rng: Generator, kind: Family, drawn: Drawn, loss: str, count: int
) -> tuple[Array, Function]:
    """Y with a column for each right-hand side, and the loss with its parameters."""
    n = len(drawn.x)
    X = drawn.x[:, None] * np.ones((1, count))
    if count > 1:  # neighbours of one scene: other amounts, some absent
        X = X * np.exp(0.5 * rng.standard_normal((n, count))) * (rng.random((n, count)) < 0.8)
    clean = np.asarray(drawn.A @ X)
    size = float(np.sqrt(np.mean(clean**2))) or 1.0
    if kind.data == "counts":
        return _counts(rng, clean * (10.0 ** rng.uniform(-1.0, 4.0) / size), loss)
    if kind.data == "labels":
        odds = clean * (10.0 ** rng.uniform(-0.3, 1.7) / size)
        odds = odds - np.median(odds)
        chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -500.0, 500.0)))
        Y = np.where(rng.random(odds.shape) < chance, 1.0, -1.0)
        return Y, {"logistic": Logistic, "squared_hinge": SquaredHinge}.get(loss, Quadratic)()
    least, largest = kind.noise
    level = size * (10.0 ** rng.uniform(np.log10(least), np.log10(largest)) if largest else 0.0)
    Y = clean + level * rng.standard_normal(clean.shape)
    if kind.data == "outliers" or loss == "huber":
        far = rng.random(clean.shape) < rng.uniform(0.01, 0.15)
        Y = Y + far * rng.uniform(1.0, 30.0) * size * rng.standard_normal(clean.shape)
    if loss == "huber":
        return Y, Huber(float(10.0 ** rng.uniform(-1.0, 0.7) * (level or 1e-2 * size)))
    return Y, Quadratic()


def _counts(rng: Generator, mean: Array, loss: str) -> tuple[Array, Function]:
    """Poisson counts with a known background, which may be 0."""
    background = 0.0
    if rng.uniform() < 0.7:
        background = float(10.0 ** rng.uniform(-3.0, 0.0) * (np.mean(mean) + 1e-3))
    Y = rng.poisson(np.maximum(mean, 0.0) + background).astype(float)
    if loss == "kullback_leibler":
        return Y, KullbackLeibler(background)
    if loss == "huber":
        return Y, Huber(float(rng.uniform(0.5, 3.0) * np.sqrt(np.mean(Y) + 1.0)))
    return Y, Quadratic()


def _stacked(drawn: Drawn) -> Any:
    """A with the rows below it."""
    if drawn.rows is None:
        return drawn.A
    if sparse.issparse(drawn.A):
        return sparse.csc_array(sparse.vstack([drawn.A, drawn.rows]))
    return np.vstack([drawn.A, drawn.rows])


def _norms(A: Any) -> Array:
    """Norms of the columns; 1 where a column is 0."""
    squares = A.multiply(A) if sparse.issparse(A) else A * A
    norms = np.sqrt(np.asarray(squares.sum(axis=0)).ravel())
    return np.where(norms > 0.0, norms, 1.0)


def _bounds(rng: Generator, A: Any, x: Array, bounds: str) -> tuple[Array, Array]:
    """Bounds on the scale of x, the same for all columns or in proportion to 1 / norm of each."""
    n = len(x)
    used = np.abs(x[x != 0.0])
    norms = _norms(A)
    if rng.uniform() < 0.6 or not len(used):
        size = np.full(n, np.sqrt(np.mean(used**2)) if len(used) else 1.0)
    else:
        size = np.sqrt(np.mean((x * norms)[x != 0.0] ** 2)) / norms * np.exp(rng.uniform(-1, 1, n))
    size = size * 10.0 ** rng.uniform(-1.0, 0.7)
    if bounds == "nonneg":
        return np.zeros(n), np.full(n, np.inf)
    if bounds == "box":
        return (np.zeros(n) if rng.uniform() < 0.8 else 0.1 * size), size
    if bounds == "signed":
        return -size, size
    return _mixed(rng, A.shape[0], size)


def _mixed(rng: Generator, m: int, size: Array) -> tuple[Array, Array]:
    """A few free columns, the first or anywhere; the others bounded below, above, or on both sides."""
    n = len(size)
    kinds = rng.choice(["below", "above", "both"], n, p=[0.6, 0.15, 0.25])
    free = int(rng.integers(1, max(min(6, n // 3, m // 3), 1) + 1))
    places = np.arange(n) if rng.uniform() < 0.5 else rng.permutation(n)
    kinds[places[: min(free, n)]] = "free "
    shift = rng.choice([0.0, 1.0, -1.0], n, p=[0.7, 0.15, 0.15]) * 0.2 * size
    lower = np.where((kinds == "below") | (kinds == "both"), shift, -np.inf)
    upper = np.where(kinds == "both", shift + size, np.where(kinds == "above", shift, np.inf))
    return lower, upper


def _terms(
    rng: Generator, A: Any, Y: Array, function: Function, bounds: str, kind: Family
) -> dict[str, Any]:
    """Sample weights, a ridge term, a linear cost: each seldom, a ridge more often with labels."""
    m, n = A.shape
    terms: dict[str, Any] = {}
    if rng.uniform() < WEIGHTED:
        spread = np.exp(rng.standard_normal(m))
        terms["weights"] = spread if rng.uniform() < 0.5 else rng.choice([1.0, 1e4], m)
    if rng.uniform() < (0.4 if kind.data == "labels" else RIDGED):
        terms["ridge"] = float(10.0 ** rng.uniform(-8.0, 0.0) * np.mean(_norms(A) ** 2))
    if rng.uniform() < PRICED and bounds in ("nonneg", "box") and kind.data != "labels":
        slope = function.value_and_slope(np.zeros(m) + 1e-3 * (np.mean(Y) + 1.0), Y[:, 0])[1]
        steepest = float(np.max(np.abs(A.T @ slope)))
        cost = 10.0 ** rng.uniform(-4.0, -0.5) * steepest
        terms["linear"] = np.full(n, cost) if rng.uniform() < 0.5 else cost * rng.random(n)
    return terms


def _layout(rng: Generator, kind: Family, A: Any) -> str:
    """How the caller holds A."""
    dense_too = np.prod(A.shape, dtype=float) <= 1e5 and rng.uniform() < 0.3
    if sparse.issparse(A) and not dense_too:
        return str(rng.choice(["CSR", "CSC"]))
    if kind.integers and rng.uniform() < 0.5:
        return "int"
    return _choice(rng, LAYOUTS)
