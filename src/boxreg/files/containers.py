"""Files that hold arrays by name: .npz and .mat."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from .matlab import NewMatlabFile, is_version_5, read_matlab
from .problem import FileProblem

_SPARSE_KEYS = {"format", "shape", "data"}


def read_npz(path: Path, key: str | None, *names: str) -> tuple[Any, str | None]:
    """An array of an .npz file, or the sparse matrix it holds, and the key it was found under."""
    with path.open("rb") as file:
        held = np.load(file, allow_pickle=False)
        if isinstance(held, np.ndarray):
            raise FileProblem(f"{path} holds a single array; rename it to end in .npy")
        with held:
            if key is not None or not set(held.files) >= _SPARSE_KEYS:
                chosen = choose(held.files, key, names, path)
                return held[chosen], chosen
        file.seek(0)
        return sparse.load_npz(file), None


def read_mat(path: Path, key: str | None, *names: str) -> tuple[Any, str]:
    """A variable of a MATLAB file, dense or sparse, and its name."""
    try:
        held = _variables(path)
    except NewMatlabFile:
        raise FileProblem(
            f"{path} is a MATLAB 7.3 file, which cannot be read; save it with save -v7"
        ) from None
    chosen = choose(list(held), key, names, path)
    if held[chosen] is None:
        raise FileProblem(f"{path}: {chosen!r} does not hold numbers")
    return held[chosen], chosen


def _variables(path: Path) -> dict[str, Any]:
    """All variables of a MATLAB file; SciPy reads version 4, without compiled code."""
    content = path.read_bytes()
    if is_version_5(content):
        return read_matlab(content)
    return {k: v for k, v in load_mat(path).items() if not k.startswith("__")}


def load_mat(path: Path) -> dict[str, Any]:
    """All variables of a MATLAB file.

    SciPy 1.18 warns that sparse ones will be of another class some day; either will do here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        held: dict[str, Any] = io.loadmat(path)
    return held


def choose(keys: list[str], key: str | None, names: tuple[str, ...], path: Path) -> str:
    """The key asked for; else the only one; else the first that is called like the argument."""
    if key is not None:
        if key not in keys:
            raise FileProblem(f"{path} holds nothing named {key!r}; it holds: {_listed(keys)}")
        return key
    if len(keys) == 1:
        return keys[0]
    for name in names:
        if name in keys:
            return name
    if not keys:
        raise FileProblem(f"{path} holds no arrays")
    raise FileProblem(
        f"{path} holds several arrays ({_listed(keys)}); say which, as in {path.name}:{keys[0]}"
    )


def _listed(keys: list[str]) -> str:
    return ", ".join(keys[:8]) + (", …" if len(keys) > 8 else "")


def numeric_columns(columns: Mapping[str, Any], path: Path) -> Any:
    """Columns of numbers, side by side; a missing entry is NaN."""
    for label, column in columns.items():
        if column.dtype.kind not in "fiub":
            raise FileProblem(f"{path}: column {label!r} holds {column.dtype}, not numbers")
    return np.column_stack([column.astype(np.float64) for column in columns.values()])
