"""Every contestant; boxreg's functions first, then solvers without a tolerance, then hunted ones."""

from __future__ import annotations

from benchmarks.race.rivals import Rival

from .least_squares import LEAST_SQUARES
from .losses import LOSSES
from .ours import OURS

CONTESTANTS: dict[str, Rival] = {held.name: held for held in (*OURS, *LEAST_SQUARES, *LOSSES)}

__all__ = ["CONTESTANTS", "OURS"]
