"""Checks that losses share: parameters and targets."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..arguments import number
from ..arrays import Array, Index


def positive(argument: str, value: float) -> float:
    """`value` as a finite number > 0."""
    size = number(value, argument)
    if not (math.isfinite(size) and size > 0.0):
        raise ValueError(f"{argument}: expected a finite number > 0, got {value!r}")
    return size


def real_vector(value: npt.ArrayLike, argument: str) -> Array:
    """A copy of `value` as a float64 array of at most one dimension."""
    try:
        array = np.array(value)
    except Exception as error:  # whatever the object's own conversion raises
        raise ValueError(f"{argument}: cannot be read as an array of numbers ({error})") from error
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{argument}: expected real numbers, got dtype {array.dtype}")
    if array.ndim > 1:
        raise ValueError(f"{argument}: expected a number or a vector, got {array.ndim} dimensions")
    with np.errstate(over="ignore"):  # wider numbers that are too large become inf
        return array.astype(np.float64)


def labels(target: Array) -> Array:
    """y as ±1, from ±1 or 0/1."""
    plus = target == 1.0
    odd = ~plus & (target != -1.0)
    if not odd.any():
        return target
    if np.all(plus | (target == 0.0)):
        return np.where(plus, 1.0, -1.0)
    i = int(np.flatnonzero(odd)[0])
    raise ValueError(f"y: expected labels -1 and 1, or 0 and 1; got {target[i]!r} at position {i}")


def nonnegative_target(target: Array) -> Array:
    """y, if every entry is finite and >= 0."""
    bad = np.flatnonzero(~(np.isfinite(target) & (target >= 0.0)))
    if len(bad):
        i = int(bad[0])
        raise ValueError(f"y: expected entries >= 0; got {target[i]!r} at position {i}")
    return target


class Background:
    """b >= 0 in q = p + b: a number, or a vector with one entry a row."""

    def __init__(self, value: npt.ArrayLike) -> None:
        array = real_vector(value, "background")
        if not (np.isfinite(array).all() and (array >= 0.0).all()):
            raise ValueError("background: expected finite entries >= 0")
        array.flags.writeable = False
        self.value: Array = array

    @property
    def zero(self) -> bool:
        """Whether q = p."""
        return not self.value.any()

    def rows(self, kept: Index) -> Background:
        """That of the rows `kept`."""
        return Background(self.value[kept]) if self.value.ndim else self

    def check_rows(self, count: int) -> None:
        """ValueError unless there is one entry for each of `count` rows, or a single number."""
        if self.value.ndim and len(self.value) != count:
            raise ValueError(
                f"background: expected a number or a vector with one entry for each of the {count} "
                f"rows of A, got {len(self.value)} entries"
            )
