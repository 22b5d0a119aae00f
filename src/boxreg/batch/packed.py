"""Answers without their zeros, which are nine tenths of them often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array

_LEAN = 4
"""x is packed where at most one entry in so many is not 0."""


@dataclass(frozen=True)
class Packed:
    """The entries of x that are not 0, and where they are, `axis` last."""

    shape: tuple[int, ...]
    axis: int
    where: Any
    values: Array

    @property
    def nbytes(self) -> int:
        """What it takes."""
        return int(self.where.nbytes + self.values.nbytes)

    def dense(self) -> Array:
        """x."""
        x = np.moveaxis(np.zeros(self.shape), -1, self.axis)
        self.put(x)
        return x

    def put(self, x: Array) -> None:
        """Write it down where there are zeros."""
        last = np.moveaxis(x, self.axis, -1)
        if last.flags.c_contiguous:
            last.reshape(-1)[self.where] = self.values
        else:
            last[np.unravel_index(self.where, self.shape)] = self.values


def packed(x: Array, axis: int) -> Packed | Array:
    """x without its zeros; as it is if they are few, or entries too many for short indices.

    -0 is not told from 0.
    """
    last = np.moveaxis(x, axis, -1)
    where = np.flatnonzero(last != 0.0)  # a mask is searched four times as fast
    if _LEAN * len(where) > last.size or last.size > np.iinfo(np.int32).max:
        return x
    return Packed(last.shape, axis, where.astype(np.int32), last.reshape(-1)[where])


def unpacked(part: Any) -> Any:
    """x with its zeros; anything else as it is."""
    return part.dense() if isinstance(part, Packed) else part
