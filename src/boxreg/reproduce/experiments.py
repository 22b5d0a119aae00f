"""The experiments by name, in the order of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from . import abundance, figure1, figure2, figure3
from .figure4 import EXPERIMENT as FIGURE4
from .figure5 import EXPERIMENT as FIGURE5
from .kullback_leibler import EXPERIMENT as KULLBACK_LEIBLER
from .scale import Scale
from .section import Section
from .store import Cell, Figures
from .table1 import EXPERIMENT as TABLE1
from .table2 import EXPERIMENT as TABLE2


class Experiment(Protocol):
    """What is measured, and how it is shown."""

    def cells(self, scale: Scale) -> list[Cell]:
        """The measurements, in the order in which they are taken."""

    def section(self, scale: Scale, held: Mapping[str, Figures]) -> Section:
        """Tables and figures from what has been measured so far."""


EXPERIMENTS: dict[str, Experiment] = {
    "table1": TABLE1,
    "table2": TABLE2,
    "figure1": figure1,
    "figure2": figure2,
    "figure3": figure3,
    "figure4": FIGURE4,
    "figure5": FIGURE5,
    "kullback_leibler": KULLBACK_LEIBLER,
    "abundance": abundance,
}
