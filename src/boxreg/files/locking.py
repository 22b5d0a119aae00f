"""A file that one process at a time may hold.

The operating system keeps the lock, with `flock` or its like on Windows, and takes it back when the
process ends in whatever way: a lock file that was left behind holds nobody up.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import warnings
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

_FAR = 1 << 30
"""The byte that is locked on Windows, where nobody else can read what is locked."""

_TAKEN = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
"""How the system says that somebody else has the lock; anything else: that it knows no locks there."""


class Taken(Exception):
    """Another process holds the lock; the message says which."""


class FileLock:
    """The lock that belongs to a path, held from `acquire` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock; Taken if somebody has it, OSError if the file cannot be made."""
        while self._descriptor is None:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(descriptor)
            except OSError as error:
                if error.errno in _TAKEN:
                    said = _owner(descriptor)
                    os.close(descriptor)
                    raise Taken(said) from error
                warnings.warn(
                    f"{self.path} is in a file system without locks: do not run this twice at a time",
                    RuntimeWarning,
                    stacklevel=2,
                )
            except BaseException:
                os.close(descriptor)
                raise
            if self._is(descriptor):
                self._descriptor = descriptor
            else:  # the one before has removed it in the meantime
                os.close(descriptor)
        told = {"process": os.getpid(), "host": socket.gethostname(), "since": _now()}
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, json.dumps(told).encode())

    def release(self) -> None:
        """Give the lock back and remove its file."""
        if self._descriptor is None:
            return
        mine = self._is(self._descriptor)
        if mine and sys.platform != "win32":  # before others can take it, so that none is removed
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None
        if mine and sys.platform == "win32":  # which removes no open file
            with suppress(OSError):
                self.path.unlink()

    def _is(self, descriptor: int) -> bool:
        """Whether this is the file that has the name now."""
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            return False
        here = os.fstat(descriptor)
        return (there.st_ino, there.st_dev) == (here.st_ino, here.st_dev)


def _owner(descriptor: int) -> str:
    """The process that holds the lock, in words, from what it wrote down."""
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        told: Any = json.loads(os.read(descriptor, 4096))
        return f"process {told['process']} on {told['host']}, since {told['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def _lock(descriptor: int) -> None:
    """Lock an open file, or raise OSError at once."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
