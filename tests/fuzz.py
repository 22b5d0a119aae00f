"""The long campaign: screening safety on as many generated problems as asked for.

Half of them are least squares, judged in exact arithmetic; half are shared out among every loss with
every kind of bounds, judged by the batched reference.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

from properties.test_loss_screening import check_cell
from properties.test_screening_safety import check
from references.loss_families import CELLS
from references.problems import FAMILIES

BATCH = 250


def campaign(task: tuple[str, int, int]) -> tuple[int, int, list[str]]:
    """Judge a range of seeds of one family, or of a loss/kind: problems, screened, complaints."""
    family, first, last = task
    if "/" in family:
        loss, kind = family.split("/")
        return check_cell(loss, kind, range(first, last))
    screened, complaints = 0, []
    for seed in range(first, last):
        try:
            screened += check(family, seed)
        except Exception as error:  # every complaint is collected, none ends the campaign
            complaints.append(f"{family} {seed}: {type(error).__name__}: {error}")
    return last - first, screened, complaints


def _shared(problems: int, names: Sequence[str], first: int) -> list[tuple[str, int, int]]:
    """(name, first seed, end) in batches, the problems shared out evenly."""
    end = first + -(-problems // len(names))
    return [
        (name, start, min(start + BATCH, end))
        for start in range(first, end, BATCH)
        for name in names
    ]


def main() -> int:
    """Run the campaign; exit code 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--first-seed", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    cells = [f"{loss}/{kind}" for loss, kind in CELLS]
    tasks = [
        *_shared(options.problems // 2, FAMILIES, options.first_seed),
        *_shared(options.problems - options.problems // 2, cells, options.first_seed + 1_000),
    ]
    clock, problems, screened, wrong = time.perf_counter(), 0, 0, []
    with ProcessPoolExecutor(options.processes) as pool:
        for done, (count, found, complaints) in enumerate(pool.map(campaign, tasks), 1):
            problems, screened, wrong = problems + count, screened + found, wrong + complaints
            for complaint in complaints:
                print(complaint, flush=True)
            if sys.stderr.isatty():
                print(f"\r{done}/{len(tasks)} batches", end="", file=sys.stderr)
    print(
        f"{problems} problems of {len(FAMILIES)} families and {len(cells)} pairs of loss and bounds, "
        f"{screened} coordinates screened, "
        f"{len(wrong)} complaints, {time.perf_counter() - clock:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
