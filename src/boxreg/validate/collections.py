"""What `solve_many` can be asked where Y is an array of dask or xarray."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

_INSTEAD = {
    "out": "store result.x, with dask.array.to_zarr for instance",
    "journal": "a task that fails is run again by the scheduler",
    "chunk": "the chunks are those of Y: rechunk Y",
    "n_jobs": "the scheduler runs chunks beside each other",
    "progress": "use dask.diagnostics.ProgressBar or distributed.progress",
    "time_limit": "stop the scheduler, or solve fewer chunks",
    "sparse": "convert the chunks of result.x",
}
"""What is for arrays in memory alone, and what to do where Y is not one."""


def lazy_options(options: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Refuse what a dask array cannot be combined with, unless it is left at its default."""
    for name, value in options.items():
        scalar = value is None or isinstance(value, (bool, int, str, np.integer, np.bool_))
        if not (scalar and value == defaults[name]):
            instead = _INSTEAD.get(name, "compute Y first")
            raise ValueError(f"{name}: cannot be combined with a dask array; {instead}")


def chunks_known(Y: Any) -> None:
    """Refuse a dask array whose shape is not known, or that does not hold numbers."""
    if any(np.isnan(length) for length in Y.shape):
        raise ValueError(
            f"Y: expected chunks of known sizes, got shape {Y.shape}; call compute_chunk_sizes() on it"
        )
    if Y.dtype.kind not in "fiub":
        raise TypeError(f"Y: expected real numbers, got dtype {Y.dtype}")


def no_sparse_names(value: Any) -> None:
    """Refuse a sparse answer with named dimensions."""
    if value:
        raise ValueError("sparse: cannot be combined with a DataArray; give Y.data for a sparse x")


def spectral_dimension(dims: Sequence[Hashable], axis: Any, shared: Sequence[Hashable]) -> Hashable:
    """The dimension of Y along the rows of A: a name, a position, or the one that A has too.

    Position 0 is the default: where A has names it gives way to the dimension in common.
    """
    common = [d for d in dims if d in shared]
    if isinstance(axis, (int, np.integer)):
        if axis == 0 and len(common) == 1:
            return common[0]
        if -len(dims) <= axis < len(dims):
            return dims[int(axis)]
    elif axis in dims:
        return axis  # type: ignore[no-any-return]
    raise ValueError(f"axis: expected a dimension of Y, one of {tuple(dims)}, got {axis!r}")


def column_dimension(dims: Sequence[Hashable], rows: Hashable) -> Hashable:
    """The dimension of a matrix with names that is not that of its rows."""
    if len(dims) != 2 or rows not in dims:
        raise ValueError(
            f"A: expected 2 dimensions, {rows!r} and one for the columns, got {tuple(dims)}"
        )
    return dims[1] if dims[0] == rows else dims[0]


def new_dimension(name: Any, others: Sequence[Hashable]) -> None:
    """Refuse a name for the columns of A that Y has given to something else."""
    if name in others:
        raise ValueError(
            f"dim: Y has a dimension {name!r} already; give another name for the columns of A"
        )


def bound_dimensions(
    dims: Sequence[Hashable], name: str, columns: Hashable, like: Sequence[Hashable]
) -> None:
    """Refuse a bound with names that are not those of x, or of the columns of A."""
    if tuple(dims) not in ((), (columns,)):
        raise ValueError(
            f"{name}: expected no dimension, {columns!r} or those of x, {tuple(like)}, got {tuple(dims)}"
        )
