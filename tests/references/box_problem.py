"""The data of one test problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """min 1/2 |A x - y|^2 subject to lower <= x <= upper, in read-only arrays.

    `planted` lists coordinates known to have w*_j = 0 exactly: no safe rule may screen them.
    """

    name: str
    A: FloatArray
    y: FloatArray
    lower: FloatArray
    upper: FloatArray
    planted: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for field in ("A", "y", "lower", "upper"):
            array = np.array(getattr(self, field))
            array.setflags(write=False)
            object.__setattr__(self, field, array)

    def __repr__(self) -> str:
        m, n = self.A.shape
        return f"BoxProblem({self.name!r}, {m} x {n})"

    @property
    def data(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(A, y, lower, upper)."""
        return self.A, self.y, self.lower, self.upper
