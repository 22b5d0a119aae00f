"""A progress line on a terminal; silence in a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from types import TracebackType

import numpy as np

from .history import Snapshot

_WIDTH = 24


class Progress:
    """Shows how far the gap has fallen from its first value to the target, on a log scale."""

    def __init__(self, *, enabled: bool) -> None:
        self._live = enabled and sys.stderr.isatty()
        self._first = np.inf
        self._shown = -1.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown >= 0.0:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def watch(
        self, callback: Callable[[Snapshot], object] | None
    ) -> Callable[[Snapshot], object] | None:
        """The caller's callback with the progress line in front of it."""
        if not self._live:
            return callback

        def show(seen: Snapshot) -> object:
            if seen.seconds - self._shown >= 0.1:
                self._shown = seen.seconds
                width = shutil.get_terminal_size().columns
                sys.stderr.write("\r\x1b[K" + self._line(seen)[: width - 1])
                sys.stderr.flush()
            return callback(seen) if callback is not None else False

        return show

    def _line(self, seen: Snapshot) -> str:
        if not np.isfinite(self._first) and np.isfinite(seen.gap):
            self._first = seen.gap
        done = self._share(seen)
        bar = "█" * round(done * _WIDTH) + "·" * (_WIDTH - round(done * _WIDTH))
        return (
            f"{bar} gap {seen.gap:.1e} → {seen.target:.1e}  columns {seen.preserved}/{seen.n}  "
            f"step {seen.iteration}  {seen.seconds:.1f} s"
        )

    def _share(self, seen: Snapshot) -> float:
        if not (seen.target > 0 and np.isfinite(self._first) and self._first > seen.target):
            return 0.0
        fallen = np.log(self._first / max(seen.gap, seen.target))
        return float(np.clip(fallen / np.log(self._first / seen.target), 0.0, 1.0))
