"""How kernels are compiled.

Sums may be reassociated and contracted, so that they vectorise: the error bounds hold for any order
of summation. Nothing else of `fastmath` is allowed. Division by zero gives inf or NaN, as in NumPy.

Functions that Python calls are cached on disk (`caching`). Inner ones have no way in from Python, which
halves the time to compile them, and live in the cache of those that call them.

Leaves are inner functions that allocate nothing. They count no references, which in a chain of short
calls with many arrays takes more time than the arithmetic.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .caching import depends_on_sources

_njit: Any = njit
_SUMS = {"reassoc", "contract"}
_ALL = {"nogil": True, "error_model": "numpy"}
_WITHIN = {**_ALL, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

compiled = depends_on_sources(_njit(**_ALL, cache=True))
compiled_sums = depends_on_sources(_njit(**_ALL, cache=True, fastmath=_SUMS))
inner = _njit(**_WITHIN)
inner_sums = _njit(**_WITHIN, fastmath=_SUMS)
_LEAF = {**_WITHIN, "_nrt": False, "forceinline": True}
leaf = _njit(**_LEAF)
leaf_sums = _njit(**_LEAF, fastmath=_SUMS)
branch = _njit(**_WITHIN, _nrt=False)
branch_sums = _njit(**_WITHIN, _nrt=False, fastmath=_SUMS)
