"""How a problem is to be solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .arrays import Array
from .dual_updates.base import DualUpdate
from .safe_regions.base import SafeRegion
from .solvers.base import PrimalSolver


@dataclass(frozen=True)
class Method:
    """A primal solver, a dual update, a safe region, and a direction into the dual cone."""

    solver: PrimalSolver[Any]
    dual: DualUpdate
    region: SafeRegion
    direction: str | Array = "auto"
    screening: bool = True
