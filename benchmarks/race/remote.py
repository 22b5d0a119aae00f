"""This side of `remote_server`: a process in another environment that can be killed and restarted."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .guard import Failed, OverTime
from .problem import Array, save

PATIENCE = 120.0
"""Seconds allowed for orders that are not timed."""


class Parcel:
    """A problem on its way to other processes, written to files when the first of them asks."""

    def __init__(self, problem: Any, save: Callable[[Any, Path], None] = save) -> None:
        self._problem, self._save = problem, save
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def folder(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="boxreg-race-")
            self._save(self._problem, Path(self._folder.name))
        return Path(self._folder.name)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


class Remote:
    """One interpreter, perhaps of another environment, started when first needed."""

    def __init__(
        self, python: Path, server: str = "benchmarks.race.remote_server", grace: float = 5.0
    ) -> None:
        self._python, self._server, self._grace = python, server, grace
        self._process: subprocess.Popen[bytes] | None = None
        self._parcel: Parcel | None = None
        self._loaded = False
        self._pending = b""
        self.remarks: dict[str, Any] = {}
        """What the contestant said beside its last answer."""

    @property
    def exists(self) -> bool:
        return self._python.exists()

    def hold(self, parcel: Parcel | None) -> None:
        """Make this the problem that orders are about; it is read with the first of them."""
        self._parcel, self._loaded = parcel, False

    def hello(self, rival: str) -> dict[str, Any]:
        """Import and warm up; versions, or `Failed`."""
        return self._ask({"do": "hello", "rival": rival}, PATIENCE)

    def trial(self, rival: str, tolerance: float, cap: float) -> tuple[float, Array]:
        """One call: (seconds, x)."""
        self._load()
        assert self._parcel is not None
        path = self._parcel.folder / f"x-{id(self)}.npy"
        order = {"do": "run", "rival": rival, "tolerance": tolerance, "save": str(path)}
        self._ask({**order, "do": "prepare"}, PATIENCE)
        reply = self._ask(order, cap + self._grace)
        if reply["seconds"] > cap:
            raise OverTime
        self.remarks = reply["remarks"]
        return reply["seconds"], np.load(path)

    def timed(self, rival: str, tolerance: float, calls: int) -> float:
        """Seconds per call."""
        self._load()
        order = {"do": "run", "rival": rival, "tolerance": tolerance, "calls": calls}
        return float(self._ask(order, PATIENCE)["seconds"])

    def close(self) -> None:
        self._kill()
        self._parcel = None

    def _ask(self, order: dict[str, Any], limit: float) -> dict[str, Any]:
        if self._process is None:
            self._start()
        reply = self._exchange(order, limit)
        if "error" in reply:
            raise Failed(reply["error"])
        return reply

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [str(self._python), "-m", self._server],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._pending, self._loaded = b"", False

    def _load(self) -> None:
        """Have the process read the problem, unless it has."""
        assert self._parcel is not None, "hold comes first"
        if self._process is None or not self._loaded:
            self._ask({"do": "load", "folder": str(self._parcel.folder)}, PATIENCE)
            self._loaded = True

    def _exchange(self, order: dict[str, Any], limit: float) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            self._kill()
            raise Failed("the process died") from None
        while b"\n" not in self._pending:
            if not select.select([process.stdout], [], [], limit)[0]:
                self._kill()
                raise OverTime
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                self._kill()
                raise Failed("the process died")
            self._pending += part
        line, self._pending = self._pending.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):  # what was written last has no reader
                        pipe.close()
            self._process.wait()
            self._process = None
