"""A progress line on a terminal; silence in a pipe."""

from __future__ import annotations

import shutil
import sys
import time


class Line:
    """One line on standard error, rewritten in place."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._start = time.monotonic()
        self.prefix = ""

    def show(self, text: str) -> None:
        if self._live:
            elapsed = time.monotonic() - self._start
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\x1b[K" + f"{elapsed:5.0f} s  {self.prefix}{text}"[:width])
            sys.stderr.flush()

    def clear(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
