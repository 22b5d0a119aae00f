"""A bar on a terminal; silence in a pipe."""

from __future__ import annotations

import shutil
import sys
from time import perf_counter

from ..reporting.text import duration

_WIDTH = 24
_PERIOD = 0.1


class Bar:
    """How many right-hand sides are done, and how long the others will take."""

    def __init__(self, total: int, *, enabled: bool) -> None:
        self._live = enabled and sys.stderr.isatty()
        self._total, self._done, self._first = max(total, 1), 0, 0
        self._start = self._shown = perf_counter()

    def skip(self, count: int) -> None:
        """Some were done in an earlier run."""
        self._done += count
        self._first += count

    def add(self, count: int) -> None:
        """Some more are done."""
        self._done += count
        now = perf_counter()
        if not self._live or now - self._shown < _PERIOD:
            return
        self._shown = now
        share = self._done / self._total
        bar = "█" * round(share * _WIDTH) + "·" * (_WIDTH - round(share * _WIDTH))
        rate = (self._done - self._first) / max(now - self._start, 1e-9)
        left = duration((self._total - self._done) / rate) if rate > 0.0 else "?"
        line = f"{bar} {self._done:,}/{self._total:,}  {rate:,.0f}/s  {left} left"
        width = shutil.get_terminal_size().columns
        sys.stderr.write("\r\x1b[K" + line[: width - 1])
        sys.stderr.flush()

    def close(self) -> None:
        """Clear the line."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
