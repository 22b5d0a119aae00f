"""How kernels for GPUs are compiled.

Every function is for a whole block: all its threads call it with the same arguments, go the same way
through it and return the same value. What one thread writes, others read after the next barrier.

With `NUMBA_ENABLE_CUDASIM=1` numba runs the same functions in threads of Python, on NumPy arrays.
"""

from __future__ import annotations

from typing import Any

from numba import config, cuda

from ..caching import depends_on_sources

_jit: Any = cuda.jit

REGISTERS = 128
"""For each thread: more leave room for fewer threads, fewer than these have to be spilled."""

_OPTIONS = {} if config.ENABLE_CUDASIM else {"max_registers": REGISTERS, "cache": True}
kernel = depends_on_sources(_jit(**_OPTIONS))
block = _jit(device=True)
within = _jit(device=True, inline=True)
