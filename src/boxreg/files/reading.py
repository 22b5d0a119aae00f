"""Matrices and vectors from files, by the ending of their names. Nothing is ever unpickled."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .containers import read_mat, read_npz
from .matrix_market import read_mtx
from .problem import FileProblem, one_line
from .tables import read_parquet, read_text

FORMATS = (".npy", ".npz", ".mtx", ".csv", ".tsv", ".mat", ".parquet")
_NAMED = (".npz", ".mat", ".parquet")
"""Formats in which file:key names one array."""


@dataclass(frozen=True)
class Held:
    """An array and where it was read from."""

    array: Any
    path: Path
    key: str | None = None

    @property
    def place(self) -> str:
        """The file, and the name inside it."""
        return f"{self.path}:{self.key}" if self.key else str(self.path)


def read_matrix(spec: str, name: str, *also: str) -> Held:
    """A matrix, dense or sparse. `name` is the argument, for messages and for keys inside files;
    `also` are other keys it may have there."""
    path, key = split_key(spec)
    with explained(path, name):
        check_readable(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # readers' remarks on odd files
            array, key = _loaded(path, key, (name, *also))
            if sparse.issparse(array):
                from ..validate import structure_checked

                array = structure_checked(array)
    return Held(array, path, key)


def read_vector(spec: str, name: str, *also: str) -> Held:
    """A vector; a matrix with a single row or column is one."""
    return as_vector(read_matrix(spec, name, *also))


def as_vector(held: Held) -> Held:
    """The same as a vector, where it has a single row or column."""
    array = held.array
    if array.ndim == 2 and 1 in array.shape:
        filled = array.toarray() if bool(sparse.issparse(array)) else np.array(array)
        array = filled.ravel()
    return Held(array, held.path, held.key)


@contextmanager
def explained(path: Path, name: str) -> Iterator[None]:
    """Whatever a reader raises, as a FileProblem that names the argument and the file."""
    try:
        yield
    except FileProblem as problem:
        raise FileProblem(f"{name}: {problem}") from problem
    except MemoryError:
        raise
    except Exception as error:  # each reader has its own, and all mean the same
        raise FileProblem(f"{name}: {path} cannot be read ({one_line(error)})") from error


def split_key(spec: str) -> tuple[Path, str | None]:
    """file.npz:key in two, unless there is a file of just that name."""
    file, colon, key = spec.rpartition(":")
    if colon and not Path(spec).exists() and Path(file).suffix.lower() in _NAMED:
        return Path(file), key
    return Path(spec), None


def check_readable(path: Path, formats: tuple[str, ...] = FORMATS) -> None:
    """FileProblem unless there is a file with one of the endings."""
    if not path.exists():
        raise FileProblem(f"there is no file {path}")
    if not path.is_file():
        raise FileProblem(f"{path} is not a file")
    if path.suffix.lower() not in formats:
        raise FileProblem(
            f"{path} has the ending {path.suffix or '(none)'}; accepted: {', '.join(formats)}"
        )


def _loaded(path: Path, key: str | None, names: tuple[str, ...]) -> tuple[Any, str | None]:
    kind = path.suffix.lower()
    try:
        if kind == ".npy":
            return _npy(path), None
        if kind == ".npz":
            return read_npz(path, key, *names)
    except (ValueError, pickle.UnpicklingError) as error:
        if "pickle" in str(error):
            raise FileProblem(
                f"{path} holds pickled objects, which are never loaded; save plain numbers"
            ) from error
        raise
    if kind == ".mtx":
        return read_mtx(path), None
    if kind == ".mat":
        return read_mat(path, key, *names)
    if kind == ".parquet":
        return read_parquet(path, key)
    return read_text(path, "\t" if kind == ".tsv" else ","), None


def _npy(path: Path) -> Any:
    with path.open("rb") as file:
        array = np.load(file, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            array.close()
            raise FileProblem(f"{path} is a zip archive; rename it to end in .npz")
    return array
