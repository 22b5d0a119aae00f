"""Arrays of other libraries: where they live, and how they travel.

CuPy does the arithmetic. Arrays of PyTorch, JAX and others come to it, and answers go back to them,
through DLPack, without a copy.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_DLPACK_CUDA = 2


def lives_on_gpu(array: Any) -> bool:
    """Whether this is an array in the memory of a CUDA device."""
    if hasattr(array, "__cuda_array_interface__"):
        return True
    where = getattr(array, "__dlpack_device__", None)
    return where is not None and int(where()[0]) == _DLPACK_CUDA


def host(array: Any) -> Any:
    """A NumPy array with the same entries if it lives on a GPU; itself if it does not."""
    if not lives_on_gpu(array):
        return array
    if not hasattr(array, "get"):
        array = on_gpu(array)
    return array.get()


def on_gpu(array: Any) -> Any:
    """The same memory as a CuPy array; a copy where it lives on the host."""
    import cupy

    if lives_on_gpu(array) and not isinstance(array, cupy.ndarray):
        return cupy.from_dlpack(array.detach() if hasattr(array, "detach") else array)
    return cupy.asarray(array)


def as_given(array: Any, original: Any) -> Any:
    """A CuPy array as one of the library that `original` belongs to, where that can be found."""
    if not lives_on_gpu(original):
        return array
    library = sys.modules.get(type(original).__module__.partition(".")[0])
    if getattr(library, "__name__", "") in ("jaxlib", "jax"):
        library = sys.modules.get("jax.dlpack")
    take = getattr(library, "from_dlpack", None)
    return array if take is None else take(array)


def module_of(array: Any) -> Any:
    """The module that makes arrays which live where this one does: NumPy, or CuPy."""
    if not lives_on_gpu(array):
        return np
    import cupy

    return cupy
