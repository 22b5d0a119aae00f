"""Losses: one file each, and the registry of their names."""

from .base import Loss
from .least_squares import LeastSquares

LOSSES: dict[str, type[Loss]] = {
    "least_squares": LeastSquares,
}

__all__ = ["LOSSES", "LeastSquares", "Loss"]
