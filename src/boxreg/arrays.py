"""Names for the array types that appear in signatures."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
"""Vectors of the computation: always float64, whatever the dtype of A."""

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
"""A dense design as its user gave it: float64 or float32."""

Index: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]


_FLOAT = np.dtype(np.float64)


def plain(array: Any) -> Array:
    """The same numbers in a contiguous, writeable float64 array: compiled code is for one kind only."""
    if array.dtype != _FLOAT:
        with np.errstate(all="ignore"):  # subnormal float32, and what is not finite
            return np.array(array, dtype=np.float64, order="C")
    return array if array.flags.carray else np.array(array, order="C")
