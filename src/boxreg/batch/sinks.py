"""Where answers go as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .. import validate
from ..arrays import Array, Mask
from ..devices import host
from .chunk import Answers
from .layout import Layout


@dataclass(frozen=True)
class Numbers:
    """One number of each kind for every right-hand side, in the order in which they are read."""

    gap: Array
    objective: Array
    scale: Array
    target_gap: Array
    status: npt.NDArray[np.int8]
    support: npt.NDArray[np.int32]
    repaired: Mask
    proved: Mask

    @classmethod
    def empty(cls, count: int) -> Numbers:
        """None known yet."""
        kinds: tuple[Any, ...] = (float, float, float, float, np.int8, np.int32, bool, bool)
        return cls(*(np.zeros(count, dtype=kind) for kind in kinds))

    def put(self, at: int, answers: Answers) -> None:
        """Those of a chunk that begins with right-hand side `at`."""
        some = slice(at, at + len(answers.gap))
        self.gap[some], self.scale[some] = answers.gap, answers.scale
        self.target_gap[some], self.status[some] = answers.target, answers.status
        self.support[some], self.repaired[some] = answers.support, answers.repaired
        self.proved[some], self.objective[some] = answers.proved, answers.objective

    def shaped(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """All of them, in the shape of Y without its rows."""
        return {name: getattr(self, name).reshape(shape) for name in self.__dataclass_fields__}


@dataclass
class DenseSink:
    """An array like Y, or one that the caller gave."""

    layout: Layout
    target: Any
    rows: Array | None = None
    """The same memory, one row a right-hand side, where it lies so."""

    def room(self, first: int, last: int) -> Array | None:
        """The rows of some lines."""
        width = self.layout.width
        return None if self.rows is None else self.rows[first * width : last * width]

    def write(self, first: int, last: int, x: Array) -> None:
        """The answers of some lines."""
        self.layout.write(self.target, first, last, x)

    def result(self) -> Any:
        """The array."""
        return self.target


@dataclass
class SparseSink:
    """Rows of a sparse matrix, put together in the end."""

    layout: Layout
    n: int
    parts: list[Any] = field(default_factory=list)

    def room(self, first: int, last: int) -> None:
        """None: rows are made sparse first."""

    def write(self, first: int, last: int, x: Array) -> None:
        """The answers of some lines."""
        self.parts.append(sparse.csr_array(host(x)))

    def result(self) -> Any:
        """Columns of A × right-hand sides, or the transpose where Y has its rows along another axis."""
        empty: Any = sparse.csr_array((0, self.n))
        whole = sparse.csr_array(sparse.vstack([empty, *self.parts], format="csr"))
        return whole.T if self.layout.axis == 0 else whole


def sink_for(
    layout: Layout, n: int, out: Any, as_sparse: bool, arrays: Any, sources: Sequence[Any] = ()
) -> DenseSink | SparseSink:
    """The sink that was asked for; `sources` are read while it is written to."""
    shape = layout.shape_with(n)
    if out is None and as_sparse:
        return SparseSink(layout, n)
    if out is None:
        target = layout.new(n, arrays.empty)
        whole = np.moveaxis(target, layout.axis, -1)
        rows = whole.reshape(layout.count, n) if arrays is np else None
        return DenseSink(layout, target, rows)
    return DenseSink(layout, validate.output(out, shape, as_sparse, sources))
