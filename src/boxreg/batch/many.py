"""`solve_many`."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Mask
from .bar import Bar
from .chunk import Chunk
from .compiled import Compiled, engine
from .elsewhere import path_for
from .general import General
from .journal import journal_for
from .layout import Layout
from .question import Question, asked
from .result import BatchResult
from .sinks import DenseSink, Numbers, sink_for

_MEMORY = 64e6
"""Bytes that a chunk and its answers may take, about, unless the caller says how many to take."""


def solve_many(
    A: Any,
    Y: Any,
    lower: Any = 0.0,
    upper: Any = np.inf,
    *,
    loss: Any = "least_squares",
    sample_weight: Any = None,
    linear: Any = None,
    ridge: Any = 0.0,
    tol: float = 1e-8,
    axis: int | str = 0,
    n_jobs: int = 1,
    warm_start: bool = True,
    nan: str = "raise",
    progress: bool = False,
    sparse: bool = False,
    return_dual: bool = False,
    out: Any = None,
    journal: Any = None,
    chunk: int | None = None,
    dim: str | None = None,
) -> BatchResult:
    """Solve the same problem for every right-hand side in Y, each with a proof.

    Least squares and Kullback–Leibler take a compiled path; other losses, weights, costs and ridge
    terms, an A that is large or an operator go through `solve`.

    Parameters
    ----------
    A : whatever `solve` takes, m × n.
    Y : array with m entries along `axis`: a matrix of columns, an image, a stack of images; a NumPy
        array or memmap, or anything that is sliced like one (zarr, HDF5), a chunk at a time. A dask
        array, or a DataArray of xarray, gives an answer of its own kind (below).
    lower, upper : numbers, vectors with n entries, or arrays like the answer: one bound for each
        variable and right-hand side.
    loss, sample_weight, linear, ridge : as for `solve`, the same for all.
    tol : every gap is to be at most tol · P₀, P₀ the objective at the projection of 0 on the box.
    axis : the axis of Y that runs along the rows of A; its name, if Y is a DataArray.
    n_jobs : threads of the compiled path, worker processes of the other; -1 for one a core.
    warm_start : start each right-hand side from the answer of a similar one in its block.
    nan : 'raise' refuses right-hand sides that are masked, or not finite (or below 0 where a loss needs
        them not to be); 'skip' leaves them out: their answer is NaN.
    progress : show a bar on a terminal (nothing in a pipe).
    sparse : return x as a sparse matrix. Axes other than the first two are flattened.
    return_dual : return the dual points too.
    out : where to write x: an array of its shape, such as a memmap or a zarr array.
    journal : path of a file that says how far a run to `out` has come; default: beside `out` where that
        is a file. A run that was interrupted goes on from there; one that ends removes it.
    chunk : right-hand sides to take at a time; default: as many as take 64 MB.
    dim : if Y is a DataArray, the name of the dimension of x along the columns of A; default: that of A
        if it has names too, else 'component'.

    Returns
    -------
    BatchResult; a `LazyBatchResult`, of which nothing is computed yet, if Y is a dask array; a
    `LabelledResult` around either if Y is a DataArray.
    """
    given = locals()
    path = path_for(Y, dim)
    if path is not None:
        elsewhere: BatchResult = path(
            **given
        )  # of another kind, as NumPy's functions do for such Y
        return elsewhere
    clock = perf_counter()
    terms = {"sample_weight": sample_weight, "linear": linear, "ridge": ridge}
    question = asked(A, Y, lower, upper, loss, tol, axis, nan, terms)
    layout, (m, n) = question.layout, question.design.shape
    size = validate.chunk(chunk, chunk_size(m, n))
    numbers = Numbers.empty(layout.count)
    sink = sink_for(layout, n, out, sparse)
    dual = np.full(layout.shape, np.nan) if return_dual else None
    diary = journal_for(question, out, journal, numbers, keeps=not (sparse or return_dual))
    solver = engine(question, validate.jobs(n_jobs), bool(warm_start), return_dual)
    bar = Bar(layout.count, enabled=bool(progress))
    begin = diary.resume()
    bar.skip(begin * layout.width)
    try:
        for first, last in layout.chunks(size, begin):
            part = read_chunk(question, first, last, solver)
            answers = solver.solve(part, layout.blocks(first, last))
            if isinstance(sink, DenseSink):
                _spread_write(sink, first, last, answers.x, solver)
            else:
                sink.write(first, last, answers.x)
            if dual is not None:
                layout.write(dual, first, last, answers.theta)
            numbers.put(first * layout.width, answers)
            diary.record(last)
            bar.add(len(part.rows))
    finally:
        bar.close()
        solver.close()
    diary.close()
    settings = {"loss": question.loss.name, "method": solver.name, "tol": f"{question.tol:.0e}"}
    return BatchResult(
        x=sink.result(),
        **numbers.shaped(layout.outer_shape),
        theta=dual,
        seconds=perf_counter() - clock,
        shape=(m, n),
        settings=settings,
        question=question,
        direction=solver.direction,
    )


def chunk_size(m: int, n: int) -> int:
    """Right-hand sides to take at a time."""
    return max(1, int(_MEMORY / (8.0 * (2 * m + n + 8))))


def read_chunk(question: Question, first: int, last: int, solver: Compiled | General) -> Chunk:
    """Some lines with their bounds; what is not finite, or not for this loss, is not valid."""
    layout, count = question.layout, (last - first) * question.layout.width
    rows, masked = np.empty((count, layout.rows)), np.zeros(count, dtype=bool)
    bad = np.zeros(count, dtype=bool)

    def read(begin: int, end: int) -> None:
        part = slice((begin - first) * layout.width, (end - first) * layout.width)
        layout.read_into(question.Y, begin, end, rows[part], masked[part])
        bad[part] = masked[part] | ~np.isfinite(rows[part]).all(axis=1)

    if isinstance(question.Y, np.ndarray):
        solver.spread(read, first, last)
    else:  # who knows what else can be read from two threads
        read(first, last)
    if question.loss.needs_nonnegative:
        bad |= (rows < 0.0).any(axis=1) | (rows[:, question.unreachable] > 0.0).any(axis=1)
    if bad.any():
        if not question.skip:
            raise ValueError(_complaint(question, layout, rows, masked, bad, first))
        rows[bad] = 0.0
    lower = question.lower.rows(layout, first, last)
    upper = question.upper.rows(layout, first, last)
    return Chunk(rows, ~bad, lower, upper)


def _spread_write(
    sink: DenseSink, first: int, last: int, x: Array, solver: Compiled | General
) -> None:
    width = sink.layout.width

    def write(begin: int, end: int) -> None:
        sink.write(begin, end, x[(begin - first) * width : (end - first) * width])

    if isinstance(sink.target, np.ndarray):
        solver.spread(write, first, last)
    else:
        write(first, last)


def _complaint(
    question: Question, layout: Layout, rows: Array, masked: Mask, bad: Mask, first: int
) -> str:
    p = int(np.flatnonzero(bad)[0])
    where = layout.position(first, p)
    at = where[0] if len(where) == 1 else where
    if masked[p]:
        what = "has masked entries"
    elif np.isfinite(rows[p]).all():
        below = bool((rows[p] < 0.0).any())
        what = (
            "entries below 0" if below else "entries > 0 in rows where A cannot make a prediction"
        )
        what = f"has {what}, which loss {question.loss.name!r} does not allow"
    else:
        what = "contains NaN" if np.isnan(rows[p]).any() else "contains inf"
    return (
        f"Y: right-hand side {at} {what} ({int(bad.sum())} such in this chunk); nan='skip' leaves them "
        "out"
    )
