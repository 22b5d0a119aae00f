"""What losses of positive data with a background have in common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .base import Loss
from .checks import Background, nonnegative_target


class PositiveLoss(Loss):
    """A divergence of y >= 0 from q = p + b, b >= 0, least at q = y. Asks for A >= 0 and lower >= 0."""

    alpha = 0.0
    needs_nonnegative = True

    def __init__(self, background: npt.ArrayLike = 0.0) -> None:
        self._background = Background(background)

    @property
    def background(self) -> Array:
        """b, a number or one entry a row."""
        return self._background.value

    def accept(self, target: Array) -> Array:
        """y >= 0."""
        return nonnegative_target(target)

    def check_rows(self, count: int) -> None:
        """One b for each row, or one for all."""
        self._background.check_rows(count)

    def minimisers(self, target: Array) -> Array:
        """y - b, or 0."""
        return np.maximum(target - self.background, 0.0)
