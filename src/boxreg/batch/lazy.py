"""`solve_many` for dask arrays: one task a chunk."""

from __future__ import annotations

from inspect import signature
from math import prod
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.delayed import delayed

from .. import validate
from .bundle import solve_block
from .lazy_result import LazyBatchResult, Outline
from .plan import Plan
from .question import Bounds, asked

_TERMS = ("sample_weight", "linear", "ridge")


def solve_lazily(
    A: Any,
    Y: Any,
    lower: Any,
    upper: Any,
    *,
    loss: Any,
    tol: Any,
    axis: Any,
    nan: Any,
    warm_start: Any,
    return_dual: Any,
    dim: None,
    **options: Any,
) -> LazyBatchResult:
    """A result that is computed chunk by chunk, when it is asked for.

    A is checked, and its Gram matrix computed, now; Y is not looked at. One node of the graph holds what
    belongs to A, which a scheduler sends to each worker once; one task solves a chunk, in one thread.
    """
    from .many import solve_many

    terms = {name: options.pop(name) for name in _TERMS}
    if options.pop("ridge_scale") is not None:
        raise ValueError("ridge_scale: not for dask arrays; compute Y, or solve chunk by chunk")
    parameters = signature(solve_many).parameters
    validate.lazy_options(options, {name: parameters[name].default for name in options})
    validate.chunks_known(Y)
    question = asked(A, Y, lower, upper, loss, tol, axis, nan, terms)
    at = question.layout.axis
    Y = Y.rechunk({at: -1})
    outer = tuple(sizes for k, sizes in enumerate(Y.chunks) if k != at)
    starts = tuple(tuple(np.cumsum((0, *sizes[:-1])).tolist()) for sizes in outer)
    warm = validate.switch(warm_start, "warm_start")
    dual = validate.switch(return_dual, "return_dual")
    plan = Plan.of(question, starts, warm, dual)
    each = [_like(b, Y, at) for b in (question.lower, question.upper) if b.each]
    asking = (A, loss, terms, question.tol, question.skip, plan.warm, plan.dual, at)
    token = tokenize(asking, Y.name, [b.name for b in each], lower, upper)
    held = delayed(plan, name=f"boxreg-plan-{token}", traverse=False)
    bundles, light = (
        da.map_blocks(
            solve_block,
            Y,
            *each,
            plan=held,
            with_lower=question.lower.each,
            with_upper=question.upper.each,
            pack=pack,
            name=f"boxreg-{name}-{token}",
            chunks=(*Y.chunks[:at], (1,), *Y.chunks[at + 1 :]),
            meta=np.empty((0,) * Y.ndim, dtype=object),
        )
        for name, pack in (("solve", False), ("pack", True))
    )
    settings = {"loss": question.loss.name, "method": plan.name, "tol": f"{question.tol:.0e}"}
    seconds = plan.seconds(prod(max(sizes, default=0) for sizes in outer))
    return LazyBatchResult(bundles, light, Outline(question, outer, settings, plan.dual, seconds))


def _like(bounds: Bounds, Y: Any, axis: int) -> Any:
    """Bounds of each right-hand side, chunked as Y is."""
    length = bounds.value.shape[axis]
    chunks = (*Y.chunks[:axis], (length,), *Y.chunks[axis + 1 :])
    if isinstance(bounds.value, da.Array):
        return bounds.value.rechunk(chunks)
    return da.from_array(bounds.value, chunks=chunks)
