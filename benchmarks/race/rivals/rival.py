"""What a contestant is."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from ..problem import Array, Problem

Run = Callable[[], Any]
"""The call that is timed."""


def _plain(answer: Any) -> tuple[Array, dict[str, Any]]:
    return answer, {}


@dataclass(frozen=True)
class Rival:
    """One solver.

    `prepare(problem, tolerance)` converts the data to what the solver likes best, off the clock, and
    returns the call that is timed. `refuses` says why a problem is not for this solver. Of
    `tolerances`, from loose to tight, the first with which the answer is good enough is timed.
    """

    name: str
    module: str
    distribution: str
    settings: str
    prepare: Callable[[Any, float], Run]
    refuses: Callable[[Any], str | None]
    tolerances: tuple[float, ...] = (0.0,)
    slow: bool = False
    """Not started on large problems in a quick race."""
    place: Literal["here", "apart", "old_numpy"] = "here"
    """In the worker's process; in one of its own, for libraries with threads that do not survive a
    fork; or in one of the environment with NumPy 1."""
    read: Callable[[Any], tuple[Array, dict[str, Any]]] = _plain
    """x, and what is worth noting, from what the timed call returned; off the clock, and only for
    solvers in processes of their own."""

    def installed(self) -> bool:
        return find_spec(self.module) is not None


def exact(prepare: Callable[[Problem], Run]) -> Callable[[Problem, float], Run]:
    """`prepare` of a solver that has no tolerance to choose."""
    return lambda problem, tolerance: prepare(problem)


def takes_all(problem: Problem) -> str | None:
    return None


def nnls_only(problem: Problem) -> str | None:
    return None if problem.is_nnls else "x >= 0 only"


def dense_nnls_only(problem: Problem) -> str | None:
    return nnls_only(problem) or problem.too_large_to_densify()


def threads() -> int:
    """The thread count of this process, set before anything was imported."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))
