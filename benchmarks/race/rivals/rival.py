"""What a contestant is."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from ..problem import Array, Problem

Run = Callable[[], Array]


@dataclass(frozen=True)
class Rival:
    """One solver with one setting.

    `prepare` converts the data to what the solver likes best, off the clock, and returns the call
    that is timed. `refuses` says why a problem is not for this solver.
    """

    name: str
    module: str
    distribution: str
    settings: str
    prepare: Callable[[Problem], Run]
    refuses: Callable[[Problem], str | None]
    environment: Literal["main", "old_numpy"] = "main"

    def installed(self) -> bool:
        return find_spec(self.module) is not None


def takes_all(problem: Problem) -> str | None:
    return None


def nnls_only(problem: Problem) -> str | None:
    return None if problem.is_nnls else "x >= 0 only"


def dense_nnls_only(problem: Problem) -> str | None:
    return nnls_only(problem) or problem.too_large_to_densify()


def threads() -> int:
    """The thread count of this process, set before anything was imported."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))
