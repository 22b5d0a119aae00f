"""What screening saves on the paper's tables: work and time with it against without it.

Every row solves one problem three times with the same solver, to the same absolute gap: the plain
algorithm; the plain algorithm with screening, its iterates its own; and as `solve` does it by default,
screening with acceleration and polished points taken up. One process, one BLAS thread; times are the
best of a few runs after a warm-up.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import boxreg
from boxreg.dual_updates import SupportPolish
from boxreg.solvers import SOLVERS
from boxreg.workloads import FIGURE1_BOXES, Workload, bvls_figure1, bvls_table2, nnls_table1

GAP = 1e-6

PAPER = {
    ("nnls-table1-coded", "coordinate_descent"): (3.08, 4.87, 6.75, 7.84),
    ("nnls-table1-coded", "active_set"): (1.25, 1.23, 1.31, 1.38),
    ("bvls-table2-coded", "projected_gradient"): (5.49, 6.47, 6.76, 7.16),
    ("bvls-table2-coded", "chambolle_pock"): (3.41, 4.52, 4.97, 5.48),
}
"""Speedups printed in the paper, by size; drawn there as its code draws the data."""


@dataclass(frozen=True)
class Row:
    """One problem, one solver, all three ways."""

    workload: str
    solver: str
    work_plain: float
    work_screened: float
    work_default: float
    seconds_plain: float
    seconds_screened: float
    seconds_default: float
    screened: float
    verified: bool
    paper: float | None

    def ratios(self, way: str) -> tuple[float, float]:
        """How many times less work, and less time, than the plain algorithm."""
        work, seconds = getattr(self, f"work_{way}"), getattr(self, f"seconds_{way}")
        return self.work_plain / work, self.seconds_plain / seconds


def rows(tables: list[str], largest: int, repeats: int) -> Iterator[Row]:
    """The rows of the chosen tables, as they are measured."""
    sizes1 = [n for n in (1000, 2000, 4000, 6000) if n <= largest]
    sizes2 = [n for n in (500, 1000, 2000, 3000) if n <= largest]
    for variant in ("coded", "printed"):
        if f"table1-{variant}" in tables:
            for i, n in enumerate(sizes1):
                problem = nnls_table1(n, variant=variant)
                for solver in ("coordinate_descent", "active_set"):
                    yield measured(
                        problem, solver, _paper("nnls-table1", variant, solver, i), repeats
                    )
        if f"table2-{variant}" in tables:
            for i, n in enumerate(sizes2):
                problem = bvls_table2(n, variant=variant)
                for solver in ("projected_gradient", "chambolle_pock"):
                    yield measured(
                        problem, solver, _paper("bvls-table2", variant, solver, i), repeats
                    )
    if "figure1" in tables:
        for box in FIGURE1_BOXES:
            for solver in ("projected_gradient", "chambolle_pock"):
                yield measured(bvls_figure1(box), solver, None, repeats)


def _paper(table: str, variant: str, solver: str, i: int) -> float | None:
    return PAPER[(f"{table}-coded", solver)][i] if variant == "coded" else None


def ways(solver: str) -> dict[str, dict[str, Any]]:
    """The arguments of `solve` for the three ways."""
    plain = SOLVERS[solver].plain()
    return {
        "plain": {"solver": plain, "screening": False},
        "screened": {"solver": plain, "dual": SupportPolish(adopt=False)},
        "default": {"solver": solver},
    }


def measured(problem: Workload, solver: str, paper: float | None, repeats: int) -> Row:
    """Solve all three ways and verify the answers."""
    data = (problem.A, problem.y, problem.lower, problem.upper)
    found: dict[str, float] = {}
    verified = True
    for way, arguments in ways(solver).items():
        seconds = np.inf
        for _ in range(repeats):
            clock = time.perf_counter()
            result = boxreg.solve(*data, **arguments, tol=0.0, atol=GAP, max_iter=10_000_000)
            seconds = min(seconds, time.perf_counter() - clock)
        found |= {f"work_{way}": result.work, f"seconds_{way}": seconds}
        proof = boxreg.verify(*data[:2], result.x, result.theta, *data[2:], gap=GAP)
        verified = verified and bool(proof)
    return Row(
        workload=problem.name,
        solver=solver,
        **found,
        screened=result.screening_ratio,
        verified=verified,
        paper=paper,
    )


HEADER = (
    "| workload | solver | work: plain | screened | default | times less | seconds: plain | screened | "
    "default | times faster | paper |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def line(row: Row) -> str:
    """A row of the Markdown table."""
    paper = "–" if row.paper is None else f"{row.paper:.2f}"
    mark = "" if row.verified else " NOT VERIFIED"
    (work1, time1), (work2, time2) = row.ratios("screened"), row.ratios("default")
    return (
        f"| {row.workload} | {row.solver} | {row.work_plain:,.0f} | {row.work_screened:,.0f} | "
        f"{row.work_default:,.0f} | {work1:.1f}, {work2:.1f} | {row.seconds_plain:.3f} | "
        f"{row.seconds_screened:.3f} | {row.seconds_default:.3f} | {time1:.1f}, {time2:.1f} | "
        f"{paper}{mark} |"
    )


def main() -> int:
    """Measure, print a Markdown table, write JSON; exit code 1 if an answer is not verified."""
    tables = ["table1-coded", "table2-coded", "table1-printed", "table2-printed", "figure1"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", choices=tables, default=tables[:2])
    parser.add_argument("--largest", type=int, default=6000, help="leave out larger n")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/ratios"))
    options = parser.parse_args()
    tiny = nnls_table1(30, m=40)
    for solver in ("coordinate_descent", "active_set"):
        boxreg.solve(tiny.A, tiny.y, solver=solver)  # compile before anything is timed
    print(HEADER, flush=True)
    found = []
    for row in rows(options.tables, options.largest, options.repeats):
        found.append(row)
        print(line(row), flush=True)
    versions = {
        "boxreg": boxreg.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    record = {"gap": GAP, "versions": versions, "rows": [asdict(row) for row in found]}
    (options.out / "ratios.json").write_text(json.dumps(record, indent=1))
    return 0 if all(row.verified for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
