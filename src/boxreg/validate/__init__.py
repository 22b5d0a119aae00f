"""The only place where user input is checked, converted or copied."""

from .arrays import at_least_2d, bound_pair, bounds, start, vector
from .batches import (
    bound_of_many,
    bounds_in_order,
    chunk,
    device,
    device_fits,
    jobs,
    mixed_bounds,
    output,
    skips_nan,
    spectral_axis,
)
from .collections import (
    bound_dimensions,
    chunks_known,
    column_dimension,
    lazy_options,
    new_dimension,
    no_sparse_names,
    spectral_dimension,
)
from .designs import design, operator
from .methods import lsmr_options, method
from .problems import dual_point, level_zero, problem
from .values import choice, claim, iterations, one_of, positive, seconds, switch, tolerance

__all__ = [
    "at_least_2d",
    "bound_dimensions",
    "bound_of_many",
    "bound_pair",
    "bounds",
    "bounds_in_order",
    "choice",
    "chunk",
    "chunks_known",
    "claim",
    "column_dimension",
    "design",
    "device",
    "device_fits",
    "dual_point",
    "iterations",
    "jobs",
    "lazy_options",
    "level_zero",
    "lsmr_options",
    "method",
    "mixed_bounds",
    "new_dimension",
    "no_sparse_names",
    "one_of",
    "operator",
    "output",
    "positive",
    "problem",
    "seconds",
    "skips_nan",
    "spectral_axis",
    "spectral_dimension",
    "start",
    "switch",
    "tolerance",
    "vector",
]
