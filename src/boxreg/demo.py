"""Four solvers on synthetic problems, without and with screening: `python -m boxreg.demo`.

Without screening is the plain algorithm; with it, what `solve` does by default. Every answer is
verified from the data alone. The exit code is 1 if a run did not reach the gap asked for or an answer
did not pass.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import solvers
from .api import solve, verify
from .reporting.text import duration
from .result import Result
from .workloads import Workload, bvls_table2, nnls_table1

GAP = 1e-6
SOLVERS = {
    "NNLS": ("coordinate_descent", "active_set"),
    "BVLS": ("projected_gradient", "chambolle_pock"),
}


@dataclass(frozen=True)
class Size:
    """Rows and columns of A in the two problems."""

    nnls: tuple[int, int]
    bvls: tuple[int, int]

    def draw(self) -> dict[str, Workload]:
        """The problems, by the names in SOLVERS."""
        (m, n), (p, q) = self.nnls, self.bvls
        return {"NNLS": nnls_table1(n, m=m), "BVLS": bvls_table2(q, m=p)}


WARM_UP = Size(nnls=(50, 400), bvls=(50, 400))
"""Large enough for lists of candidates, which have kernels of their own."""
SIZES = {
    "small": Size(nnls=(1000, 4000), bvls=(400, 1100)),
    "paper": Size(nnls=(2000, 6000), bvls=(1000, 3000)),
}


@dataclass(frozen=True)
class Run:
    """One solve, and whether its answer passed verification."""

    problem: str
    solver: str
    screening: bool
    result: Result
    verified: bool

    @property
    def label(self) -> str:
        """Name of the run in the figure."""
        return f"{self.problem}, {self.solver}" + ("" if self.screening else ", no screening")


class Bar:
    """How many runs are done, on the line above the solver's own progress; silent in a pipe."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._live = sys.stderr.isatty()
        self._shown = False

    def show(self, done: int, label: str) -> None:
        """Replace the line."""
        if self._live:
            self.clear()
            bar = "█" * (3 * done) + "·" * (3 * (self._total - done))
            print(f"{bar} {done}/{self._total}  {label}", file=sys.stderr, flush=True)
            self._shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\x1b[A\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False


def compute(
    size: Size, announce: Callable[[int, str], None] = lambda done, label: None
) -> list[Run]:
    """All runs, each solver without screening and then with it."""
    runs: list[Run] = []
    for problem, work in size.draw().items():
        for solver in SOLVERS[problem]:
            for screening in (False, True):
                announce(len(runs), f"{problem}, {solver}, screening {_switch(screening)}")
                runs.append(_run(problem, work, solver, screening))
    return runs


def _run(problem: str, work: Workload, solver: str, screening: bool) -> Run:
    box = (work.lower, work.upper)
    method = solver if screening else solvers.SOLVERS[solver].plain()
    result = solve(
        work.A, work.y, *box, solver=method, screening=screening, tol=0.0, atol=GAP, verbose=1
    )
    claim = result.gap if np.isfinite(result.gap) else None
    proof = verify(work.A, work.y, result.x, result.theta, *box, gap=claim)
    return Run(problem, solver, screening, result, bool(proof))


def table(runs: Sequence[Run]) -> str:
    """The runs as aligned columns; ratios compare a screened run with the one before it."""
    head = (
        *("problem", "solver", "screening", "time", "work", "speedup", "less work", "screened"),
        *("gap", "verified"),
    )
    rows = [head, *_cells(runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    # Words to the left, numbers to the right.
    sides = ("<", "<", "<", ">", ">", ">", ">", ">", ">", "<")
    lines = [
        "  ".join(f"{c:{s}{w}}" for c, s, w in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join((lines[0], "  ".join("─" * width for width in widths), *lines[1:]))


def _cells(runs: Sequence[Run]) -> Iterator[tuple[str, ...]]:
    for before, run in zip((None, *runs), runs, strict=False):
        speedup = less_work = ""
        if run.screening and before is not None:
            speedup = f"{before.result.seconds / run.result.seconds:.1f} ×"
            less_work = f"{before.result.work / run.result.work:.1f} ×"
        yield (
            run.problem,
            run.solver,
            _switch(run.screening),
            duration(run.result.seconds),
            f"{run.result.work:,.0f}",
            speedup,
            less_work,
            f"{100.0 * run.result.screening_ratio:.1f} %",
            f"{run.result.gap:.1e}",
            "yes" if run.verified else "NO",
        )


def _switch(screening: bool) -> str:
    return "on" if screening else "off"


def save_figure(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write the convergence figure as PNG and SVG."""
    from .reporting.figure import convergence_figure

    figure = convergence_figure({run.label: run.result for run in runs})
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "convergence.png", folder / "convergence.svg"]
    for path in paths:
        figure.savefig(path, dpi=150)
    return paths


def main(argv: Sequence[str] | None = None, sizes: Mapping[str, Size] = SIZES) -> int:
    """Run the demo; 0 if every run converged and every answer was verified."""
    parser = argparse.ArgumentParser(prog="python -m boxreg.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder for the figure")
    parser.add_argument("--size", choices=sizes, default=next(iter(sizes)), help="problem size")
    options = parser.parse_args(argv)
    size = sizes[options.size]

    bar = Bar(2 * sum(map(len, SOLVERS.values())))
    bar.show(0, "compiling")
    compute(WARM_UP)
    runs = compute(size, bar.show)
    bar.clear()

    (m, n), (p, q) = size.nnls, size.bvls
    print(f"NNLS: A is {m} × {n}, x >= 0.  BVLS: A is {p} × {q}, 0 <= x <= 1.  Gap asked: {GAP:g}.")
    print("Screening off is the plain algorithm, on is the default, with its accelerations.")
    print("Times leave compilation out. Work counts products with A: the same on any machine.\n")
    print(table(runs), end="\n\n")
    try:
        print("Figure:", *save_figure(runs, options.out))
    except ImportError as error:
        print(f"No figure: {error}")
    failed = [run.label for run in runs if not (run.verified and run.result.success)]
    print(f"FAILED: {'; '.join(failed)}" if failed else f"All {len(runs)} answers verified.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
