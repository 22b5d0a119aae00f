"""Generated problems of every family: our objective against SciPy's and skglm's; `make campaign`.

Exit code 1 if an answer is worse beyond rounding, infeasible, an error, or late.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
    os.environ.setdefault(f"{_name}_NUM_THREADS", "1")

import argparse
import json
import sys
import time
from pathlib import Path

from . import lanes
from .judge import Tally, judge

from references.problems import FAMILIES, generated  # isort: skip

BATCH = 200


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign", description=__doc__)
    parser.add_argument("--per-family", type=int, default=10_000)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cap", type=float, default=5.0, help="wall-clock seconds per solve")
    parser.add_argument("--out", type=Path, default=Path("out/campaign"))
    options = parser.parse_args()
    end = options.first_seed + options.per_family
    tasks = [
        (family, first, min(first + BATCH, end))
        for first in range(options.first_seed, end, BATCH)
        for family in options.families
    ]
    for family in FAMILIES:  # compile before anything is capped
        judge(generated(family, 0), family, 300.0, Tally())
    clock, total = time.perf_counter(), Tally()
    for done, tally in enumerate(lanes.run(tasks, options.processes, options.cap), 1):
        total.add(tally)
        for complaint in tally.complaints:
            print(complaint, flush=True)
        if sys.stderr.isatty():
            text = f"{done}/{len(tasks)} batches, {len(total.complaints)} complaints"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - clock
    print(summary(total, len(options.families), seconds))
    options.out.mkdir(parents=True, exist_ok=True)
    record = {**total.__dict__, "seconds": seconds, "per_family": options.per_family}
    (options.out / "campaign.json").write_text(json.dumps(record, indent=1))
    return 1 if total.complaints else 0


def summary(total: Tally, families: int, seconds: float) -> str:
    lines = [
        f"{total.problems} problems of {families} families, {len(total.complaints)} complaints, "
        f"{seconds:.0f} s; slowest answer of ours {total.slowest:.2f} s; rounding used at most "
        f"{total.worst:.1e} of its allowance."
    ]
    for name, count in sorted(total.compared.items()):
        lines.append(
            f"  against {name}: {count} comparisons, strictly better {total.strictly_better[name]}, "
            f"worse within rounding {total.excused[name]}; {name} gave no answer "
            f"{total.no_answer[name]} times"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
