"""The long campaign: screening safety on as many generated problems as asked for."""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

from properties.test_screening_safety import check
from references.problems import FAMILIES


def campaign(task: tuple[str, int, int]) -> tuple[int, int, list[str]]:
    """Judge a range of seeds of one family: problems, screened coordinates, complaints."""
    family, first, last = task
    screened, complaints = 0, []
    for seed in range(first, last):
        try:
            screened += check(family, seed)
        except Exception as error:  # every complaint is collected, none ends the campaign
            complaints.append(f"{family} {seed}: {type(error).__name__}: {error}")
    return last - first, screened, complaints


def main() -> int:
    """Run the campaign; exit code 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--first-seed", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    per_family = -(-options.problems // len(FAMILIES))
    end = options.first_seed + per_family
    tasks = [
        (family, first, min(first + 250, end))
        for first in range(options.first_seed, end, 250)
        for family in FAMILIES
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
        f"{problems} problems of {len(FAMILIES)} families, {screened} coordinates screened, "
        f"{len(wrong)} complaints, {time.perf_counter() - clock:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
