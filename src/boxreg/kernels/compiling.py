"""How kernels are compiled.

Sums may be reassociated and contracted, so that they vectorise: the error bounds hold for any order
of summation. Nothing else of `fastmath` is allowed. Division by zero gives inf or NaN, as in NumPy.

Functions that Python calls are cached on disk (`caching`). Inner ones have no way in from Python, and
live in the code (`linking`) and in the cache of those that call them.

Leaves are inner functions that allocate nothing. They count no references, which in a chain of short
calls with many arrays takes more time than the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core import event

from ..compile_time import compile_time
from .caching import depends_on_sources
from .linking import EntryCompiler, InnerCompiler


def _njit(**options: Any) -> Callable[[Any], Any]:
    """`numba.njit`, where a call with a constant compiles no version of its own for that constant."""
    compiled: Any = njit(**options)

    def decorate(function: Any) -> Any:
        kernel = compiled(function)
        called = getattr(kernel, "get_call_template", None)
        if called is not None:  # None where nothing is compiled

            def general(args: Any, kws: Any) -> Any:
                plain = {name: types.unliteral(kind) for name, kind in kws.items()}
                return called(tuple(map(types.unliteral, args)), plain)

            kernel.get_call_template = general
        return kernel

    return decorate


_SUMS = {"reassoc", "contract"}
_ALL = {"nogil": True, "error_model": "numpy"}
_ENTRY = {**_ALL, "cache": True, "pipeline_class": EntryCompiler}
_WITHIN = {
    **_ALL,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": InnerCompiler,
}

compiled = depends_on_sources(_njit(**_ENTRY))
compiled_sums = depends_on_sources(_njit(**_ENTRY, fastmath=_SUMS))
uncached = _njit(**_ALL, pipeline_class=EntryCompiler)
inner = _njit(**_WITHIN)
inner_sums = _njit(**_WITHIN, fastmath=_SUMS)
_LEAF = {**_WITHIN, "_nrt": False, "forceinline": True}
leaf = _njit(**_LEAF)
leaf_sums = _njit(**_LEAF, fastmath=_SUMS)
branch = _njit(**_WITHIN, _nrt=False)
branch_sums = _njit(**_WITHIN, _nrt=False, fastmath=_SUMS)


class _Watch(event.Listener):  # type: ignore[misc]
    """Tells `compile_time` when numba compiles."""

    def on_start(self, event: Any) -> None:
        compile_time.begin(str(event.data["dispatcher"].py_func.__module__))

    def on_end(self, event: Any) -> None:
        compile_time.end()


event.register("numba:compile", _Watch())
