"""What each acceleration is worth: the default against the same with one thing changed.

Every cell is work / seconds to an absolute gap of 1e-6, best time of a few runs after a warm-up, one
process, one BLAS thread; the stated limit in seconds is marked with `>`. The last column changes all
of it back: the plain algorithm, two-point ball, polish for the dual point only.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import boxreg
from boxreg.dual_updates import SupportPolish
from boxreg.solvers import SOLVERS, ProjectedGradient
from boxreg.workloads import bvls_figure1, bvls_table2, nnls_table1

GAP = 1e-6
Problem = tuple[str, Any, Any, float, float]


def variants(solver: str) -> dict[str, dict[str, Any]]:
    """The default, and what differs from it by one argument."""
    plain = SOLVERS[solver].plain()
    own = SupportPolish(adopt=False)
    anderson = ProjectedGradient(acceleration="anderson")
    return {
        "default": {},
        "no acceleration": {} if solver == "chambolle_pock" else {"solver": plain},
        "Anderson": {"solver": anderson} if solver == "projected_gradient" else {},
        "two-point ball": {"region": "two_point_ball"},
        "dome": {"region": "dome"},
        "own iterates": {"dual": own},
        "line search": {"dual": "line_search"},
        "extrapolated": {"dual": "extrapolated"},
        "line search, ball": {"dual": "line_search", "region": "two_point_ball"},
        "all back": {"solver": plain, "dual": own, "region": "two_point_ball"},
    }


def problems(tables: list[str]) -> Iterator[tuple[Problem, tuple[str, ...]]]:
    """The problems of the chosen tables, and the solvers to run on them."""
    primal, both = ("coordinate_descent",), ("projected_gradient", "chambolle_pock")
    drawn: list[Any] = []
    for variant in ("coded", "printed"):
        if f"table1-{variant}" in tables:
            drawn += [(nnls_table1, n, variant, primal) for n in (1000, 2000, 4000)]
    if "table2" in tables:
        drawn += [(bvls_table2, n, "coded", both) for n in (1000, 2000, 3000)]
    for make, n, variant, solvers in drawn:
        work = make(n, variant=variant)
        yield (work.name, work.A, work.y, work.lower, work.upper), solvers
    if "figure1" in tables:
        for box in (0.1, 0.5, 1.5, 5.0):
            work = bvls_figure1(box, m=1000, n=500)
            yield (f"{work.name}-1000x500", work.A, work.y, work.lower, work.upper), both
    if "nips" in tables:
        yield nips(100), (*primal, "projected_gradient")


def nips(left_out: int) -> Problem:
    """One document by the others, unit columns; reads the folder that BOXREG_DATA names."""
    with np.load(Path(os.environ["BOXREG_DATA"]) / "nips_1-17.npz") as data:
        shape = tuple(data["shape"])
        counts = sparse.csr_array((data["data"], data["indices"], data["indptr"]), shape)
    columns = sparse.csc_array(counts.T.astype(float))
    norms = np.sqrt(np.asarray((columns * columns).sum(axis=0)).ravel())
    columns = sparse.csc_array(columns / norms)
    others = np.delete(np.arange(columns.shape[1]), left_out)
    return "nips", columns[:, others], columns[:, [left_out]].toarray().ravel(), 0.0, np.inf


def cell(problem: Problem, arguments: dict[str, Any], repeats: int, limit: float) -> str:
    """Work / seconds of one variant."""
    best = np.inf
    for _ in range(repeats):
        clock = time.perf_counter()
        result = boxreg.solve(
            *problem[1:],
            **arguments,
            tol=0.0,
            atol=GAP,
            max_iter=10_000_000,
            callback=lambda seen: seen.seconds > limit,
        )
        best = min(best, time.perf_counter() - clock)
        if not result.success:
            return f"> {limit:g} s"
    proof = boxreg.verify(*problem[1:3], result.x, result.theta, *problem[3:], gap=GAP)
    return f"{result.work:,.0f} / {best:.3f}" + ("" if proof else " NOT VERIFIED")


def main() -> int:
    """Print a Markdown table."""
    tables = ["table1-coded", "table1-printed", "table2", "figure1", "nips"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", choices=tables, default=tables)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one run")
    options = parser.parse_args()
    warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
    tiny = nnls_table1(30, m=40)
    for A in (tiny.A, sparse.csc_array(tiny.A)):
        boxreg.solve(A, tiny.y, solver="coordinate_descent")  # compile before anything is timed
    names = list(variants("chambolle_pock"))
    print(f"| workload | solver | {' | '.join(names)} |\n|---|---|{'---:|' * len(names)}")
    wrong = False
    for problem, solvers in problems(options.tables):
        for solver in solvers:
            row = [problem[0], solver]
            for name, changed in variants(solver).items():
                arguments = {"solver": solver} | changed
                skipped = name != "default" and not changed
                row.append(
                    "–" if skipped else cell(problem, arguments, options.repeats, options.limit)
                )
            wrong = wrong or any("NOT" in c for c in row)
            print(f"| {' | '.join(row)} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
