"""How long compiling took, and a line for those who wait for it."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

_NOTICE = "boxreg: compiling for this machine; later calls find the result on disk"


class CompileTime:
    """Adds up the time that numba spends on compiling.

    On a terminal a line is shown while it lasts; in a notebook one line tells of it, once. A pipe sees
    nothing.
    """

    def __init__(self) -> None:
        self.spent = 0.0
        """Seconds so far, in this process."""
        self._depth = 0
        self._begun = 0.0
        self._told = False

    def begin(self, module: str) -> None:
        """A function of that module is being compiled; the functions it calls may follow."""
        if self._depth == 0:
            self._begun = perf_counter()
            if module.startswith(__package__):
                self._tell()
        self._depth += 1

    def end(self) -> None:
        """It is done."""
        self._depth -= 1
        if self._depth == 0:
            self.spent += perf_counter() - self._begun
            if on_terminal():
                _write("\r\x1b[K")

    def _tell(self) -> None:
        if on_terminal():
            _write(f"\r\x1b[K{_NOTICE} …")
        elif not self._told and in_notebook():
            self._told = True
            _write(f"{_NOTICE}.\n")


compile_time = CompileTime()
"""That of this process."""


class Stopwatch:
    """Seconds since it was made, compiling left out."""

    def __init__(self) -> None:
        self._begun = perf_counter() - compile_time.spent

    @property
    def seconds(self) -> float:
        """So many until now."""
        return perf_counter() - compile_time.spent - self._begun


def on_terminal() -> bool:
    """Whether standard error is shown on a terminal."""
    stream: Any = sys.stderr
    return stream is not None and not stream.closed and stream.isatty()


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
