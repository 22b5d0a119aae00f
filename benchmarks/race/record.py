"""The record of a race: plain data, written after every case, and questions asked of it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


@dataclass
class Record:
    """Everything that was measured."""

    kind: str
    environment: dict[str, Any]
    versions: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    cases: list[dict[str, Any]] = field(default_factory=list)
    startup: dict[str, Any] | None = None
    screening: list[dict[str, Any]] | None = None
    clients: list[dict[str, Any]] | None = None
    finished: bool = False

    def write(self, path: Path) -> None:
        """Replace the file in one move: a reader or an interruption never sees half of it."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(self.__dict__, indent=1))
        os.replace(part, path)

    @staticmethod
    def read(path: Path) -> Record:
        return Record(**json.loads(path.read_text()))

    def thread_counts(self) -> list[int]:
        return sorted({held["threads"] for held in self.cases})

    def case(self, name: str, threads: int) -> dict[str, Any] | None:
        """A case that was raced."""
        for held in self.cases:
            if held["case"] == name and held["threads"] == threads and "entries" in held:
                return held
        return None


def entry(case: dict[str, Any], solver: str) -> Entry:
    return next(held for held in case["entries"] if held["solver"] == solver)


def our_seconds(case: dict[str, Any]) -> float | None:
    seconds: float | None = entry(case, case["ours"])["seconds"]
    return seconds


def ratio(case: dict[str, Any], solver: str) -> float | None:
    """How many times slower than ours; where it was stopped at its cap, at least so many."""
    theirs, ours = entry(case, solver), our_seconds(case)
    if ours is None or theirs["status"] not in ("ok", "over"):
        return None
    return float(theirs["seconds"] / ours)


def rivals(case: dict[str, Any]) -> list[Entry]:
    return [held for held in case["entries"] if not held["solver"].startswith("boxreg.")]


def to_limit(case: dict[str, Any]) -> float | None:
    """Our time over the oracle limit, where that was taken."""
    ours = our_seconds(case)
    return None if ours is None or "limit" not in case else float(ours / case["limit"]["seconds"])
