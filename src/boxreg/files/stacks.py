"""Right-hand sides from files: a vector, a matrix or an image; large ones stay on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .reading import FORMATS, Held, check_readable, explained, read_matrix, split_key
from .zarr_arrays import open_zarr

STACK_FORMATS = (*FORMATS, ".zarr")

_MAPPED = 2**26
"""Bytes from which an .npy file is read a chunk at a time."""


def read_stack(spec: str, name: str, *also: str) -> Held:
    """An array of any shape; .zarr, and .npy above 64 MB, are left on disk."""
    path, _ = split_key(spec)
    if path.suffix.lower() == ".zarr":
        with explained(path, name):
            return Held(open_zarr(path), path)
    with explained(path, name):
        check_readable(path, STACK_FORMATS)
    if path.suffix.lower() == ".npy" and path.stat().st_size >= _MAPPED:
        mapped = _mapped(path)
        if mapped is not None:
            return Held(mapped, path)
    return read_matrix(spec, name, *also)


def on_disk(array: Any) -> bool:
    """Whether its entries are read when they are needed."""
    if isinstance(array, np.ndarray):
        return isinstance(array, np.memmap)
    return not bool(sparse.issparse(array))


def _mapped(path: Path) -> Any:
    """The array in a file; None for what cannot be mapped, about which the plain reader has a word."""
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (ValueError, EOFError, OSError):
        return None
