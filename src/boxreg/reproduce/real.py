"""What figures 4 and 5 have in common: two algorithms on several problems of one real data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from . import data
from .case import Case
from .comparison import NOTE, Comparison, columns, rows, solver_title
from .curves import convergence
from .paper import SPEEDUPS
from .scale import Scale
from .section import Drawing, Section, Table
from .store import Cell, Figures
from .theme import Theme
from .ways import Way, four

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draws = Callable[[Scale], Mapping[str, Callable[[], Case]]]


@dataclass(frozen=True)
class RealFigure:
    """A figure of the paper on real data; medians over several problems.

    variants: problems by name, for each way to prepare the data. Printed figures stand beside the
    first.
    """

    name: str
    title: str
    text: tuple[str, ...]
    dataset: str
    solvers: tuple[str, ...]
    variants: Mapping[str, Draws]
    expected: float
    longest: float = np.inf
    """Seconds for a run, if that is less than the run's own limit."""
    ways: Callable[[str], list[Way]] = four

    def cells(self, scale: Scale) -> list[Cell]:
        """Every problem, algorithm and way."""
        held = (
            one
            for variant in self.variants
            for solver in self.solvers
            for one in self.comparisons(scale, variant, solver)
        )
        return [cell for one in held for cell in one.cells()]

    def comparisons(self, scale: Scale, variant: str, solver: str) -> list[Comparison]:
        """One for each problem."""
        return [
            Comparison(
                key=f"{self.name}-{problem}-{solver}",
                draw=draw,
                settings={
                    "workload": self.name,
                    "problem": problem,
                    "solver": solver,
                    "data": data.origin(self.dataset),
                },
                ways=self.ways(solver),
                expected=self.expected,
                policy=replace(scale.policy, cap=min(scale.policy.cap, self.longest)),
            )
            for problem, draw in self.variants[variant](scale).items()
        ]

    def section(self, scale: Scale, held: Mapping[str, Figures]) -> Section:
        """A table for each variant and algorithm; gap and screening ratio of the first problem."""
        tables = [
            self._table(held, variant, solver, self.comparisons(scale, variant, solver))
            for variant in self.variants
            for solver in self.solvers
        ]
        first = next(iter(self.variants))
        pairs = {s: self.comparisons(scale, first, s)[0] for s in self.solvers}
        drawing = Drawing(
            self.name,
            "Gap and screening ratio against time, the first of the problems.",
            partial(_draw, pairs, held),
        )
        title = data.titled(self.title, self.dataset)
        text = data.explained(list(self.text), self.dataset)
        return Section(self.name, title, text, tables, [drawing])

    def _table(
        self,
        held: Mapping[str, Figures],
        variant: str,
        solver: str,
        comparisons: Sequence[Comparison],
    ) -> Table:
        printed = SPEEDUPS.get((self.name, solver))
        first = variant == next(iter(self.variants))
        found = rows(comparisons, held, {}, printed if first else None)
        shown = columns(faster=printed is not None and first)
        count = len(comparisons)
        several = f", medians over {count} problems" if count > 1 else ""
        label = f", {variant}" if len(self.variants) > 1 else ""
        return Table(f"{solver_title(solver)}{label}{several}", shown, found, NOTE)


def _draw(pairs: Mapping[str, Comparison], held: Mapping[str, Figures], theme: Theme) -> Figure:
    problems = {
        solver_title(solver): {way.label: one.found(held, way) for way in one.ways}
        for solver, one in pairs.items()
    }
    return convergence(theme, problems)
