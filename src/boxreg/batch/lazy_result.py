"""What `solve_many` returns for a dask array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.base import DaskMethodsMixin, compute_as_if_collection
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph

from .bundle import KINDS, RECORD, Bundle, cut
from .grouping import group_size, grouped, held, threads_of
from .question import Question
from .result import BatchResult, RhsStatus, relative_gaps
from .verification import BatchCertificate


@dataclass(frozen=True)
class Outline:
    """What is known before anything is computed."""

    question: Question
    outer_chunks: tuple[tuple[int, ...], ...]
    settings: dict[str, str]
    dual: bool
    seconds: float
    """A guess at the time that the largest chunk takes."""

    def gather(self, bundles: Any) -> BatchResult:
        """The result in memory, of the bundles of all chunks in order."""
        found: list[Bundle] = list(flatten(bundles, container=(list, tuple)))
        layout, (m, n) = self.question.layout, self.question.design.shape
        whole: dict[str, Any] = {
            name: np.empty(layout.outer_shape, kind) for name, kind in KINDS.items()
        }
        numblocks = tuple(len(sizes) for sizes in self.outer_chunks)
        x, records = layout.new(n, np.zeros), np.empty(numblocks, dtype=RECORD)
        theta = layout.new(m) if self.dual else None
        cuts = [np.cumsum((0, *sizes)).tolist() for sizes in self.outer_chunks]
        for place, bundle in zip(np.ndindex(*numblocks), found, strict=True):
            at = tuple(slice(c[k], c[k + 1]) for c, k in zip(cuts, place, strict=True))
            through = (*at[: layout.axis], slice(None), *at[layout.axis :])
            bundle.put("x", x[through])
            if theta is not None:
                theta[through] = bundle.parts["theta"]
            for name, target in whole.items():
                target[at] = bundle.parts[name]
            records[place] = bundle.parts["statistics"].item()
        return BatchResult(
            x=x,
            **whole,
            theta=theta,
            seconds=float(records["seconds"].sum()),
            shape=(m, n),
            settings=self.settings,
            question=self.question,
            direction=_common([bundle.direction for bundle in found]),
            statistics=records,
        )


class LazyBatchResult(DaskMethodsMixin):  # type: ignore[misc]
    """Answers that are not computed yet, chunked as Y is; itself a collection of dask.

    One task a chunk finds all there is; the arrays below are cut out of what it returns. Computed
    together, as by `dask.compute(result.x, result.gap)`, they share that task, one after the other they
    do not; `persist()` keeps what it returned. `compute()` and `persist()` of the result itself put
    several small chunks into a task (`grouping`).

    Attributes
    ----------
    x, gap, scale, target_gap, status, support, repaired, theta, relative_gap : as in `BatchResult`,
        dask arrays.
    statistics : a record for each chunk (`boxreg.batch.bundle.RECORD`), in an array as the chunks lie.
    """

    __dask_scheduler__ = staticmethod(da.Array.__dask_scheduler__)
    __dask_optimize__ = staticmethod(da.Array.__dask_optimize__)

    def __init__(self, bundles: Any, light: Any, outline: Outline) -> None:
        self._bundles, self._light, self._outline = bundles, light, outline
        self.shape = outline.question.design.shape
        self.settings = outline.settings

    @cached_property
    def x(self) -> Any:
        """Like Y, with the columns of A in place of its rows."""
        return self._like_y("x", self.shape[1])

    @cached_property
    def theta(self) -> Any:
        """Dual points, like Y, if they were asked for."""
        return self._like_y("theta", self.shape[0]) if self._outline.dual else None

    @cached_property
    def gap(self) -> Any:
        """Proved upper bounds on P(x) - P*."""
        return self._number("gap")

    @cached_property
    def scale(self) -> Any:
        """P₀, what `tol` is relative to."""
        return self._number("scale")

    @cached_property
    def target_gap(self) -> Any:
        """The gaps that were asked for."""
        return self._number("target_gap")

    @cached_property
    def status(self) -> Any:
        """Codes of `RhsStatus`."""
        return self._number("status")

    @cached_property
    def support(self) -> Any:
        """How many x_j are not 0."""
        return self._number("support")

    @cached_property
    def repaired(self) -> Any:
        """Right-hand sides that the general solver took over."""
        return self._number("repaired")

    @property
    def skipped(self) -> Any:
        """Right-hand sides that were not solved, by choice."""
        return self.status == RhsStatus.SKIPPED

    @property
    def relative_gap(self) -> Any:
        """gap / P₀; 0 where both are 0, NaN where nothing was solved."""
        return da.map_blocks(relative_gaps, self.gap, self.scale, dtype=np.float64)

    @cached_property
    def statistics(self) -> Any:
        """What is told of each chunk."""
        ones = tuple((1,) * len(sizes) for sizes in self._outline.outer_chunks)
        return self._cut("statistics", RECORD, ones)

    def compute(self, **options: Any) -> BatchResult:
        """Everything in memory; options are those of dask, such as `scheduler`.

        Chunks are put together here: `dask.compute` would have a worker do it, which then has to hold
        and send the whole.
        """
        if self._light is None:
            graph, keys = self.__dask_graph__(), self.__dask_keys__()
        else:
            graph, keys = self._grouped(self._group_size(options))
        return self._outline.gather(compute_as_if_collection(da.Array, graph, keys, **options))

    def persist(self, **options: Any) -> LazyBatchResult:
        """With every chunk computed, where it is, x without its zeros; options are those of dask."""
        if self._light is None:
            return self
        size = self._group_size(options)
        graph, keys = self._grouped(size)
        lists = da.Array(graph, keys[0][0], ((1,) * len(keys),), dtype=object)
        (lists,) = dask.persist(lists, optimize_graph=False, **options)
        places = flatten(self._bundles.__dask_keys__())
        layer = {place: (_member, keys[k // size], k % size) for k, place in enumerate(places)}
        return self._rebuilt(
            HighLevelGraph.from_collections(self._bundles.name, layer, dependencies=[lists])
        )

    def _group_size(self, options: dict[str, Any]) -> int:
        return group_size(self._light.npartitions, self._outline.seconds, threads_of(options))

    def _grouped(self, size: int) -> tuple[Any, list[Any]]:
        """A graph whose tasks find `size` bundles each, the last one perhaps fewer; and their keys."""
        keys = list(flatten(self._light.__dask_keys__()))
        whole = self._light.__dask_graph__()
        graph = held(whole) | dict(self.__dask_optimize__(whole, keys))
        return grouped(graph, keys, size, f"boxreg-solve-{size}-{self._token}")

    def verify(self) -> BatchCertificate:
        """Compute all, and every gap again by other code."""
        return self.compute().verify()

    def _like_y(self, name: str, length: int) -> Any:
        axis = self._outline.question.layout.axis
        chunks = (*self._bundles.chunks[:axis], (length,), *self._bundles.chunks[axis + 1 :])
        empty = np.empty((0,) * len(chunks))
        return self._bundles.map_blocks(
            cut, part=name, name=f"boxreg-{name}-{self._token}", chunks=chunks, meta=empty
        )

    def _number(self, name: str) -> Any:
        return self._cut(name, np.dtype(KINDS[name]), self._outline.outer_chunks)

    def _cut(self, name: str, kind: Any, chunks: tuple[tuple[int, ...], ...]) -> Any:
        """An array without the axis of the rows of A."""
        every = tuple(range(self._bundles.ndim))
        axis = self._outline.question.layout.axis
        outer = tuple(k for k in every if k != axis)
        return da.blockwise(
            cut,
            outer,
            self._bundles,
            every,
            part=name,
            name=f"boxreg-{name}-{self._token}",
            concatenate=False,
            adjust_chunks=dict(zip(outer, chunks, strict=True)),
            meta=np.empty((0,) * len(outer), dtype=kind),
        )

    @property
    def _token(self) -> str:
        return str(self._bundles.name).rsplit("-", 1)[-1]

    def __dask_graph__(self) -> Any:
        return self._bundles.__dask_graph__()

    def __dask_keys__(self) -> Any:
        return self._bundles.__dask_keys__()

    def __dask_layers__(self) -> Any:
        return self._bundles.__dask_layers__()

    def __dask_tokenize__(self) -> Any:
        return self._bundles.name

    def __dask_postcompute__(self) -> Any:
        return self._outline.gather, ()

    def __dask_postpersist__(self) -> Any:
        return self._rebuilt, ()

    def _rebuilt(self, graph: Any, *, rename: Any = None) -> LazyBatchResult:
        rebuild, extra = self._bundles.__dask_postpersist__()
        return LazyBatchResult(rebuild(graph, *extra, rename=rename), None, self._outline)

    def __len__(self) -> int:
        return self._outline.question.layout.count

    def __repr__(self) -> str:
        m, n = self.shape
        chunks = self._bundles.npartitions
        shape = " × ".join(str(max(sizes)) for sizes in self.x.chunks)
        whole = " × ".join(str(length) for length in self.x.shape)
        return "\n".join(
            [
                f"boxreg: {len(self):,} right-hand sides in {chunks:,} chunks; compute() solves them",
                f"  problem   {m} × {n}, {self.settings['loss']} loss",
                f"  method    {self.settings['method']}",
                f"  gap       asked {self.settings['tol']}",
                f"  x         dask array {whole}, chunks of {shape}",
            ]
        )


def _member(found: list[Bundle], k: int) -> Bundle:
    return found[k]


def _common(directions: list[Any]) -> Any:
    """The direction of all chunks, if it is the same."""
    first = directions[0] if directions else None
    same = first is not None and all(
        other is not None and np.array_equal(other, first) for other in directions
    )
    return first if same else None
