"""Right-hand sides in arrays of dask or xarray: found without importing either."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def path_for(Y: Any, dim: Any) -> Callable[..., Any] | None:
    """What solves for such a Y; None for plain arrays."""
    if is_labelled(Y):
        from .labelled import solve_labelled

        return solve_labelled
    if dim is not None:
        raise ValueError(f"dim: names a dimension of a DataArray, but Y is a {type(Y).__name__}")
    if is_lazy(Y):
        from .lazy import solve_lazily

        return solve_lazily
    return None


def is_labelled(value: Any) -> bool:
    """Whether it is an array with named dimensions, of xarray."""
    return _is_a(value, "xarray", "DataArray")


def is_lazy(value: Any) -> bool:
    """Whether it is a dask array."""
    return _is_a(value, "dask.array", "Array")


def _is_a(value: Any, module: str, name: str) -> bool:
    """No object is of a class whose module was never imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)
