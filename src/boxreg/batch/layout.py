"""Where right-hand sides lie in an array of any shape, and answers in one like it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..arrays import Array, Mask
from ..devices import host

BLOCK = 128
"""Right-hand sides that are solved together, each from the answer of another one. Blocks lie at fixed
places, so that answers depend neither on the number of threads nor on what is read at a time."""


@dataclass(frozen=True)
class Layout:
    """Y with the rows of A along `axis`; everything else is cut along `line_axis`, its first other axis.

    A line holds `width` right-hand sides. Only slabs of whole lines are read and written, which arrays
    on disk (memmap, zarr, HDF5) understand as well.
    """

    shape: tuple[int, ...]
    axis: int

    @property
    def line_axis(self) -> int:
        """The first axis that is not that of the rows of A."""
        return 0 if self.axis > 0 else 1

    @property
    def rows(self) -> int:
        """Entries of a right-hand side."""
        return self.shape[self.axis]

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return self.shape[self.line_axis]

    @cached_property
    def width(self) -> int:
        """Right-hand sides a line."""
        return prod(s for k, s in enumerate(self.shape) if k not in self._fixed)

    @property
    def _fixed(self) -> tuple[int, int]:
        return self.axis, self.line_axis

    @property
    def count(self) -> int:
        """Right-hand sides in all."""
        return self.lines * self.width

    @property
    def unit(self) -> int:
        """Lines that are read and written together, at least, so that no block is cut."""
        return max(1, BLOCK // max(self.width, 1))

    @property
    def outer_shape(self) -> tuple[int, ...]:
        """The shape without the axis of the rows: that of gaps and statuses."""
        return tuple(s for k, s in enumerate(self.shape) if k != self.axis)

    def shape_with(self, length: int) -> tuple[int, ...]:
        """The shape with `length` entries in place of the rows of A."""
        return tuple(length if k == self.axis else s for k, s in enumerate(self.shape))

    def chunks(self, size: int, begin: int = 0) -> Iterator[tuple[int, int]]:
        """Lines to take at a time, about `size` right-hand sides, whole units, from line `begin`."""
        lines = max(1, size // max(self.width * self.unit, 1)) * self.unit
        while begin < self.lines:
            end = min((begin // lines + 1) * lines, self.lines)
            yield begin, end
            begin = end

    def blocks(self, begin: int, end: int) -> list[tuple[int, int]]:
        """The blocks within the lines begin … end, as ranges of right-hand sides counted from there."""
        step = self.unit * self.width
        total, ranges = (end - begin) * self.width, []
        for first in range(0, total, max(step, 1)):
            last = min(first + step, total)
            ranges += [(a, min(a + BLOCK, last)) for a in range(first, last, BLOCK)]
        return ranges

    def read(self, source: Any, begin: int, end: int) -> tuple[Array, Mask]:
        """The right-hand sides of some lines, one a row, float64; and which of them are masked."""
        count = (end - begin) * self.width
        rows, masked = np.empty((count, self.rows)), np.zeros(count, dtype=bool)
        self.read_into(source, begin, end, rows, masked)
        return rows, masked

    def read_into(self, source: Any, begin: int, end: int, rows: Array, masked: Mask) -> None:
        """The same, into rows that are there already."""
        slab = source[self._slab(begin, end)]
        if isinstance(slab, np.ma.MaskedArray):
            masked[:] = self._rows(np.ma.getmaskarray(slab)).any(axis=1)
        array = np.asarray(host(slab)) if isinstance(rows, np.ndarray) else slab
        if array.dtype.kind not in "fiub":
            raise TypeError(f"Y: expected real numbers, got dtype {array.dtype}")
        outer = [s for k, s in enumerate(array.shape) if k != self.axis]
        with np.errstate(over="ignore"):  # wider numbers that are too large become inf
            rows.reshape(*outer, self.rows)[...] = np.moveaxis(array, self.axis, -1)

    def lying(self, source: Any, begin: int, end: int) -> Array | None:
        """The same where they lie, not copied; None unless they lie as kernels take them."""
        if not isinstance(source, np.ndarray) or isinstance(source, np.ma.MaskedArray):
            return None
        slab = np.moveaxis(np.asarray(source)[self._slab(begin, end)], self.axis, -1)
        fit = slab.flags.carray and slab.dtype == np.float64 and slab.dtype.isnative
        return slab.reshape((end - begin) * self.width, self.rows) if fit else None

    def new(self, length: int, make: Callable[[tuple[int, ...]], Any] = np.empty) -> Any:
        """An array of that shape in which every right-hand side's entries lie together: answers come
        like that, and to put them across takes a fifth of the time of short solves."""
        return np.moveaxis(make((*self.outer_shape, length)), -1, self.axis)

    def write(self, target: Any, begin: int, end: int, rows: Array) -> None:
        """Put one row a right-hand side into the same lines of an array with another length."""
        shape = list(self.shape_with(rows.shape[1]))
        shape[self.line_axis] = end - begin
        outer = [s for k, s in enumerate(shape) if k != self.axis]
        target[self._slab(begin, end)] = np.moveaxis(
            rows.reshape(*outer, rows.shape[1]), -1, self.axis
        )

    def position(self, line: int, within: int) -> tuple[int, ...]:
        """The index, in the outer shape, of right-hand side `within` counted from `line`."""
        return tuple(int(k) for k in np.unravel_index(line * self.width + within, self.outer_shape))

    def _slab(self, begin: int, end: int) -> tuple[slice, ...]:
        whole = [slice(None)] * len(self.shape)
        whole[self.line_axis] = slice(begin, end)
        return tuple(whole)

    def _rows(self, slab: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
        return np.moveaxis(slab, self.axis, -1).reshape(-1, slab.shape[self.axis])
