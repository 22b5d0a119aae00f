"""Names of dimensions: those of Y, of x, and of what each right-hand side has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray

from .. import validate
from .elsewhere import is_labelled

COLUMNS = "component"
"""The dimension of x along the columns of A, where nobody gave it a name."""


@dataclass(frozen=True)
class Labels:
    """Dimensions and coordinates of Y; its dimension along the rows of A, and the one that replaces it
    with its coordinates, if A has some."""

    dims: tuple[Any, ...]
    coords: Any
    rows: Any
    columns: Any
    of_columns: dict[Any, Any]

    @classmethod
    def of(cls, A: Any, Y: Any, axis: Any, dim: Any) -> Labels:
        """Names that A and Y give, or the caller."""
        named = A if is_labelled(A) else None
        rows = validate.spectral_dimension(Y.dims, axis, () if named is None else named.dims)
        columns: Any = COLUMNS
        coords: dict[Any, Any] = {}
        if named is not None:
            columns = validate.column_dimension(named.dims, rows)
            _same_places(named, Y, rows)
            renamed = named if dim is None else named.rename({columns: dim})
            columns = columns if dim is None else dim
            coords = {k: c for k, c in renamed.coords.items() if c.dims == (columns,)}
        elif dim is not None:
            columns = dim
        validate.new_dimension(columns, [d for d in Y.dims if d != rows])
        return cls(Y.dims, Y.coords.to_dataset(), rows, columns, coords)

    def loaded(self) -> Labels:
        """With coordinates in memory: they may be lazy, too."""
        return replace(self, coords=self.coords.compute())

    @property
    def axis(self) -> int:
        """Where the dimension along the rows of A is."""
        return self.dims.index(self.rows)

    @property
    def of_x(self) -> list[Any]:
        """The dimensions of x."""
        return [self.columns if d == self.rows else d for d in self.dims]

    def matrix(self, A: Any) -> Any:
        """A without names, rows first."""
        return A.transpose(self.rows, ...).data if is_labelled(A) else A

    def bound(self, bound: Any, name: str) -> Any:
        """A bound without names, its dimensions in the order of x."""
        if not is_labelled(bound):
            return bound
        if set(bound.dims) == set(self.of_x):
            return bound.transpose(*self.of_x).data
        validate.bound_dimensions(bound.dims, name, self.columns, self.of_x)
        return bound.data

    def x(self, array: Any) -> Any:
        """The answers, with names."""
        return self._outer(array, self.of_x, "x").assign_coords(self.of_columns)

    def number(self, array: Any, name: str) -> Any:
        """What each right-hand side has, with names."""
        return self._outer(array, [d for d in self.dims if d != self.rows], name)

    def dual(self, array: Any) -> Any:
        """Dual points: like Y."""
        return xarray.DataArray(array, dims=self.dims, coords=self.coords.coords, name="theta")

    def _outer(self, array: Any, dims: list[Any], name: str) -> Any:
        kept = self.coords.drop_dims(self.rows, errors="ignore").coords
        return xarray.DataArray(array, dims=dims, coords=kept, name=name)


def _same_places(A: Any, Y: Any, rows: Any) -> None:
    """Refuse an A whose rows are at other coordinates than the entries of Y."""
    if rows in A.coords and rows in Y.coords and not np.array_equal(A[rows], Y[rows]):
        raise ValueError(
            f"A: its coordinate {rows!r} differs from that of Y; interpolate or select one of them first"
        )
