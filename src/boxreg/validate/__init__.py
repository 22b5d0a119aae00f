"""The only place where user input is checked, converted or copied."""

from .arrays import at_least_2d, bound_pair, bounds, start, vector
from .batches import (
    bound_of_many,
    bounds_in_order,
    chunk,
    device,
    jobs,
    output,
    skips_nan,
    spectral_axis,
)
from .designs import design, operator
from .methods import lsmr_options, method
from .problems import dual_point, level_zero, problem
from .values import choice, claim, iterations, one_of, positive, switch, tolerance

__all__ = [
    "at_least_2d",
    "bound_of_many",
    "bound_pair",
    "bounds",
    "bounds_in_order",
    "choice",
    "chunk",
    "claim",
    "design",
    "device",
    "dual_point",
    "iterations",
    "jobs",
    "level_zero",
    "lsmr_options",
    "method",
    "one_of",
    "operator",
    "output",
    "positive",
    "problem",
    "skips_nan",
    "spectral_axis",
    "start",
    "switch",
    "tolerance",
    "vector",
]
