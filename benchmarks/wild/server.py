"""Runs the contestants of one process, each warmed up on corners of the kind of problem it is given."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

from benchmarks.race.remote_server import Server, serve
from benchmarks.race.rivals import Rival

from .problem import load
from .rivals import CONTESTANTS

CORNERS = ((12, 6), (120, 60), (300, 200))
"""Rows and columns of what is solved before a kind of problem is timed for the first time."""


class WildServer(Server):
    """Compilation is off the clock: kinds of problems differ in what they need compiled."""

    load = staticmethod(load)

    def __init__(self) -> None:
        super().__init__(CONTESTANTS)
        self._warm: set[tuple[Any, ...]] = set()

    def warm_up(self, rival: Rival) -> None:
        """Nothing yet: it waits for the kind of problem."""

    def prepare(self, rival: Rival, tolerance: float) -> None:
        held = self._problem
        terms = (held.weights is None, held.linear is None, held.ridge > 0.0, held.count > 1)
        kind = (rival.name, held.loss, held.bounds, held.layout, str(held.Y.dtype), *terms)
        if kind not in self._warm:
            self._warm.add(kind)
            for rows, columns in CORNERS:
                corner = held.corner(rows, columns)
                with suppress(Exception):  # what fails on the problem itself is reported there
                    if rival.refuses(corner) is None:
                        rival.prepare(corner, rival.tolerances[0])()
        super().prepare(rival, tolerance)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    serve(WildServer())
