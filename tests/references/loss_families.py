"""Small random problems for every loss and kind of bounds, with a minimum that is attained.

`loss_problem(loss, kind, seed)` is deterministic. Shapes go round with the seed, so that many problems
can be stacked. Attained means: there is a dual point strictly inside the domain of the conjugates
whose w_j has the signs that infinite bounds ask for. Least squares, the squared hinge, the robust
losses, Kullback-Leibler and β have one whatever the data, unless a linear cost is added; logistic data
are made to overlap. A linear cost is built backwards from such a dual point.
"""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np

from references.loss_bounds import KINDS, POSITIVE_KINDS, bounds, feasible
from references.loss_matrices import matrix
from references.loss_problem import Array, LossProblem, Parameter

Rng = np.random.Generator

SHAPES: Final = ((6, 4), (10, 8), (12, 5), (5, 9), (8, 12))
POSITIVE: Final = frozenset({"kullback_leibler", "beta_divergence"})
LABELS: Final = frozenset({"logistic", "squared_hinge"})
LOSSES: Final = (
    "least_squares",
    "huber",
    "logistic",
    "squared_hinge",
    "log_cosh",
    "kullback_leibler",
    "beta_divergence",
)
CELLS: Final = tuple(
    (loss, kind) for loss in LOSSES for kind in (POSITIVE_KINDS if loss in POSITIVE else KINDS)
)
"""Every loss with every kind of bounds that its hypotheses allow."""

OPTIONS: Final = ("plain", "sample_weight", "linear", "ridge", "tikhonov", "everything")


def loss_problem(
    loss: str,
    kind: str,
    seed: int,
    option: str | None = None,
    shape: tuple[int, int] | None = None,
) -> LossProblem:
    """Problem number `seed` of a cell; `option` says which terms it has, by default a random one."""
    rng = np.random.default_rng([zlib.crc32(f"{loss} {kind}".encode()), seed])
    m, n = shape or SHAPES[seed % len(SHAPES)]
    chosen = str(rng.choice(OPTIONS, p=[0.4, 0.15, 0.15, 0.1, 0.1, 0.1]))
    option = chosen if option is None else option
    A = matrix(rng, m, n, positive=loss in POSITIVE)
    A *= min(1.0, 10.0 / float(np.abs(A).max()))  # predictions of order one suit every loss
    if kind == "intercept":
        A[:, 0] = 1.0
    lower, upper = bounds(rng, n, kind, positive=loss in POSITIVE)
    ridge = _ridge(rng, n, option)
    weights = _weights(rng, m) if option in ("sample_weight", "everything") else None
    bounded = bool(np.all(np.isfinite(lower) & np.isfinite(upper)))
    if loss in POSITIVE:
        A[A @ np.minimum(upper, 1.0) == 0.0, 0] = 1.0  # fixed at 0 elsewhere
    parameters = _parameters(rng, loss, m)
    y = _target(rng, loss, A, feasible(rng, lower, upper), parameters)
    loose = option in ("plain", "sample_weight") or (option == "tikhonov" and np.ndim(ridge) == 2)
    if loss == "logistic" and loose and not bounded:
        A, y = _overlapping(rng, A, y, kind)
        weights = None if weights is None else np.maximum(weights, 0.1)  # both labels stay
    linear = None
    if option in ("linear", "everything"):
        linear = _linear(rng, loss, A, y, lower, upper, parameters, weights)
    return LossProblem(
        *(f"{loss}/{kind}/{seed}", loss, A, y, lower, upper, parameters, weights, linear, ridge)
    )


def _parameters(rng: Rng, loss: str, m: int) -> dict[str, Parameter]:
    if loss == "huber":
        return {"delta": float(rng.choice([0.1, 0.5, 1.0, 1.35]))}
    if loss == "log_cosh":
        return {"scale": float(rng.choice([0.25, 1.0, 2.0]))}
    if loss in POSITIVE:
        each = rng.uniform(0.05, 1.0, m)
        background = {"background": (0.0, float(each[0]), each)[rng.integers(3)]}
        beta = {"beta": float(rng.choice([1.2, 1.5, 1.8]))} if loss == "beta_divergence" else {}
        return {**beta, **background}
    return {}


