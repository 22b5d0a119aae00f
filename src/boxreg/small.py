"""The short way for small dense problems: one compiled call, by single steps or in batches."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .arrays import Array
from .designs import DenseDesign
from .hidden_gradients import hidden_gain
from .losses.least_squares import LeastSquares
from .problem import Problem
from .rounding import NEGLIGIBLE_GAIN, OPTIMALITY_MARGIN, UNIT_ROUNDOFF
from .settings import current

SOLVED, GAVE_UP, UNSURE = 0, 1, 2
"""How the compiled call may end; UNSURE: solved as far as gradients can be seen."""

_DOUBLE = np.dtype(np.float64)
_thread = threading.local()

Tables: TypeAlias = tuple[Array, Array, Array]


class Short(NamedTuple):
    """What the compiled call did: x and ||b - A x||, its rounds, and products of length m.

    No x where it declined.
    """

    x: Array | None
    norm: float
    rounds: int
    products: int


COMPILED = "compiled_active_set"
"""Its name among those of the solvers."""

NOT_TAKEN = Short(None, 0.0, 0, 0)


def small_nnls(A: Any, b: Any, threshold: float, rounds: int | None) -> tuple[Array, float] | None:
    """x and ||b - A x||, or None: then the general way, which checks and explains, is to be taken."""
    short = compiled_nnls(A, b, threshold, rounds)
    return None if short.x is None else (short.x, short.norm)


def compiled_nnls(A: Any, b: Any, threshold: float, rounds: int | None) -> Short:
    """The answer of the compiled call, if it has one.

    Takes contiguous float64 arrays of matching shapes and nothing else. The compiled call answers
    only where its own check of the optimality conditions, from the whole A, succeeds up to rounding;
    NaN, extreme norms, dependent columns or too few rounds make it decline. Where single steps decline,
    batches are tried.
    """
    if type(A) is not np.ndarray or type(b) is not np.ndarray:
        return NOT_TAKEN
    if A.ndim != 2 or b.ndim != 1 or A.dtype is not _DOUBLE or b.dtype is not _DOUBLE:
        return NOT_TAKEN
    m, n = A.shape
    lies = A.flags
    if not 0 < A.size <= current().small_entries or len(b) != m or not lies.forc:
        return NOT_TAKEN
    by_columns = not lies.c_contiguous
    if not lies.writeable:  # numba would compile everything once more for read-only arrays
        A = A.copy(order="K")
    right = b.flags
    if not (right.c_contiguous and right.writeable):
        b = b.copy()
    rounds, status = 3 * n + 30 if rounds is None else rounds, GAVE_UP
    made = products = 0
    if A.size <= (current().tiny_entries if n <= m else current().tiny_wide_entries):
        x, norm, status, made, products = _by_steps()(
            A.ravel("K"), by_columns, n, b, threshold, rounds
        )
    if status == GAVE_UP:
        columns = np.ascontiguousarray(A.T)
        x, norm, status, made, more = _by_batches()(
            columns, b, threshold, rounds, _tables(m, min(m, n))
        )
        products += more
    answered = status == SOLVED or (status == UNSURE and _harmless(A, b, x))
    return Short(x if answered else None, norm, made, products)


def _harmless(A: Array, b: Array, x: Array) -> bool:
    """Whether what rounding hides could lower the objective by NEGLIGIBLE_GAIN ½||b||² at most."""
    free, norms = x > 0.0, np.linalg.norm(A, axis=0)
    residual = b - A @ x
    size = (len(b) + 2) * np.linalg.norm(residual) + (np.count_nonzero(free) + 2) * (norms @ x)
    doubt = OPTIMALITY_MARGIN * UNIT_ROUNDOFF * size * norms
    w = residual @ A
    hidden = ~free & (norms > 0.0) & (w > -doubt)
    slopes = (np.maximum(w, 0.0) + doubt)[hidden]
    return hidden_gain(A[:, free], A[:, hidden], slopes) <= NEGLIGIBLE_GAIN * 0.5 * float(b @ b)


def small_answer(problem: Problem, rounds: int | None = None) -> Short:
    """The answer of a small dense non-negative least-squares problem, for a run to start from.

    A caller's limit on steps is one on rounds; where it is too low the general way is taken.
    """
    design = problem.design
    plain = type(problem.loss) is LeastSquares and problem.cost is None
    if not isinstance(design, DenseDesign) or not plain:
        return NOT_TAKEN
    if (
        design.array.size > current().small_entries
        or problem.lower.any()
        or not np.all(np.isposinf(problem.upper))
    ):
        return NOT_TAKEN
    most = 3 * design.shape[1] + 30
    rounds = most if rounds is None else min(rounds, most)
    return compiled_nnls(design.array, problem.target, 0.0, rounds)


def _tables(m: int, k: int) -> Tables:
    """Memory for one call, k × m, k × k and k × k; the same for all calls of a thread, at most 5 MB.

    Fresh memory of this size comes from the system page by page, which can take as long as the solve.
    """
    held: Tables | None = getattr(_thread, "tables", None)
    if held is None or held[0].shape != (k, m):
        room, first, second = _room(k * (m + 2 * k)), k * m, k * (m + k)
        held = _thread.tables = (
            room[:first].reshape(k, m),
            room[first:second].reshape(k, k),
            room[second : second + k * k].reshape(k, k),
        )
    return held


def _room(size: int) -> Array:
    """As many numbers, or more: the largest room that this thread has needed."""
    held: Array | None = getattr(_thread, "room", None)
    if held is None or len(held) < size:
        held = _thread.room = np.empty(size)
    return held


@cache
def _by_steps() -> Any:
    from .kernels.tiny_nnls import solve

    return solve


@cache
def _by_batches() -> Any:
    from .kernels.small_nnls import solve

    return solve
