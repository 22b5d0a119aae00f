"""The only place where user input is checked, converted or copied."""

from .arrays import at_least_2d, bound_pair, bounds, start, vector
from .designs import design, operator
from .methods import lsmr_options, method
from .problems import dual_point, level_zero, problem
from .values import choice, claim, iterations, one_of, positive, switch, tolerance

__all__ = [
    "at_least_2d",
    "bound_pair",
    "bounds",
    "choice",
    "claim",
    "design",
    "dual_point",
    "iterations",
    "level_zero",
    "lsmr_options",
    "method",
    "one_of",
    "operator",
    "positive",
    "problem",
    "start",
    "switch",
    "tolerance",
    "vector",
]
