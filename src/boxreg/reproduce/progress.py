"""A bar on a terminal, with an estimate of what is left; silence in a pipe."""

from __future__ import annotations

import shutil
import sys
from threading import Event, Thread
from time import monotonic

_WIDTH = 24


class Bar:
    """Counts cells by the time they were expected to take, scaled by the time they took.

    A thread redraws the line once a second: a single cell may take minutes.
    """

    def __init__(self, expected: float) -> None:
        self._live = sys.stderr.isatty()
        self._left = expected
        self._done = 0.0
        self._label = ""
        self._start = self._since = monotonic()
        self._over = Event()
        self._ticker: Thread | None = None

    def show(self, label: str) -> None:
        """Say what is being measured."""
        self._label = label
        if not self._live:
            return
        self._draw()
        if self._ticker is None:
            self._ticker = Thread(target=self._tick, daemon=True)
            self._ticker.start()

    def advance(self, expected: float) -> None:
        """A cell that was expected to take so long is done."""
        self._done += expected
        self._left = max(self._left - expected, 0.0)
        self._since = monotonic()

    def clear(self) -> None:
        """Take the line away."""
        self._over.set()
        if self._ticker is not None:
            self._ticker.join()
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _tick(self) -> None:
        while not self._over.wait(1.0):
            self._draw()

    def _draw(self) -> None:
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write("\r\x1b[K" + self._line(monotonic())[:width])
        sys.stderr.flush()

    def _line(self, now: float) -> str:
        spent = now - self._start
        share = self._done / max(self._done + self._left, 1e-9)
        full = round(share * _WIDTH)
        bar = "█" * full + "·" * (_WIDTH - full)
        left = f"about {_clock(self._remaining(now))} left"
        return f"{bar} {100 * share:3.0f} %  {_clock(spent)}, {left}  {self._label}"

    def _remaining(self, now: float) -> float:
        """What is left, by how expectations have turned out so far, less what is under way."""
        pace = (self._since - self._start) / self._done if self._done > 0.0 else 1.0
        return max(pace * self._left - (now - self._since), 0.0)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
