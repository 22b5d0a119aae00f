"""Every table and figure of the paper, beside the paper's own figures: `boxreg reproduce`."""

from __future__ import annotations

from .command import main
from .experiments import EXPERIMENTS
from .running import Outcome, run
from .scale import FULL, QUICK, SCALES, Scale

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "SCALES", "Outcome", "Scale", "main", "run"]
