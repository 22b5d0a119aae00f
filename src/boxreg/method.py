"""How a problem is to be solved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .arrays import Array
from .budget import Deadline
from .dual_updates.base import DualUpdate
from .plan import Plan
from .problem import Problem
from .safe_regions.base import SafeRegion
from .settings import current
from .solvers.base import PrimalSolver


@dataclass(frozen=True)
class Method:
    """A primal solver, a dual update, a safe region, and a direction into the dual cone."""

    solver: PrimalSolver[Any]
    dual: DualUpdate
    region: SafeRegion
    direction: str | Array = "auto"
    screening: bool = True
    successor: PrimalSolver[Any] | None = None
    """Goes on where the solver is too slow, or can do no more without a proof."""
    first: tuple[float, str] = (0.0, "")
    """Products of length m that the compiled active set may take for a first point, and why."""
    plan: Plan = field(default_factory=Plan)
    """The reasons."""

    def first_products(self, problem: Problem, deadline: Deadline) -> float:
        """Products that the compiled active set may take, and has the time for."""
        rate = current().multiplications / max(len(problem.target), 1)
        return min(self.first[0], deadline.left * rate)
