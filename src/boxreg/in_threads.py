"""Large products in several threads.

The kernels hold no lock of the interpreter, so threads of Python will do. There are as many as the
variables that limit the threads of BLAS allow, or as this process has cores. Sums are split up by their
terms: in the last digits, and only there, results depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .arrays import Array
from .settings import Settings, current

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Part = TypeVar("Part")

_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)

_this = threading.local()


def allowed() -> int:
    """How many threads a product may take, this one included."""
    if getattr(_this, "alone", False):
        return 1
    told = [os.environ.get(name, "").split(",")[0] for name in _VARIABLES]
    limits = [int(value) for value in told if value.isdigit() and int(value) > 0]
    return min([current().most_threads, _cores(), *limits])


def work_alone() -> None:
    """Products that this thread asks for are its own work from now on: it is one of many already."""
    _this.alone = True


@contextmanager
def alone() -> Iterator[None]:
    """The same for a while."""
    before, _this.alone = getattr(_this, "alone", False), True
    try:
        yield
    finally:
        _this.alone = before


def shares(entries: int) -> int:
    """In how many parts a product with so many entries of A is made."""
    each = current().thread_entries
    return 1 if entries < 2 * each else min(allowed(), entries // each)


def in_parts(job: Callable[[int, int], Part], edges: Sequence[int]) -> list[Part]:
    """job(begin, end) between neighbouring edges, the first of them in this thread."""
    spans = list(pairwise(edges))
    others = [_pool().submit(copy_context().run, job, a, b) for a, b in spans[1:]]
    return [job(*spans[0]), *(other.result() for other in others)]


def evenly(lines: int, parts: int) -> list[int]:
    """Edges of so many parts of the same size, of a line at least."""
    parts = max(1, min(parts, lines))
    return [lines * k // parts for k in range(parts + 1)]


def split(lines: int, length: int) -> list[int]:
    """Edges of the parts that a product with so many lines of A is made in."""
    return evenly(lines, shares(lines * length))


def joined(parts: Sequence[Array]) -> Array:
    """One after the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def added(parts: Sequence[Array]) -> Array:
    """Their sum."""
    return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads, started as they are needed and kept for the next product."""
    from concurrent.futures import ThreadPoolExecutor

    if hasattr(os, "register_at_fork"):  # a process that is forked off has none of them
        os.register_at_fork(after_in_child=_pool.cache_clear)
    return ThreadPoolExecutor(Settings.most_threads - 1, thread_name_prefix="boxreg")
