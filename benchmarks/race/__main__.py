"""The race: `python -m benchmarks.race [--quick]`; `make bench` and `make bench-quick` run it."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cases import CASES
from .environment import environment, with_threads
from .figure import draw
from .progress import Line
from .record import Record
from .report import markdown
from .rivals import RIVALS
from .startup import startup
from .targets import SCREENING, verdicts

TOO_SLOW = {"full": 5.0, "quick": 1.5}
"""A contestant that took longer with fewer threads is not started again with more."""


class WorkerDied(Exception):
    """A worker ended before its last case."""


def main() -> int:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    settings = {r.name: f"{r.distribution}|{r.settings}" for r in RIVALS.values()}
    record = Record("quick" if options.quick else "full", dict(environment()), settings=settings)
    try:
        for threads in options.threads:
            for line in _worker(options, record, threads):
                record.versions.update(line.pop("versions", {}))
                if line:
                    record.cases.append(line)
                _write(record, options.out)
        if not options.only:
            _extras(record, options.quick)
        record.finished = True
    except KeyboardInterrupt:
        print("interrupted: what was measured is kept", file=sys.stderr)
    except WorkerDied as error:
        print(f"{error}: what was measured is kept", file=sys.stderr)
    _write(record, options.out)
    paths = [options.out / "results.json", options.out / "race.md"]
    paths += draw(record, options.out / "race")
    found = verdicts(record)
    print((options.out / "race.md").read_text())
    for verdict in found:
        if verdict.reached == "no":
            print(f"not reached: {verdict.target}: {verdict.figure}")
    print("Written: " + " ".join(map(str, paths)))
    return 0 if record.finished else 1


def _options() -> argparse.Namespace:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.race", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer cases, shorter caps")
    parser.add_argument("--only", nargs="+", choices=names, metavar="CASE", help=", ".join(names))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rivals-python", type=Path, default=Path(".venv-rivals/bin/python"))
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    return parser.parse_args()


def _worker(options: argparse.Namespace, record: Record, threads: int) -> Iterator[dict[str, Any]]:
    """Race in a process of its own; its lines, as they come."""
    chosen = options.only or [
        case.name
        for case in CASES
        if not options.quick or (case.quick and (threads == 1 or case.large))
    ]
    command = [sys.executable, "-m", "benchmarks.race.worker"]
    command += ["--rivals-python", str(options.rivals_python), "--slow", json.dumps(_slow(record))]
    command += ["--quick"] * options.quick + ["--cases", *chosen]
    worker = subprocess.Popen(command, env=with_threads(threads), stdout=subprocess.PIPE, text=True)
    assert worker.stdout
    try:
        for line in worker.stdout:
            yield json.loads(line)
        if worker.wait() != 0:
            raise WorkerDied(f"the worker with {threads} thread(s) ended with {worker.returncode}")
    finally:
        if worker.poll() is None:
            worker.terminate()
            worker.wait()


def _slow(record: Record) -> dict[str, list[str]]:
    """case → those who were over their time, or near it, so far."""
    return {
        case["case"]: [
            held["solver"]
            for held in case["entries"]
            if not held["solver"].startswith("boxreg.")
            and (held["status"] == "over" or (held["seconds"] or 0.0) > TOO_SLOW[record.kind])
        ]
        for case in record.cases
        if "entries" in case
    }


def _extras(record: Record, quick: bool) -> None:
    """Start-up times; in a full race also what screening saves the iterative solvers."""
    line = Line()
    line.show("start-up times")
    record.startup = startup(3 if quick else 7)
    if not quick:
        record.screening = []
        for workload, solver, _ in SCREENING:
            line.show(f"screening off and on: {workload}, {solver}")
            record.screening.append(_screening(workload, solver))
    line.clear()


def _screening(workload: str, solver: str) -> dict[str, Any]:
    """One row of `benchmarks.ratios`, in a process of its own with one thread."""
    code = (
        "import json; from dataclasses import asdict; from benchmarks import ratios; "
        "from boxreg.workloads import bvls_table2, nnls_table1; "
        f"table, n = {workload!r}.rsplit('-n', 1); "
        "draw = nnls_table1 if 'table1' in table else bvls_table2; "
        f"tiny = draw(30, m=40); ratios.measured(tiny, {solver!r}, None, 1); "
        f"print(json.dumps(asdict(ratios.measured(draw(int(n)), {solver!r}, None, 1))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=with_threads(1),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def _write(record: Record, out: Path) -> None:
    record.write(out / "results.json")
    (out / "race.md").write_text(markdown(record))


if __name__ == "__main__":
    sys.exit(main())
