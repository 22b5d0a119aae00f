"""What tables 1 and 2 have in common: four sizes, two algorithms, data as printed and as coded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ..workloads import Variant, bvls_table2, nnls_table1
from .case import Case
from .comparison import NOTE, Comparison, columns, ratio_of, rows, solver_title
from .curves import speedups
from .paper import TABLES
from .scale import Scale
from .section import Column, Drawing, Section, Table
from .store import Cell, Figures
from .theme import Theme
from .ways import four

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIANTS: tuple[Variant, ...] = ("coded", "printed")
_EPOCHS = {
    ("coordinate_descent", "coded"): 2.0,
    ("coordinate_descent", "printed"): 20.0,
    ("projected_gradient", "coded"): 35.0,
    ("projected_gradient", "printed"): 200.0,
    ("chambolle_pock", "coded"): 4.0,
    ("chambolle_pock", "printed"): 10.0,
    ("active_set", "coded"): 0.1,
    ("active_set", "printed"): 0.5,
}
"""Products with A that a baseline takes, in units of n, roughly."""


@lru_cache(maxsize=1)
def _case(table: str, m: int, n: int, variant: Variant) -> Case:
    draw = nnls_table1 if table == "table1" else bvls_table2
    return Case.of(draw(n, m=m, variant=variant))


@dataclass(frozen=True)
class PaperTable:
    """One of the paper's tables."""

    name: str
    title: str
    text: tuple[str, ...]
    solvers: tuple[str, str]
    sizes: Callable[[Scale], tuple[tuple[int, int], ...]]
    paper_sizes: tuple[int, ...]

    def cells(self, scale: Scale) -> list[Cell]:
        """Every size, variant, algorithm and way."""
        held = (
            self.comparison(scale, size, variant, solver)
            for variant in VARIANTS
            for size in self.sizes(scale)
            for solver in self.solvers
        )
        return [cell for one in held for cell in one.cells()]

    def comparison(
        self, scale: Scale, size: tuple[int, int], variant: Variant, solver: str
    ) -> Comparison:
        """One block of the table."""
        m, n = size
        return Comparison(
            key=f"{self.name}-{variant}-{m}x{n}-{solver}",
            draw=partial(_case, self.name, m, n, variant),
            settings={"workload": self.name, "variant": variant, "m": m, "n": n, "solver": solver},
            ways=four(solver),
            expected=_EPOCHS[solver, variant] * n * m * n * 0.6e-9,
            policy=scale.policy,
        )

    def section(self, scale: Scale, held: Mapping[str, Figures]) -> Section:
        """Tables by variant and algorithm, and speedup against size."""
        tables = [
            self._table(scale, held, variant, solver)
            for variant in VARIANTS
            for solver in self.solvers
        ]
        drawing = Drawing(
            self.name,
            "Speedup over the baseline against the number of columns, data as coded: by time (solid "
            "lines) and as printed in the paper (dashed).",
            partial(self._draw, scale, held),
        )
        text = [*self.text, *_smaller(self.sizes(scale), self.paper_sizes)]
        return Section(self.name, self.title, text, tables, [drawing])

    def _table(
        self, scale: Scale, held: Mapping[str, Figures], variant: Variant, solver: str
    ) -> Table:
        found = []
        for size, paper_n, printed in zip(
            self.sizes(scale), self.paper_sizes, TABLES[self.name, solver], strict=True
        ):
            one = self.comparison(scale, size, variant, solver)
            head = {"n": size[1], "paper_n": paper_n}
            found += rows([one], held, head, printed if variant == "coded" else None)
        coded = variant == "coded"
        shown = [Column("n", "n", "count"), *columns(seconds=coded, faster=coded)]
        if coded and _reduced(self.sizes(scale), self.paper_sizes):
            shown.insert(1, Column("paper_n", "paper: n", "count"))
        title = f"{solver_title(solver)}, data as {variant}"
        return Table(title, shown, found, NOTE)

    def _draw(self, scale: Scale, held: Mapping[str, Figures], theme: Theme) -> Figure:
        problems = {}
        for solver in self.solvers:
            ones = [self.comparison(scale, s, "coded", solver) for s in self.sizes(scale)]
            printed = TABLES[self.name, solver]
            lines: dict[str, list[tuple[float, float | None]]] = {
                "paper, printed": [
                    (float(one.settings["n"]), p.speedup)
                    for one, p in zip(ones, printed, strict=True)
                ]
            }
            for way in ones[0].ways[1:]:
                lines[way.label] = [
                    (float(one.settings["n"]), ratio_of(held, one, way, "seconds")) for one in ones
                ]
            problems[solver_title(solver)] = lines
        return speedups(theme, problems, "n", "times faster than the baseline")


def _reduced(sizes: tuple[tuple[int, int], ...], paper: tuple[int, ...]) -> bool:
    return tuple(n for _, n in sizes) != paper


def _smaller(sizes: tuple[tuple[int, int], ...], paper: tuple[int, ...]) -> list[str]:
    if not _reduced(sizes, paper):
        return []
    return [
        "These are smaller problems than the paper's (see the columns n); its figures stand beside "
        "them in order of size. A product takes microseconds here, and much of the time goes to "
        "everything else: look at the work."
    ]
