"""What has been measured already: one file a cell, written at once, so that nothing is lost."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One measurement: its name, what decides it, how long it may take, and how to take it."""

    key: str
    settings: Figures
    measure: Callable[[], Figures] = field(compare=False)
    expected: float = 1.0
    """Seconds, roughly."""


class Store(Mapping[str, Figures]):
    """The measured cells of one folder, by key.

    A file counts only if it was measured with the same settings, code, versions and kind of machine;
    any other is measured again.
    """

    def __init__(self, folder: Path, fingerprint: Figures) -> None:
        self.folder = folder
        self.fingerprint = fingerprint
        self._held: dict[str, Figures] = {}

    def recall(self, cell: Cell) -> bool:
        """Whether the cell was measured before; it is in the mapping from then on."""
        try:
            stored = json.loads(self._path(cell.key).read_text())
        except (OSError, ValueError):
            return False
        if not isinstance(stored, dict) or "measured" not in stored:
            return False
        same = stored.get("settings") == _plain(cell.settings)
        if not same or stored.get("fingerprint") != _plain(self.fingerprint):
            return False
        self._held[cell.key] = stored["measured"]
        return True

    def keep(self, cell: Cell, measured: Figures) -> None:
        """Write a cell that has just been measured."""
        stored = {
            "key": cell.key,
            "date": now(),
            "settings": cell.settings,
            "fingerprint": self.fingerprint,
            "measured": measured,
        }
        write(self._path(cell.key), encoded(stored))
        self._held[cell.key] = _plain(measured)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def __getitem__(self, key: str) -> Figures:
        return self._held[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


def write(path: Path, content: str | bytes) -> None:
    """Replace a file in one move: a reader or an interruption never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content.encode() if isinstance(content, str) else content)
    os.replace(part, path)


def encoded(value: Any) -> str:
    """JSON that every reader accepts: numbers that are not finite become null."""
    return json.dumps(finite(value), indent=1, allow_nan=False)


def finite(value: Any) -> Any:
    """The value with null for numbers that JSON has no word for."""
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, Mapping):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in value]
    return value


def now() -> str:
    """The date and time, to the minute."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _plain(value: Figures) -> Figures:
    """The value as it comes back from a file."""
    plain: Figures = json.loads(encoded(value))
    return plain
