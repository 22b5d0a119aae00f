"""Losses: one file each, and the registry of their names."""

from .base import Loss
from .beta_divergence import BetaDivergence
from .huber import Huber
from .kullback_leibler import KullbackLeibler
from .least_squares import LeastSquares
from .log_cosh import LogCosh
from .logistic import Logistic
from .squared_hinge import SquaredHinge
from .weighted import Weighted

LOSSES: dict[str, type[Loss]] = {
    "least_squares": LeastSquares,
    "huber": Huber,
    "logistic": Logistic,
    "squared_hinge": SquaredHinge,
    "log_cosh": LogCosh,
    "kullback_leibler": KullbackLeibler,
    "beta_divergence": BetaDivergence,
}

__all__ = [
    "LOSSES",
    "BetaDivergence",
    "Huber",
    "KullbackLeibler",
    "LeastSquares",
    "LogCosh",
    "Logistic",
    "Loss",
    "SquaredHinge",
    "Weighted",
]
