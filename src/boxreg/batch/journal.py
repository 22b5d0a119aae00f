"""How far a run to a disk target has come, so that an interrupted one goes on from there.

Two files: `name`, a few lines of JSON, and `name.npy`, the gaps and statuses so far. After each chunk
the answers are flushed, then the numbers, then the JSON is replaced in one step. Whatever happens
between, the JSON tells of nothing that is not on disk.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .fingerprint import fingerprint
from .question import Question
from .sinks import Numbers


def journal_for(
    question: Question, out: Any, path: Any, numbers: Numbers, keeps: bool
) -> Journal | NoJournal:
    """The journal of a run to `out`; none where there is no disk target, nor a path."""
    if path is None:
        name = getattr(out, "filename", None)
        if out is None or not isinstance(name, (str, os.PathLike)):
            return NoJournal()
        path = f"{os.fspath(name)}.journal"
    elif out is None:
        raise ValueError("journal: belongs to a run to `out`, which was not given")
    if not keeps:
        raise ValueError("journal: a run that can be resumed writes x alone; drop return_dual")
    return Journal(Path(path), question, out, numbers)


class NoJournal:
    """A run that starts at the beginning."""

    def resume(self) -> int:
        """Line 0."""
        return 0

    def record(self, line: int) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Journal:
    """The journal of one run, and of those that it continues."""

    def __init__(self, path: Path, question: Question, out: Any, numbers: Numbers) -> None:
        self._path, self._out, self._numbers = path, out, numbers
        self._data = path.with_name(path.name + ".npy")
        self._layout = question.layout
        self._who = fingerprint(question)
        self._kept: Any = None

    def resume(self) -> int:
        """The first line that is not done yet; the numbers of those before it are read back."""
        kind = _record_type(self._numbers)
        count = self._layout.count
        done = 0
        if self._path.exists() and self._data.exists():
            told = self._told()
            if told.get("fingerprint") != self._who:
                raise ValueError(
                    f"journal: {self._path} belongs to another run (another A, Y, bounds, loss, tol or "
                    "version); remove it to start anew"
                )
            done = int(told["lines"])
            self._kept = self._numbers_so_far(kind)
            before = slice(0, done * self._layout.width)
            for name in kind.names or ():
                getattr(self._numbers, name)[before] = self._kept[name][before]
            return done
        self._kept = np.lib.format.open_memmap(self._data, mode="w+", dtype=kind, shape=(count,))
        self._replace(0)
        return done

    def _told(self) -> dict[str, Any]:
        try:
            told = json.loads(self._path.read_text())
            int(told["lines"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._broken() from error
        return dict(told)

    def _numbers_so_far(self, kind: np.dtype[Any]) -> Any:
        try:
            np.lib.format.open_memmap(self._data, mode="r")  # "r+" would lengthen a file cut short
            kept = np.lib.format.open_memmap(self._data, mode="r+")
        except (ValueError, EOFError) as error:
            raise self._broken() from error
        if kept.shape != (self._layout.count,) or kept.dtype != kind:
            raise self._broken()
        return kept

    def _broken(self) -> ValueError:
        return ValueError(f"journal: {self._path} is broken; remove it to start anew")

    def record(self, line: int) -> None:
        """Lines up to this one are done."""
        flush = getattr(self._out, "flush", None)
        if callable(flush):
            flush()
        upto = slice(0, line * self._layout.width)
        told = json.loads(self._path.read_text())
        since = slice(int(told["lines"]) * self._layout.width, upto.stop)
        for name in self._kept.dtype.names:
            self._kept[name][since] = getattr(self._numbers, name)[since]
        self._kept.flush()
        self._replace(line)

    def close(self) -> None:
        """The run is over: nothing to resume."""
        self._kept = None
        self._path.unlink(missing_ok=True)
        self._data.unlink(missing_ok=True)

    def _replace(self, line: int) -> None:
        fresh = self._path.with_name(self._path.name + ".new")
        text = {"lines": line, "of": self._layout.lines, "fingerprint": self._who}
        with open(fresh, "w") as file:
            json.dump(text, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self._path)


def _record_type(numbers: Numbers) -> np.dtype[Any]:
    return np.dtype([(name, getattr(numbers, name).dtype) for name in numbers.__dataclass_fields__])
