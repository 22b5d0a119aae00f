"""Runs contestants in their own environment, on orders read from standard input.

Each order and each answer is one line of JSON. Whatever libraries print goes nowhere.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from .guard import describe
from .problem import load, make
from .rivals import RIVALS
from .rivals.rival import Rival, Run
from .timing import clock


def known_version(distribution: str) -> str:
    """Its version; a package that is imported from its sources has none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"


class Server:
    """Holds one problem and the contestants prepared for it."""

    load = staticmethod(load)
    """Reads what `Parcel` wrote."""

    def __init__(self, rivals: Mapping[str, Rival]) -> None:
        self._rivals = rivals
        self._problem: Any = None
        self._runs: dict[tuple[str, float], Run] = {}

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        if order["do"] == "hello":
            return self._hello(self._rivals[order["rival"]])
        if order["do"] == "load":
            self._problem, self._runs = self.load(Path(order["folder"])), {}
            return {}
        rival, tolerance = self._rivals[order["rival"]], order["tolerance"]
        if (rival.name, tolerance) not in self._runs:
            assert self._problem is not None, "load comes first"
            self.prepare(rival, tolerance)
        return {} if order["do"] == "prepare" else self._run(rival, order)

    def warm_up(self, rival: Rival) -> None:
        """Compile what the solver needs on any problem."""
        A = np.asfortranarray(np.eye(4, 3) + 1.0)
        for upper in (np.inf, 1.0):
            rival.prepare(make(A, np.ones(4), 0.0, upper), rival.tolerances[0])()

    def prepare(self, rival: Rival, tolerance: float) -> None:
        """Convert the problem, off the clock."""
        self._runs[rival.name, tolerance] = rival.prepare(self._problem, tolerance)

    def _hello(self, rival: Rival) -> dict[str, Any]:
        importlib.import_module(rival.module)
        self.warm_up(rival)
        return {"version": known_version(rival.distribution), "numpy": np.__version__}

    def _run(self, rival: Rival, order: dict[str, Any]) -> dict[str, Any]:
        run = self._runs[rival.name, order["tolerance"]]
        if "save" not in order:
            return {"seconds": clock(run, order["calls"])}
        held: list[Any] = []
        seconds = clock(lambda: held.append(run()))
        x, remarks = rival.read(held[0])
        np.save(order["save"], x)
        return {"seconds": seconds, "remarks": remarks}


def serve(server: Server) -> None:
    """Answer orders until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for line in sys.stdin:
        try:
            reply = server.answer(json.loads(line))
        except Exception as error:  # every failure is an answer
            reply = {"error": describe(error)}
        answers.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    serve(Server(RIVALS))
