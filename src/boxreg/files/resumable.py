"""Large arrays on their way to a file: written beside its place, renamed when they are complete.

    x.npy.part       what is there so far, in its final shape
    x.npy.journal    how far it has come, see `batch.journal` (and x.npy.journal.npy)
    x.npy.lock       who is writing, while somebody is

An interrupted run leaves these, and the same run goes on from them. `x.npy` appears complete.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .locking import FileLock, Taken
from .problem import FileProblem, one_line
from .writing import Outputs
from .zarr_arrays import create_zarr, is_zarr, reopen_zarr, require_zarr


class Resumable:
    """An .npy file or .zarr folder of float64 numbers that is written a chunk at a time.

    Used as a context, which one process at a time may enter.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self._place = path.resolve()
        self._part = self._beside(".part")
        self.journal = self._beside(".journal")
        self._folder = path.suffix.lower() == ".zarr"
        self._lock = FileLock(self._beside(".lock"))

    def __enter__(self) -> Resumable:
        try:
            self._lock.acquire()
        except Taken as owner:
            raise FileProblem(
                f"{self.name}: {self.path} is being written by {owner}; wait until that run ends, or "
                "end it: the same command then goes on from there"
            ) from owner
        except OSError as error:
            raise FileProblem(
                f"{self.name}: {self.path} cannot be written ({one_line(error)})"
            ) from error
        return self

    def __exit__(self, *raised: object) -> None:
        self._lock.release()

    @staticmethod
    def check(path: Path, name: str) -> None:
        """Whether it can be written there; FileProblem if not."""
        if path.suffix.lower() != ".zarr":
            Outputs.check(path, name)
            return
        try:
            require_zarr(path)
        except FileProblem as problem:
            raise FileProblem(f"{name}: {problem}") from problem
        if path.exists() and not is_zarr(path):
            raise FileProblem(f"{name}: {path} exists and is not a zarr array")
        if not path.resolve().parent.is_dir():
            raise FileProblem(f"{name}: there is no folder {path.parent}")
        try:
            os.rmdir(tempfile.mkdtemp(dir=path.resolve().parent))
        except OSError as error:
            raise FileProblem(f"{name}: {path} cannot be written ({one_line(error)})") from error

    def open(self, shape: tuple[int, ...], axis: int) -> Any:
        """The array to write to: that of an interrupted run, or a new one."""
        if self._part.exists() and self.journal.exists():
            return self._reopened(shape)
        self.discard()
        try:
            if self._folder:
                return create_zarr(self._part, shape, axis)
            return self._reserved(shape)
        except OSError as error:
            self.discard()
            raise FileProblem(
                f"{self.name}: {self.path} cannot be written ({one_line(error)})"
            ) from error

    def done(self) -> tuple[int, int]:
        """Lines that are done, and lines in all; 0, 0 where there is no journal."""
        if not self._beside(".journal.npy").exists():
            return 0, 0
        try:
            told = json.loads(self.journal.read_text())
            done, lines = int(told["lines"]), int(told["of"])
            return (done, lines) if 0 <= done <= lines else (0, 0)
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0

    def commit(self, array: Any) -> None:
        """Give the complete array its name; what had it goes."""
        if isinstance(array, np.memmap):
            array.flush()
        old = self._beside(".old")
        if self._folder and self._place.exists():
            os.replace(self._place, old)
        os.replace(self._part, self._place)
        shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        """Remove what was written so far."""
        if self._part.is_dir():
            shutil.rmtree(self._part)
        self._part.unlink(missing_ok=True)
        for ending in (".journal", ".journal.npy", ".journal.new", ".journal.lock"):
            self._beside(ending).unlink(missing_ok=True)

    def _beside(self, ending: str) -> Path:
        return self._place.with_name(self._place.name + ending)

    def _reserved(self, shape: tuple[int, ...]) -> Any:
        """A file with its space taken: a disk that fills up later would kill the process."""
        array = np.lib.format.open_memmap(self._part, mode="w+", dtype=np.float64, shape=shape)
        with self._part.open("r+b") as file, suppress(AttributeError):
            os.posix_fallocate(file.fileno(), 0, self._part.stat().st_size)
        return array

    def _reopened(self, shape: tuple[int, ...]) -> Any:
        try:
            array = reopen_zarr(self._part) if self._folder else _mapped(self._part)
        except Exception as error:  # whatever each reader raises
            raise self._other(f"cannot be read ({one_line(error)})") from error
        if tuple(array.shape) != shape or np.dtype(array.dtype) != np.float64:
            raise self._other("belongs to another run")
        return array

    def _other(self, what: str) -> FileProblem:
        return FileProblem(
            f"{self.name}: {self._part.name} {what}; remove it and {self.journal.name} to start anew"
        )


def _mapped(path: Path) -> Any:
    """An .npy file to go on writing; ValueError where it was cut short, which "r+" would lengthen."""
    np.lib.format.open_memmap(path, mode="r")
    return np.lib.format.open_memmap(path, mode="r+")
