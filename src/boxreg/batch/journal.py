"""How far a run to a disk target has come, so that an interrupted one goes on from there.

Two files: `name`, a few lines of JSON, and `name.npy`, the gaps and statuses so far. After each chunk
the answers are flushed, then the numbers, then the JSON is replaced in one step. Whatever happens
between, the JSON tells of nothing that is not on disk. It holds digests of what was read and of what was
written so far: a run that goes on reads both again, and believes neither if they have changed. A third
file, `name.lock`, keeps a second process out.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Mask
from ..devices import host
from ..files.locking import FileLock, Taken
from .chunk import Chunk
from .fingerprint import fingerprint
from .layout import Layout
from .question import Question
from .sinks import Numbers

_READ = 4096
"""Right-hand sides, about, that are read at a time to see whether they are the same."""


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
    return Journal(validate.path(path, "journal"), question, out, numbers)


class NoJournal:
    """A run that starts at the beginning."""

    def resume(self) -> int:
        """Line 0."""
        return 0

    def record(self, line: int, part: Chunk) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def leave(self) -> None:
        """Nothing."""


class Journal:
    """The journal of one run, and of those that it continues."""

    def __init__(self, path: Path, question: Question, out: Any, numbers: Numbers) -> None:
        self._path, self._out, self._numbers = path, out, numbers
        self._data = path.with_name(path.name + ".npy")
        self._lock = FileLock(path.with_name(path.name + ".lock"))
        self._question, self._layout = question, question.layout
        self._answers = Layout(self._layout.shape_with(question.design.shape[1]), self._layout.axis)
        self._who = fingerprint(question)
        self._trail = _Trail()
        self._done = 0
        self._kept: Any = None

    def resume(self) -> int:
        """The first line that is not done yet; the numbers of those before it are read back."""
        try:
            self._lock.acquire()
            return self._resumed()
        except Taken as owner:
            raise ValueError(
                f"journal: {self._path} is in use by {owner}; wait until that run ends, or end it: "
                "the same call then goes on from there"
            ) from owner
        except OSError as error:
            self.leave()
            raise ValueError(
                f"journal: {self._path} cannot be read or written ({error.strerror or error})"
            ) from error
        except BaseException:
            self.leave()
            raise

    def _resumed(self) -> int:
        kind = _record_type(self._numbers)
        if self._path.exists() and self._data.exists():
            told = self._told()
            self._kept = self._numbers_so_far(kind)
            self._compare(told)
            self._done = told["lines"]
            before = slice(0, self._done * self._layout.width)
            for name in kind.names or ():
                getattr(self._numbers, name)[before] = self._kept[name][before]
            return self._done
        self._kept = np.lib.format.open_memmap(
            self._data, mode="w+", dtype=kind, shape=(self._layout.count,)
        )
        self._replace(0)
        return 0

    def _told(self) -> dict[str, Any]:
        """What the JSON says, of the kinds and in the ranges that it was written with."""
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
            whole = {name: told[name] for name in ("lines", "of")}
            words = {name: told[name] for name in ("fingerprint", "sources", "answers")}
        except (ValueError, KeyError, TypeError) as error:
            raise self._broken() from error
        if any(type(value) is not int for value in whole.values()):
            raise self._broken()
        if words["fingerprint"] != self._who or whole["of"] != self._layout.lines:
            raise self._another("another A, Y, bounds, loss, tol or version")
        done, lines = whole["lines"], self._layout.lines
        if not 0 <= done <= lines or (done % self._layout.unit and done != lines):
            raise self._broken()
        return {**whole, **words}

    def _compare(self, told: dict[str, Any]) -> None:
        """Read what is done once more; refuse it unless it is what the journal tells of."""
        layout, done = self._layout, told["lines"]
        for begin, last in layout.chunks(_READ):
            end = min(last, done)
            if begin >= end:
                break
            rows, masked = layout.read(self._question.Y, begin, end)
            valid = self._question.solvable(rows, masked)
            rows[~valid] = 0.0
            self._trail.read(rows, valid, *self._own_bounds(begin, end))
            self._trail.written(*self._stored(begin, end))
        if self._trail.sources != told["sources"]:
            raise self._another("Y, or bounds of its own, where answers are done")
        if self._trail.answers != told["answers"]:
            raise ValueError(
                f"journal: the answers that {self._path} tells of are not those in `out` and beside "
                "it; something else has written there; remove it to start anew"
            )

    def _own_bounds(self, begin: int, end: int) -> list[Array]:
        """Bounds that belong to single right-hand sides; the others are in the fingerprint."""
        both = (self._question.lower, self._question.upper)
        return [bound.rows(self._layout, begin, end) for bound in both if bound.each]

    def _stored(self, begin: int, end: int) -> tuple[Array, Any]:
        """Answers and numbers of some lines as they are on disk."""
        some = slice(begin * self._layout.width, end * self._layout.width)
        return self._answers.read(self._out, begin, end)[0], self._kept[some]

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

    def _another(self, what: str) -> ValueError:
        return ValueError(
            f"journal: {self._path} belongs to another run ({what}); remove it to start anew"
        )

    def record(self, line: int, part: Chunk) -> None:
        """Lines up to this one are done; `part` is what was read since the last time."""
        flush = getattr(self._out, "flush", None)
        if callable(flush):
            flush()
        since = slice(self._done * self._layout.width, line * self._layout.width)
        for name in self._kept.dtype.names:
            self._kept[name][since] = getattr(self._numbers, name)[since]
        self._kept.flush()
        bounds = ((self._question.lower, part.lower), (self._question.upper, part.upper))
        own = [rows for bound, rows in bounds if bound.each]
        self._trail.read(host(part.rows), part.valid, *own)
        self._trail.written(*self._stored(self._done, line))
        self._replace(line)

    def close(self) -> None:
        """The run is over: nothing to resume."""
        self._kept = None
        self._path.unlink(missing_ok=True)
        self._data.unlink(missing_ok=True)
        self._lock.release()

    def leave(self) -> None:
        """The run has stopped: what is done is kept, and others may go on."""
        self._kept = None
        self._lock.release()

    def _replace(self, line: int) -> None:
        fresh = self._path.with_name(self._path.name + ".new")
        text = {
            "lines": line,
            "of": self._layout.lines,
            "fingerprint": self._who,
            "sources": self._trail.sources,
            "answers": self._trail.answers,
        }
        with open(fresh, "w", encoding="utf-8") as file:
            json.dump(text, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self._path)
        self._done = line


class _Trail:
    """Digests of all right-hand sides and answers so far, one after the other.

    Each array has a digest of its own, so that they do not depend on how many were taken at a time.
    """

    def __init__(self) -> None:
        self._read = [hashlib.blake2b(digest_size=16) for _ in range(4)]
        self._written = [hashlib.blake2b(digest_size=16) for _ in range(2)]

    def read(self, rows: Array, valid: Mask, *bounds: Array) -> None:
        """Right-hand sides, which of them are solved, and bounds of their own."""
        for digest, array in zip(self._read, (rows, valid, *bounds), strict=False):
            digest.update(np.ascontiguousarray(array).data)

    def written(self, x: Array, numbers: Any) -> None:
        """Their answers."""
        for digest, array in zip(self._written, (x, numbers), strict=True):
            digest.update(np.ascontiguousarray(array).tobytes())

    @property
    def sources(self) -> str:
        """What was read."""
        return "".join(digest.hexdigest() for digest in self._read)

    @property
    def answers(self) -> str:
        """What was written."""
        return "".join(digest.hexdigest() for digest in self._written)


def _record_type(numbers: Numbers) -> np.dtype[Any]:
    return np.dtype([(name, getattr(numbers, name).dtype) for name in numbers.__dataclass_fields__])
