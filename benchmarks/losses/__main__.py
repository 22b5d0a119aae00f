"""The race of the losses: `python -m benchmarks.losses [--quick]`; `make bench-losses` runs it."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.race.environment import environment, with_threads
from benchmarks.race.figure import draw
from benchmarks.race.progress import Line
from benchmarks.race.record import Record
from benchmarks.race.timing import FULL, QUICK


def main() -> int:
    options = _options()
    if os.environ.get("OMP_NUM_THREADS") != "1":  # before NumPy is imported, in another process
        command = [sys.executable, "-m", "benchmarks.losses", *sys.argv[1:]]
        return subprocess.run(command, env=with_threads(1), check=False).returncode
    from . import screening
    from .cases import CASES
    from .rivals import CONTESTANTS
    from .worker import Worker

    options.out.mkdir(parents=True, exist_ok=True)
    line = Line()
    settings = {c.name: f"{c.distribution}|{c.settings}" for c in CONTESTANTS.values()}
    record = Record("quick" if options.quick else "full", dict(environment()), settings=settings)
    policy = replace(QUICK, cap=10.0) if options.quick else replace(FULL, cap=60.0)
    worker = Worker(policy, line)
    try:
        record.versions = worker.versions()
        for case in CASES:
            chosen = (
                case.name in options.only if options.only else not options.quick or not case.large
            )
            if chosen and options.race:
                record.cases.append(worker.race(case))
                _write(record, options.out)
        if options.screening:
            record.screening = []
            for row in screening.rows(line.show):
                record.screening.append(row)
                _write(record, options.out)
        record.finished = True
    except KeyboardInterrupt:
        print("interrupted: what was measured is kept", file=sys.stderr)
    line.clear()
    _write(record, options.out)
    draw(record, options.out / "losses")
    print((options.out / "losses.md").read_text())
    return 0 if record.finished else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.losses", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer cases and samples")
    parser.add_argument("--only", nargs="+", metavar="CASE", help="cases by name")
    parser.add_argument("--no-screening", dest="screening", action="store_false", help="races only")
    parser.add_argument("--no-race", dest="race", action="store_false", help="screening only")
    parser.add_argument("--out", type=Path, default=Path("out/losses"))
    return parser.parse_args()


def _write(record: Record, out: Path) -> None:
    from .report import markdown

    record.write(out / "results.json")
    (out / "losses.md").write_text(markdown(record))


if __name__ == "__main__":
    sys.exit(main())
