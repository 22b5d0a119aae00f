"""What a safe region must answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..duality import DualPoint
from ..point import Point
from ..rounding import SLACK, norm_at_least
from ..smoothness import Smoothness


@dataclass(frozen=True)
class Ball:
    """A ball in the metric that surely contains theta*, with the products of its centre."""

    centre: Array
    radius: float
    correlation: Array
    """w_j at the centre."""
    uncertainty: Array
    """How far each may be from the truth."""
    centre_error: float
    """How far the centre itself may be from the true one, in Euclidean norm."""


@dataclass(frozen=True)
class Metric:
    """The norm √(sum_i v_i² / L_i) in which regions are balls, L_i the constants that hold here."""

    smoothness: Smoothness
    reach: Array
    """√(sum_i L_i a_ij²): |a_jᵀv| is at most this times the norm of v."""

    @classmethod
    def of(cls, point: Point, dual: DualPoint, gap: float) -> Metric:
        """That of the loss, or where it has local constants only, that of where theta* must be."""
        problem = point.problem
        if problem.smoothness.known:
            return cls(problem.smoothness, problem.reach)
        local = problem.loss.local_smoothness(point.prediction, dual.theta, gap, problem.target)
        smoothness = Smoothness.made(local)
        return cls(smoothness, problem.reach_under(smoothness))

    def norm_at_least(self, v: Array) -> float:
        """A lower bound on the norm of v."""
        if self.smoothness.rows is None:
            return norm_at_least(v) / (float(np.sqrt(self.smoothness.largest)) * SLACK)
        return norm_at_least(v / np.sqrt(self.smoothness.rows)) / SLACK

    def at_most(self, size: float) -> float:
        """The greatest norm of a v with Euclidean norm `size`."""
        rows = self.smoothness.rows
        least = self.smoothness.largest if rows is None else float(np.min(rows))
        return size * SLACK / float(np.sqrt(least))


class SafeRegion(ABC):
    """A set that surely contains the dual solution theta*.

    Hypotheses: `dual` is feasible and gap >= P(x) - D(theta), rounding included; f' is
    L_i-Lipschitz, or 1/L_i bounds f*'' from below between theta_i, rho_i and theta*_i.
    """

    name: str

    @abstractmethod
    def correlation_range(self, point: Point, dual: DualPoint, gap: float) -> tuple[Array, Array]:
        """Bounds, rounding included, on the least and greatest w_j = a_jᵀtheta - c_j over the region."""


def ball_range(
    centre: Array, uncertainty: Array, radius: float, reach: Array
) -> tuple[Array, Array]:
    """Range of w_j over a ball: centre ± (radius · reach_j + uncertainty_j)."""
    distance = (radius * reach + uncertainty) * SLACK
    return centre - distance, centre + distance


def safe_sqrt(square: float) -> float:
    """Square root of a radius² known to be >= 0 up to the rounding already inside it."""
    return float(np.sqrt(max(square, 0.0))) * SLACK
