"""Arrays in folders, as zarr keeps them (extra `zarr`)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .problem import FileProblem

_HEADS = ("zarr.json", ".zarray")
"""What describes an array, in versions 3 and 2 of the format."""

_PIECE = 8e6
"""Bytes of a piece, about."""


def require_zarr(path: Path) -> Any:
    """The module; FileProblem where it is not installed."""
    if find_spec("zarr") is None:
        raise FileProblem(f"{path}: zarr arrays need zarr: pip install 'boxreg[zarr]'")
    import zarr

    return zarr


def is_zarr(path: Path) -> bool:
    """Whether a folder holds a zarr array."""
    return any((path / head).is_file() for head in _HEADS)


def open_zarr(path: Path) -> Any:
    """An array to read from. A filter that unpickles is refused before anything is decoded."""
    zarr = require_zarr(path)
    if not path.exists():
        raise FileProblem(f"there is no folder {path}")
    if not is_zarr(path):
        raise FileProblem(f"{path} is not a zarr array")
    for head in _HEADS:
        if (path / head).is_file():
            _refuse_pickles(json.loads((path / head).read_text(encoding="utf-8")), path)
    array = zarr.open_array(str(path), mode="r")
    if np.dtype(array.dtype).kind == "O":
        raise _pickled(path)
    return array


def reopen_zarr(path: Path) -> Any:
    """An array that was created here, to go on writing."""
    return require_zarr(path).open_array(str(path), mode="r+")


def create_zarr(path: Path, shape: tuple[int, ...], axis: int) -> Any:
    """An array of float64, in pieces that lie whole along `axis` and are cut along the first other."""
    cut = 0 if axis > 0 else 1
    line = 8.0 * max(math.prod(s for k, s in enumerate(shape) if k != cut), 1)
    pieces = [max(s, 1) for s in shape]
    pieces[cut] = int(min(max(shape[cut], 1), max(1, _PIECE // line)))
    return require_zarr(path).open_array(
        str(path), mode="w", shape=shape, chunks=tuple(pieces), dtype="f8", fill_value=np.nan
    )


def _refuse_pickles(head: Any, path: Path) -> None:
    if any("pickle" in word or word == "|O" for word in _words(head)):
        raise _pickled(path)


def _words(head: Any) -> Iterator[str]:
    """Every string in a description, however deep."""
    if isinstance(head, str):
        yield head
    elif isinstance(head, dict):
        for key, part in head.items():
            if key != "attributes":  # the user's own
                yield from _words(part)
    elif isinstance(head, list):
        for part in head:
            yield from _words(part)


def _pickled(path: Path) -> FileProblem:
    return FileProblem(f"{path} holds pickled objects, which are never loaded; save plain numbers")
