"""A bar on a terminal, with an estimate of what is left; silence in a pipe."""

from __future__ import annotations

import shutil
import sys
from time import monotonic

_WIDTH = 24


class Bar:
    """Counts cells by the time they were expected to take, scaled by the time they took."""

    def __init__(self, expected: float) -> None:
        self._live = sys.stderr.isatty()
        self._left = expected
        self._done = 0.0
        self._start = monotonic()

    def show(self, label: str) -> None:
        """Say what is being measured."""
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\x1b[K" + self._line(label)[:width])
            sys.stderr.flush()

    def advance(self, expected: float) -> None:
        """A cell that was expected to take so long is done."""
        self._done += expected
        self._left = max(self._left - expected, 0.0)

    def clear(self) -> None:
        """Take the line away."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _line(self, label: str) -> str:
        spent = monotonic() - self._start
        share = self._done / max(self._done + self._left, 1e-9)
        full = round(share * _WIDTH)
        bar = "█" * full + "·" * (_WIDTH - full)
        return f"{bar} {100 * share:3.0f} %  {_clock(spent)} + {self._remaining(spent)}  {label}"

    def _remaining(self, spent: float) -> str:
        """What is left, by how expectations have turned out so far."""
        pace = spent / self._done if self._done > 0.0 else 1.0
        return f"about {_clock(pace * self._left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
