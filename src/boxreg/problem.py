"""The problem as the user posed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .designs.base import Design
from .designs.survey import Survey
from .losses.base import Loss


@dataclass(frozen=True)
class Problem:
    """minimise sum_i f([A x]_i; y_i) subject to lower <= x <= upper.

    Built by validation only: shapes agree, everything is finite but the upper bounds, and
    lower <= upper. Holds the caller's arrays without changing them.
    """

    design: Design
    target: Array
    loss: Loss
    lower: Array
    upper: Array
    survey: Survey
    """What the first pass over A told."""

    def nearest_to_zero(self) -> Array:
        """The projection of 0 on the box: where the scale P₀ of `tol` is measured."""
        return np.asarray(np.clip(0.0, self.lower, self.upper))
