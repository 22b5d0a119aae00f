"""`solve_many`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array
from ..budget import Deadline
from ..compile_time import Stopwatch
from ..devices import as_given, host, lives_on_gpu, module_of, on_gpu
from ..floating_point import own_errstate
from .bar import Bar
from .chunk import Answers
from .elsewhere import path_for
from .engines import Engine, engine
from .journal import journal_for
from .question import asked
from .reading import chunk_size, read_chunk
from .result import BatchResult, RhsStatus
from .sinks import DenseSink, Numbers, SparseSink, sink_for


@own_errstate
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
    ridge_scale: Any = None,
    tol: float = 1e-8,
    time_limit: float | None = None,
    axis: int | str = 0,
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
    dim: str | None = None,
) -> BatchResult:
    """Solve the same problem for every right-hand side in Y, each with a proof.

    Least squares, with weights, costs and ridge terms or without, and Kullback–Leibler without them take
    a compiled path; everything else, and an A that is large or an operator, goes through `solve`.

    Parameters
    ----------
    A : whatever `solve` takes, m × n.
    Y : array with m entries along `axis`: a matrix of columns, an image, a stack of images; a NumPy
        array or memmap, or anything that is sliced like one (zarr, HDF5), a chunk at a time. A dask
        array, or a DataArray of xarray, gives an answer of its own kind (below).
    lower, upper : numbers, vectors with n entries, or arrays like the answer: one bound for each
        variable and right-hand side.
    loss, sample_weight, linear, ridge : as for `solve`, the same for all.
    ridge_scale : one number λ >= 0 for each right-hand side, an array like `gap`: its ridge term is
        multiplied by λ, ½ λ sum μ_j x_j². `ridge`, 1 unless given, is a number or a vector then.
    tol : every gap is to be at most tol · P₀, P₀ the objective at the projection of 0 on the box.
    time_limit : seconds after which no more right-hand sides are begun, and those at work end with their
        best point and the status TIME_LIMIT; None for no limit. The others have NaN as their answer
        and the status NOT_BEGUN. A run with a journal goes on from there.
    axis : the axis of Y that runs along the rows of A; its name, if Y is a DataArray.
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
    dim : if Y is a DataArray, the name of the dimension of x along the columns of A; default: that of A
        if it has names too, else 'component'.

    Returns
    -------
    BatchResult; a `LazyBatchResult`, of which nothing is computed yet, if Y is a dask array; a
    `LabelledResult` around either if Y is a DataArray.
    """
    given, watch = locals(), Stopwatch()
    deadline = Deadline.after(validate.seconds(time_limit, "time_limit"))
    path = path_for(Y, dim)
    if path is not None:  # a result of another kind, as NumPy's functions give for such Y
        elsewhere: BatchResult = path(**given)
        return elsewhere
    switches = {"warm_start": warm_start, "return_dual": return_dual, "sparse": sparse}
    warm, return_dual, sparse = (validate.switch(on, name) for name, on in switches.items())
    original, device = Y, validate.device(device, precision, lives_on_gpu(Y))
    if lives_on_gpu(Y):
        Y = on_gpu(Y)
    A, lower, upper = host(A), host(lower), host(upper)
    terms = {"sample_weight": sample_weight, "linear": linear, "ridge": ridge}
    question = asked(A, Y, lower, upper, loss, tol, axis, nan, terms, host(ridge_scale))
    layout, (m, n) = question.layout, question.design.shape
    solver = engine(question, validate.jobs(n_jobs), warm, return_dual, device, precision)
    size = validate.chunk(chunk, chunk_size(m, n, solver.memory))
    numbers, arrays = Numbers.empty(layout.count), module_of(Y)
    read = (Y, question.lower.value, question.upper.value)
    sink = sink_for(layout, n, out, sparse, arrays, read)
    dual = layout.new(m, arrays.empty) if return_dual else None
    diary = journal_for(question, out, journal, numbers, keeps=not (sparse or return_dual))
    bar, complete = Bar(layout.count, enabled=validate.switch(progress, "progress")), True
    try:
        begin = diary.resume()
        bar.skip(begin * layout.width)
        for first, last in layout.chunks(size, begin):
            room = sink.room(first, last)
            if deadline.passed:
                answers = Answers.left((last - first) * layout.width, n, m, return_dual)
            else:
                part = read_chunk(question, first, last, solver, room)
                answers = solver.solve(part, layout.blocks(first, last), deadline)
            if answers.x is not room:
                _write(sink, first, last, answers.x, solver)
            if dual is not None:
                layout.write(dual, first, last, answers.theta)
            numbers.put(first * layout.width, answers)
            if deadline.passed and np.any(answers.status == RhsStatus.NOT_BEGUN):
                complete = False
            if complete:
                diary.record(last, part)
            bar.add(len(answers.gap))
        if complete:
            diary.close()
    finally:
        diary.leave()
        bar.close()
        solver.close()
    settings = {"loss": question.loss.name, "method": solver.name, "tol": f"{question.tol:.0e}"}
    return BatchResult(
        x=as_given(sink.result(), original) if out is None and not sparse else sink.result(),
        **numbers.shaped(layout.outer_shape),
        theta=as_given(dual, original) if dual is not None else None,
        seconds=watch.seconds,
        shape=(m, n),
        settings=settings,
        question=question,
        direction=solver.direction,
    )


def _write(sink: DenseSink | SparseSink, first: int, last: int, x: Array, solver: Engine) -> None:
    width = sink.layout.width

    def write(begin: int, end: int) -> None:
        sink.write(begin, end, x[(begin - first) * width : (end - first) * width])

    if isinstance(sink, DenseSink) and isinstance(sink.target, np.ndarray):
        solver.spread(write, first, last)
    else:
        write(first, last)
