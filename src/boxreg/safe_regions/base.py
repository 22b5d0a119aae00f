"""What a safe region must answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..duality import DualPoint
from ..point import Point
from ..rounding import SLACK


@dataclass(frozen=True)
class Ball:
    """A ball that surely contains theta*, with the products of its centre."""

    centre: Array
    radius: float
    correlation: Array
    """a_jᵀ centre, off by at most error · ||a_j||."""
    error: float


class SafeRegion(ABC):
    """A set that surely contains the dual solution theta*.

    Hypotheses: `dual` is feasible, gap >= P(x) - D(theta) rounding included, and the loss is
    (1/alpha)-smooth.
    """

    name: str

    @abstractmethod
    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Bounds, rounding included, on the least and greatest a_jᵀ theta over the region."""


def ball_range(
    centre: Array, centre_error: float, radius: float, norms: Array
) -> tuple[Array, Array]:
    """Range of a_jᵀ theta over a ball: centre ± (radius + centre_error) ||a_j||."""
    reach = (radius + centre_error) * SLACK * norms
    return centre - reach, centre + reach


def safe_sqrt(square: float) -> float:
    """Square root of a radius² known to be >= 0 up to the rounding already inside it."""
    return float(np.sqrt(max(square, 0.0))) * SLACK
