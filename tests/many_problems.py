"""What the tests of many right-hand sides share."""

from __future__ import annotations

import numpy as np


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng([20_260, *seed])


def objective(A: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    return 0.5 * float(np.sum((y - np.asarray(A, dtype=float) @ x) ** 2))
