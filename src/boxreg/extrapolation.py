"""Anderson extrapolation of a sequence that converges like powers of a fixed matrix."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from .arrays import Array

DEPTH = 5
"""Differences combined; one more vector than that is needed."""

_RIDGE = 1e-10


def extrapolate(sequence: Collection[Array]) -> Array | None:
    """sum_i c_i s_{i+1} with c = argmin ||sum_i c_i (s_{i+1} - s_i)||² subject to sum_i c_i = 1.

    Exact for a sequence s_{i+1} = T s_i + b with fewer eigenvalues in play than there are differences.
    The normal equations get a ridge of 1e-10 of their trace. None where nothing moves.
    """
    stacked = np.asarray(list(sequence))
    differences = np.diff(stacked, axis=0)
    scale = float(np.max(np.abs(differences), initial=0.0))  # their squares may underflow
    if not 0.0 < scale < np.inf:
        return None
    differences = differences / scale
    gram = differences @ differences.T
    gram = gram / float(np.trace(gram)) + _RIDGE * np.eye(len(gram))
    weights = np.linalg.solve(gram, np.ones(len(gram)))
    weights /= weights.sum()
    return np.asarray(weights @ stacked[1:])
