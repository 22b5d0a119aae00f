"""Files that appear whole or not at all: written beside their place, then renamed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from .problem import FileProblem, one_line

VECTOR_FORMATS = (".npy", ".npz", ".csv", ".tsv")
STACK_OUTPUTS = (".npy", ".npz", ".zarr")
"""Formats of x for one right-hand side, and for many (see `resumable` for .npy and .zarr)."""


class Outputs:
    """Several files that appear together, at `commit`; until then nothing is to be seen of them.

    Used as a context: leaving it without `commit` removes what was written.
    """

    def __init__(self) -> None:
        self._staged: dict[Path, Path] = {}

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for part in self._staged.values():
            part.unlink(missing_ok=True)
        self._staged.clear()

    @staticmethod
    def check(path: Path, name: str) -> None:
        """Whether a file can be written there; FileProblem if not."""
        with Outputs() as trial:
            trial._part(path, name)

    def write(self, path: Path, name: str, fill: Callable[[Path], None]) -> None:
        """Let `fill` write the file that will be `path`."""
        part = self._part(path, name)
        try:
            fill(part)
        except OSError as error:
            raise FileProblem(f"{name}: {path} cannot be written ({one_line(error)})") from error

    def commit(self) -> None:
        """Give all files their names."""
        for place, part in list(self._staged.items()):
            os.replace(part, place)
            del self._staged[place]

    def _part(self, path: Path, name: str) -> Path:
        """An empty file beside the place, with the permissions of an ordinary new one."""
        place = path.resolve()  # a link stays a link
        if place.is_dir() or (place.exists() and not place.is_file()):
            raise FileProblem(f"{name}: {path} exists and is not a file")
        if not place.parent.is_dir():
            raise FileProblem(f"{name}: there is no folder {path.parent}")
        part = place.with_name(f".{place.name}.{token_hex(4)}.part{place.suffix}")
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except OSError as error:
            raise FileProblem(f"{name}: {path} cannot be written ({one_line(error)})") from error
        self._staged[place] = part
        return part


def write_text(path: Path, text: str, name: str = "path") -> None:
    """One text file, whole or not at all."""
    with Outputs() as outputs:
        outputs.write(path, name, lambda part: put_text(part, text))
        outputs.commit()


def put_text(path: Path, text: str) -> None:
    """Text into a file, in UTF-8; what that has no code for, as names of files may hold, is escaped."""
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def write_vector(x: Array, path: Path) -> None:
    """A vector in the format of the ending; text has one entry a line, all digits."""
    kind = path.suffix.lower()
    if kind == ".npy":
        np.save(path, x, allow_pickle=False)
    elif kind == ".npz":
        np.savez(path, x=x)
    else:
        put_text(path, "".join(f"{entry!r}\n" for entry in x.tolist()))


def write_stack(x: Any, path: Path, **numbers: Any) -> None:
    """Many x as .npz: a matrix of `scipy.sparse.save_npz`, or `x` and the arrays in `numbers`."""
    if bool(sparse.issparse(x)):
        sparse.save_npz(path, x)
    else:
        np.savez(path, x=x, **numbers)
