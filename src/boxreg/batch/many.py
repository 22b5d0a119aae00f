"""`solve_many`."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Mask
from ..devices import as_given, host, lives_on_gpu, module_of, on_gpu
from .bar import Bar
from .chunk import Chunk
from .engines import Engine, engine
from .journal import journal_for
from .layout import Layout
from .question import Question, asked
from .result import BatchResult
from .sinks import DenseSink, Numbers, sink_for


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
    axis: int = 0,
    n_jobs: int = 1,
    device: str | None = None,
    precision: str = "float64",
    warm_start: bool = True,
    nan: str = "raise",
    progress: bool = False,
    sparse: bool = False,
    return_dual: bool = False,
    out: Any = None,
    journal: Any = None,
    chunk: int | None = None,
) -> BatchResult:
    """Solve the same problem for every right-hand side in Y, each with a proof.

    Least squares and Kullback–Leibler take a compiled path; other losses, weights, costs and ridge
    terms, an A that is large or an operator go through `solve`.

    Parameters
    ----------
    A : whatever `solve` takes, m × n.
    Y : array with m entries along `axis`: a matrix of columns, an image, a stack of images; a NumPy
        array or memmap, or anything that is sliced like one (zarr, HDF5), a chunk at a time.
    lower, upper : numbers, vectors with n entries, or arrays like the answer: one bound for each
        variable and right-hand side.
    loss, sample_weight, linear, ridge : as for `solve`, the same for all.
    tol : every gap is to be at most tol · P₀, P₀ the objective at the projection of 0 on the box.
    axis : the axis of Y that runs along the rows of A.
    n_jobs : threads of the compiled path, worker processes of the other; -1 for one a core.
    device : 'cpu', or 'cuda' ('cuda:1' for the second card) for least squares on an NVIDIA GPU; default:
        where Y lives. A Y on the card (CuPy, PyTorch, JAX) gets its x, of the same library, there.
    precision : 'float64', or 'float32' for a first solve in single precision on the card. Residuals and
        certificates are in float64 either way.
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

    Returns
    -------
    BatchResult
    """
    clock = perf_counter()
    given, device = Y, validate.device(device, precision, lives_on_gpu(Y))
    if lives_on_gpu(Y):
        Y = on_gpu(Y)
    A, lower, upper = host(A), host(lower), host(upper)
    terms = {"sample_weight": sample_weight, "linear": linear, "ridge": ridge}
    question = asked(A, Y, lower, upper, loss, tol, axis, nan, terms)
    layout, (m, n) = question.layout, question.design.shape
    solver = engine(question, validate.jobs(n_jobs), bool(warm_start), return_dual, device, precision)
    size = validate.chunk(chunk, max(1, int(solver.memory / (8.0 * (2 * m + n + 8)))))
    numbers = Numbers.empty(layout.count)
    arrays = module_of(Y)
    sink = sink_for(layout, n, out, sparse, arrays)
    dual = arrays.full(layout.shape, np.nan) if return_dual else None
    diary = journal_for(question, out, journal, numbers, keeps=not (sparse or return_dual))
    bar = Bar(layout.count, enabled=bool(progress))
    begin = diary.resume()
    bar.skip(begin * layout.width)
    try:
        for first, last in layout.chunks(size, begin):
            part = _read(question, first, last, solver)
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
        x=as_given(sink.result(), given) if out is None and not sparse else sink.result(),
        **numbers.shaped(layout.outer_shape),
        theta=as_given(dual, given) if dual is not None else None,
        seconds=perf_counter() - clock,
        shape=(m, n),
        settings=settings,
        question=question,
        direction=solver.direction,
    )


def _read(question: Question, first: int, last: int, solver: Engine) -> Chunk:
    """Some lines with their bounds; what is not finite, or not for this loss, is not valid."""
    layout, count = question.layout, (last - first) * question.layout.width
    rows, masked = module_of(question.Y).empty((count, layout.rows)), np.zeros(count, dtype=bool)
    bad = np.zeros(count, dtype=bool)

    def read(begin: int, end: int) -> None:
        part = slice((begin - first) * layout.width, (end - first) * layout.width)
        layout.read_into(question.Y, begin, end, rows[part], masked[part])
        bad[part] = masked[part] | ~host(np.isfinite(rows[part]).all(axis=1))

    if isinstance(question.Y, np.ndarray):
        solver.spread(read, first, last)
    else:  # who knows what else can be read from two threads
        read(first, last)
    if question.loss.needs_nonnegative:
        bad |= (rows < 0.0).any(axis=1) | (rows[:, question.unreachable] > 0.0).any(axis=1)
    if bad.any():
        if not question.skip:
            raise ValueError(_complaint(question, layout, host(rows), masked, bad, first))
        rows[bad] = 0.0
    lower = question.lower.rows(layout, first, last)
    upper = question.upper.rows(layout, first, last)
    return Chunk(rows, ~bad, lower, upper)


def _spread_write(
    sink: DenseSink, first: int, last: int, x: Array, solver: Engine
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
