"""This side of `remote_server`: a process in another environment that can be killed and restarted."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .guard import Failed, OverTime
from .problem import Array, Problem, save

PATIENCE = 120.0
"""Seconds allowed for orders that are not timed."""


class Remote:
    """One interpreter, perhaps of another environment, started when first needed."""

    def __init__(self, python: Path) -> None:
        self._python = python
        self._process: subprocess.Popen[bytes] | None = None
        self._problem: Problem | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._pending = b""

    @property
    def exists(self) -> bool:
        return self._python.exists()

    def hold(self, problem: Problem) -> None:
        """Make this the problem that orders are about; it travels with the first of them."""
        self._drop_data()
        self._problem = problem

    def hello(self, rival: str) -> dict[str, Any]:
        """Import and warm up; versions, or `Failed`."""
        return self._ask({"do": "hello", "rival": rival}, PATIENCE)

    def trial(self, rival: str, tolerance: float, cap: float) -> tuple[float, Array]:
        """One call: (seconds, x)."""
        path = self._data() / "x.npy"
        order = {"do": "run", "rival": rival, "tolerance": tolerance, "save": str(path)}
        reply = self._ask(order, cap + 5.0)
        if reply["seconds"] > cap:
            raise OverTime
        return reply["seconds"], np.load(path)

    def timed(self, rival: str, tolerance: float, calls: int) -> float:
        """Seconds per call."""
        order = {"do": "run", "rival": rival, "tolerance": tolerance, "calls": calls}
        return float(self._ask(order, PATIENCE)["seconds"])

    def close(self) -> None:
        self._kill()
        self._drop_data()

    def _ask(self, order: dict[str, Any], limit: float) -> dict[str, Any]:
        if self._process is None:
            self._start()
        reply = self._exchange(order, limit)
        if "error" in reply:
            raise Failed(reply["error"])
        return reply

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [str(self._python), "-m", "benchmarks.race.remote_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._pending = b""
        if self._folder is not None:
            self._load()

    def _data(self) -> Path:
        """The folder of the problem, written and loaded when first asked for."""
        if self._folder is None:
            assert self._problem is not None, "hold comes first"
            self._folder = tempfile.TemporaryDirectory(prefix="boxreg-race-")
            save(self._problem, Path(self._folder.name))
            if self._process is not None:
                self._load()
        return Path(self._folder.name)

    def _load(self) -> None:
        assert self._folder is not None
        self._exchange({"do": "load", "folder": self._folder.name}, PATIENCE)

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
            self._process.wait()
            self._process = None

    def _drop_data(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
