"""Names of columns: a text file with one a line, or an array of words."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .problem import FileProblem
from .reading import explained, split_key


def read_names(spec: str | None, matrix: str) -> list[str] | None:
    """The names in a file; without one, the array `names` beside the matrix in its .npz file, if any."""
    if spec is None:
        path, _ = split_key(matrix)
        return _beside(path) if path.suffix.lower() == ".npz" else None
    path, key = split_key(spec)
    with explained(path, "--names"):
        if not path.is_file():
            raise FileProblem(f"there is no file {path}")
        if path.suffix.lower() == ".npz":
            names = _words(path, key or "names")
            if names is None:
                raise FileProblem(f"{path} holds no words named {key or 'names'!r}")
            return names
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    return [line.strip().strip('"') for line in lines]


def _beside(path: Path) -> list[str] | None:
    with explained(path, "library"):
        return _words(path, "names")


def _words(path: Path, key: str) -> list[str] | None:
    """An array of words in an .npz file; None if there is none of that name. Nothing is unpickled."""
    with np.load(path, allow_pickle=False) as held:
        if key not in held.files:
            return None
        array = held[key]
    return [str(word) for word in array.ravel()] if array.dtype.kind == "U" else None
