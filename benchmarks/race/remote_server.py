"""Runs contestants in their own environment, on orders read from standard input.

Each order and each answer is one line of JSON. Whatever libraries print goes nowhere.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .guard import describe
from .problem import Problem, load, make
from .rivals import RIVALS
from .rivals.rival import Run
from .timing import clock


class Server:
    """Holds one problem and the contestants prepared for it."""

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._runs: dict[tuple[str, float], Run] = {}

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        if order["do"] == "hello":
            return self._hello(RIVALS[order["rival"]])
        if order["do"] == "load":
            self._problem, self._runs = load(Path(order["folder"])), {}
            return {}
        return self._run(order)

    def _hello(self, rival: Any) -> dict[str, Any]:
        importlib.import_module(rival.module)
        A = np.asfortranarray(np.eye(4, 3) + 1.0)
        for upper in (np.inf, 1.0):
            rival.prepare(make(A, np.ones(4), 0.0, upper), rival.tolerances[0])()
        return {"version": version(rival.distribution), "numpy": np.__version__}

    def _run(self, order: dict[str, Any]) -> dict[str, Any]:
        name, tolerance = order["rival"], order["tolerance"]
        if (name, tolerance) not in self._runs:
            assert self._problem is not None, "load comes first"
            self._runs[name, tolerance] = RIVALS[name].prepare(self._problem, tolerance)
        run = self._runs[name, tolerance]
        if "save" not in order:
            return {"seconds": clock(run, order["calls"])}
        held: list[Any] = []
        seconds = clock(lambda: held.append(run()))
        np.save(order["save"], held[0])
        return {"seconds": seconds}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    server = Server()
    for line in sys.stdin:
        try:
            reply = server.answer(json.loads(line))
        except Exception as error:  # every failure is an answer
            reply = {"error": describe(error)}
        answers.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    main()
