"""What screening saves on the paper's tables: work and time with it against without it.

Every row solves one problem twice with the same solver, to the same absolute gap, screening off and
on, in one process with one BLAS thread; times are the best of a few runs after a warm-up.
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

import numpy as np
import scipy

import boxreg
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
    """One problem, one solver, both ways."""

    workload: str
    solver: str
    work_off: float
    work_on: float
    seconds_off: float
    seconds_on: float
    screened: float
    verified: bool
    paper: float | None

    @property
    def work_ratio(self) -> float:
        """How many times less work."""
        return self.work_off / self.work_on

    @property
    def time_ratio(self) -> float:
        """How many times faster."""
        return self.seconds_off / self.seconds_on


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


def measured(problem: Workload, solver: str, paper: float | None, repeats: int) -> Row:
    """Solve both ways and verify both answers."""
    work, seconds, result = {}, {True: np.inf, False: np.inf}, None
    verified = True
    for screening in (False, True):
        for _ in range(repeats):
            clock = time.perf_counter()
            result = boxreg.solve(
                problem.A,
                problem.y,
                problem.lower,
                problem.upper,
                solver=solver,
                screening=screening,
                tol=0.0,
                atol=GAP,
                max_iter=10_000_000,
            )
            seconds[screening] = min(seconds[screening], time.perf_counter() - clock)
        work[screening] = result.work
        certificate = boxreg.verify(
            problem.A, problem.y, result.x, result.theta, problem.lower, problem.upper, gap=GAP
        )
        verified = verified and certificate.valid
    return Row(
        workload=problem.name,
        solver=solver,
        work_off=work[False],
        work_on=work[True],
        seconds_off=seconds[False],
        seconds_on=seconds[True],
        screened=result.screening_ratio,
        verified=verified,
        paper=paper,
    )


HEADER = (
    "| workload | solver | work off | work on | ratio | s off | s on | ratio | paper | screened |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def line(row: Row) -> str:
    """A row of the Markdown table."""
    paper = "–" if row.paper is None else f"{row.paper:.2f}"
    mark = "" if row.verified else " NOT VERIFIED"
    return (
        f"| {row.workload} | {row.solver} | {row.work_off:,.0f} | {row.work_on:,.0f} | "
        f"{row.work_ratio:.2f} | {row.seconds_off:.3f} | {row.seconds_on:.3f} | "
        f"{row.time_ratio:.2f} | {paper} | {row.screened:.1%}{mark} |"
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
