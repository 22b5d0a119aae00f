"""Problems whose infimum is -inf, or finite and not attained, each with the direction that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from references.loss_problem import Array, LossProblem, Parameter

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Unattained:
    """P falls for ever along `direction` from `start`; to `infimum`, which may be -inf."""

    problem: LossProblem
    start: Array
    direction: Array
    infimum: float


_PARAMETERS: Final[dict[str, dict[str, Parameter]]] = {
    "huber": {"delta": 1.0},
    "log_cosh": {"scale": 1.0},
    "kullback_leibler": {"background": 0.5},
    "beta_divergence": {"beta": 1.5, "background": 0.0},
}


def separable(seed: int, loss: str = "logistic", intercept: bool = False) -> Unattained:
    """Labels that some d >= 0 predicts without error: the infimum is 0 (not attained if logistic)."""
    rng = np.random.default_rng([71, seed])
    m, n = int(rng.integers(4, 12)), int(rng.integers(2, 10))
    d = np.where(rng.random(n) < 0.5, rng.uniform(0.5, 1.5, n), 0.0)
    d[0] = 1.0
    A = rng.standard_normal((m, n))
    lower = np.zeros(n)
    if intercept:
        A[:, 0], lower[0] = 1.0, -np.inf
    y = np.where(A @ d > 0.0, 1.0, -1.0)
    A += np.outer(y * 0.05, d)  # a margin
    if intercept:
        A[:, 0] = 1.0
        d = _halfway(A, y, d)
    problem = _problem(f"separable-{loss}-{seed}", loss, A, y, lower)
    return Unattained(problem, np.zeros(n), d, 0.0)


def level(seed: int, loss: str) -> Unattained:
    """One direction along which cᵀx takes back exactly what the loss adds: integers throughout.

    Logistic with all labels -1 and log-cosh: the slope of each row tends to 1, and c = -Aᵀ1.
    """
    rng = np.random.default_rng([72, seed])
    m, n = int(rng.integers(2, 8)), int(rng.integers(1, 6))
    A = rng.integers(1, 4, (m, n)).astype(float)
    y = np.full(m, -1.0) if loss == "logistic" else rng.integers(-2, 3, m).astype(float)
    infimum = 0.0 if loss == "logistic" else float(-np.sum(y) - m * np.log(2.0))
    name, parameters = f"level-{loss}-{seed}", _PARAMETERS.get(loss)
    problem = _problem(name, loss, A, y, np.zeros(n), -A.sum(axis=0), parameters)
    return Unattained(problem, np.zeros(n), np.ones(n), infimum)


def unbounded(seed: int, loss: str) -> Unattained:
    """A direction d >= 0 along which cᵀx falls faster than the loss can rise."""
    rng = np.random.default_rng([73, seed])
    m, n = int(rng.integers(3, 9)), int(rng.integers(2, 9))
    A = np.abs(rng.standard_normal((m, n)))
    linear = rng.standard_normal(n)
    d = np.zeros(n)
    if loss in ("least_squares", "squared_hinge") and seed % 2:
        A[:, 1], linear[:2], d[:2] = -A[:, 0], (1.0, -1.5), 1.0  # A d = 0 and cᵀd < 0
    elif loss in ("least_squares", "beta_divergence"):
        A[:, 0], linear[0], d[0] = 0.0, -0.5, 1.0
    else:
        linear[0], d[0] = -1.5 * A[:, 0].sum(), 1.0  # slopes of the loss are at most 1
    y = np.abs(rng.standard_normal(m)) + 0.1
    if loss in ("logistic", "squared_hinge"):
        y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
        y = np.ones(m) if loss == "squared_hinge" else y  # no row worsens along d >= 0
    name = f"unbounded-{loss}-{seed}"
    problem = _problem(name, loss, A, y, np.zeros(n), linear, _PARAMETERS.get(loss))
    return Unattained(problem, np.full(n, 0.1), d, -np.inf)


UNBOUNDED_LOSSES: Final = (
    "least_squares",
    "huber",
    "logistic",
    "squared_hinge",
    "log_cosh",
    "kullback_leibler",
    "beta_divergence",
)


def _halfway(A: Array, y: Array, d: Array) -> Array:
    """d with the intercept midway between the two classes."""
    scores = A[:, 1:] @ d[1:]
    if np.all(y == y[0]):
        return np.concatenate([[y[0] * (1.0 + np.abs(scores).max())], d[1:]])
    middle = (scores[y > 0].min() + scores[y < 0].max()) / 2.0
    return np.concatenate([[-middle], d[1:]])


def _problem(
    name: str,
    loss: str,
    A: Array,
    y: Array,
    lower: Array,
    linear: Array | None = None,
    parameters: dict[str, Parameter] | None = None,
) -> LossProblem:
    upper = np.full(A.shape[1], np.inf)
    return LossProblem(name, loss, A, y, lower, upper, parameters or {}, linear=linear)