def _target(rng: Rng, loss: str, A: Array, x: Array, parameters: dict[str, Parameter]) -> Array:
    """Labels, counts, positive data, or A x with noise and now and then outliers."""
    m = len(A)
    signal = A @ x
    size = float(np.abs(signal).max()) or 1.0
    noise = size * float(rng.choice([0.01, 0.3, 1.0]))
    if loss in LABELS:
        y = np.where(signal - np.median(signal) + noise * rng.standard_normal(m) > 0, 1.0, -1.0)
        y[:2] = (1.0, -1.0)
        return y
    if loss == "kullback_leibler":
        mean = signal + np.asarray(parameters["background"])
        return rng.poisson(mean * rng.choice([1.0, 5.0]) + 0.2).astype(float)
    if loss == "beta_divergence":
        y = (signal + 0.05) * rng.gamma(4.0, 0.25, m) + 1e-3
        y[1:][rng.random(m - 1) < 0.1] = 0.0
        return y
    outliers = np.where(rng.random(m) < 0.15, 10.0, 1.0)
    return signal + noise * outliers * rng.standard_normal(m)


def _overlapping(rng: Rng, A: Array, y: Array, kind: str) -> tuple[Array, Array]:
    """Rows in groups of two to four that point the same way and have both labels.

    Then a direction that worsens no row has A d = 0: the loss grows along every other.
    """
    A, y, first = A.copy(), y.copy(), 0
    while first < len(A):
        last = min(first + int(rng.integers(2, 4)), len(A))
        last = len(A) if len(A) - last < 2 else last
        factors = rng.choice([0.5, 1.0, 2.0], last - first)
        A[first:last] = np.outer(
            np.ones_like(factors) if kind == "intercept" else factors, A[first]
        )
        y[first : first + 2] = (1.0, -1.0)
        first = last
    return A, y


def _weights(rng: Rng, m: int) -> Array:
    weights = rng.uniform(0.2, 3.0, m)
    weights[rng.random(m) < 0.1] = 0.0
    weights[0] = 1.0
    return weights


def _ridge(rng: Rng, n: int, option: str) -> Parameter:
    if option == "ridge" or (option == "everything" and rng.random() < 0.5):
        return float(10.0 ** rng.uniform(-3.0, 1.0))
    if option in ("tikhonov", "everything"):
        if rng.random() < 0.5 and n > 1:
            return np.asarray(np.diff(np.eye(n), axis=0))  # roughness
        return rng.standard_normal((int(rng.integers(1, n + 1)), n))
    return 0.0


def _linear(
    rng: Rng,
    loss: str,
    A: Array,
    y: Array,
    lower: Array,
    upper: Array,
    parameters: dict[str, Parameter],
    weights: Array | None,
) -> Array:
    """c = Aᵀθ - w for a θ strictly inside the domain and a w of the right signs."""
    theta = _dual_point(rng, loss, y, parameters) * (1.0 if weights is None else weights)
    w = rng.standard_normal(len(lower)) * float(rng.choice([0.1, 1.0])) * (np.abs(A).max(axis=0))
    w = np.where(np.isinf(upper), -np.abs(w), w)
    w = np.where(np.isinf(lower), np.where(np.isinf(upper), 0.0, np.abs(w)), w)
    return np.asarray(A.T @ theta - w)


def _dual_point(rng: Rng, loss: str, y: Array, parameters: dict[str, Parameter]) -> Array:
    m = len(y)
    inside = rng.uniform(-0.8, 0.8, m)
    if loss == "huber":
        return inside * parameters["delta"]
    if loss == "log_cosh":
        return inside * parameters["scale"]
    if loss == "logistic":
        return y * rng.uniform(0.1, 0.9, m)
    if loss == "squared_hinge":
        return y * rng.uniform(0.1, 1.0, m)
    return inside
