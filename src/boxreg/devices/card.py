"""The GPU that was asked for, or the reason why there is none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

_BLOCKS_EACH = 32
"""Blocks of threads for each multiprocessor: what its shared memory holds of them, about."""


@dataclass(frozen=True)
class Card:
    """A CUDA device: the module of its arrays, threads in a block, blocks in a launch."""

    arrays: Any
    threads: int
    blocks: int
    name: str = "cuda"

    def for_kernels(self, array: Any) -> Any:
        """The same memory in the form that kernels take, in tuples as well."""
        if self.arrays is np:
            return array
        from numba import cuda

        return cuda.as_cuda_array(array, sync=False)


def find_card(name: str) -> Card:
    """The device called 'cuda' or 'cuda:1'; an error that says what is missing where there is none."""
    _, _, number = name.partition(":")
    try:
        from numba import config, cuda
    except ImportError as reason:
        raise _absent(name, f"numba has no CUDA target here ({reason})") from reason
    if config.ENABLE_CUDASIM:
        return Card(np, threads=4, blocks=2, name="CUDA simulator")
    try:
        import cupy
    except ImportError as reason:
        raise _absent(name, "CuPy is not installed") from reason
    try:
        found, usable = int(cupy.cuda.runtime.getDeviceCount()), cuda.is_available()
    except cupy.cuda.runtime.CUDARuntimeError as reason:
        raise _absent(name, f"CUDA says {reason}") from reason
    if not usable or int(number or 0) >= found:
        raise _absent(
            name, f"CuPy finds {found} GPUs, numba {'can' if usable else 'cannot'} use them"
        )
    _load_target()
    cupy.cuda.Device(int(number or 0)).use()
    cuda.select_device(int(number or 0))
    traits = cupy.cuda.runtime.getDeviceProperties(int(number or 0))
    return Card(
        cupy,
        threads=32,
        blocks=_BLOCKS_EACH * int(traits["multiProcessorCount"]),
        name=traits["name"].decode(),
    )


@contextmanager
def small_launches() -> Iterator[None]:
    """Let numba not warn of launches that leave most of the card idle: few right-hand sides do."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s).*GPU under-utilization")
        yield


def _load_target() -> None:
    """Load numba-cuda's NumPy support, which looks for a name that NumPy 2.5 no longer has."""
    missing = not hasattr(np, "row_stack")
    if missing:
        setattr(np, "row_stack", np.vstack)  # noqa: B010
    try:
        import numba.cuda.np.arrayobj  # noqa: F401
    except ImportError:
        pass  # targets that are part of numba itself have no such module
    finally:
        if missing:
            delattr(np, "row_stack")


def _absent(name: str, reason: str) -> RuntimeError:
    return RuntimeError(
        f"device: {name!r} needs an NVIDIA GPU and the extra boxreg[gpu] (CuPy, numba-cuda): {reason};"
        " device='cpu' is always there"
    )
