"""The race on problems as scientists bring them: `python -m benchmarks.wild`; `make wild` runs it.

Seeds are raced in order until the time is up. What was raced is kept in OUT/problems.jsonl: the same
command goes on where it stopped, and `--add` takes other folders' problems into the report.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.race.environment import environment, with_threads
from benchmarks.race.guard import describe
from benchmarks.race.progress import Line
from benchmarks.race.record import Record
from benchmarks.race.timing import Policy

POLICY = Policy(cap=60.0, once=1.0, budget=0.12, least=3, most=12, sample=3e-3)


def main() -> int:
    if os.environ.get("OMP_NUM_THREADS") != "1":  # before NumPy is imported, in another process
        command = [sys.executable, "-m", "benchmarks.wild", *sys.argv[1:]]
        return subprocess.run(command, env=with_threads(1), check=False).returncode
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    from .rivals import CONTESTANTS

    settings = {r.name: f"{r.distribution}|{r.settings}" for r in CONTESTANTS.values()}
    record = Record("wild", _environment(options), settings=settings)
    rows = _read([options.out, *options.add])
    record.cases = [rows[seed] for seed in sorted(rows)]
    _restore(record, [options.out, *options.add])
    try:
        _race(options, record, set(rows))
        if options.clients:
            record.clients = _clients()
        record.finished = True
    except KeyboardInterrupt:
        print("interrupted: what was measured is kept", file=sys.stderr)
    paths = _write(record, options.out)
    print((options.out / "wild.md").read_text())
    print("Written: " + " ".join(map(str, paths)))
    return 0 if record.finished else 1


def _options() -> argparse.Namespace:
    from .drawing import REPORT, TUNING

    parser = argparse.ArgumentParser(prog="python -m benchmarks.wild", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=15.0, help="time to race for (15); 0: report only"
    )
    parser.add_argument("--first", type=int, default=TUNING.start, help="first seed (0)")
    parser.add_argument("--count", type=int, help="seeds at most; default: as many as time allows")
    parser.add_argument("--seeds", type=int, nargs="+", help="these seeds instead")
    parser.add_argument(
        "--report",
        action="store_true",
        help=f"seeds from {REPORT.start}: for published figures only",
    )
    parser.add_argument(
        "--piece", default="1/1", metavar="I/K", help="every K-th seed, the I-th of each K"
    )
    parser.add_argument(
        "--add", type=Path, nargs="+", default=[], metavar="OUT", help="count these folders too"
    )
    parser.add_argument("--quick", action="store_true", help="shorter patience with the others")
    parser.add_argument("--no-clients", dest="clients", action="store_false")
    parser.add_argument("--rivals-python", type=Path, default=Path(".venv-rivals/bin/python"))
    parser.add_argument("--out", type=Path, default=Path("out/wild"))
    options = parser.parse_args()
    if options.report:
        options.first = REPORT.start
    return options


def _seeds(options: argparse.Namespace) -> Any:
    if options.seeds:
        return options.seeds
    piece, pieces = map(int, options.piece.split("/"))
    last = options.first + options.count if options.count else options.first + 1_000_000
    return range(options.first + piece - 1, last, pieces)


def _environment(options: argparse.Namespace) -> dict[str, Any]:
    from .drawing import GENERATION

    def git(*arguments: str) -> str:
        said = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
        return said.stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return {
        **environment(),
        "commit": (git("rev-parse", "--short", "HEAD") or "unknown") + changed,
        "command": shlex.join(["python", "-m", "benchmarks.wild", *sys.argv[1:]]),
        "generation": GENERATION,
        "seeds": "none",
    }


def _read(folders: list[Path]) -> dict[int, dict[str, Any]]:
    """The problems that were raced, by seed; of two records of a seed the first counts."""
    rows: dict[int, dict[str, Any]] = {}
    for folder in folders:
        path = folder / "problems.jsonl"
        if path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                rows.setdefault(row["seed"], row)
    return rows


def _restore(record: Record, folders: list[Path]) -> None:
    """Versions and replayed calls of the runs before, for a run that only adds to them or reports."""
    for path in (folder / "results.json" for folder in folders):
        if path.exists():
            before = Record.read(path)
            record.versions = {**before.versions, **record.versions}
            record.clients = record.clients or before.clients


def _race(options: argparse.Namespace, record: Record, done: set[int]) -> None:
    """Race seeds until the time is up; each is written as it ends."""
    if options.minutes <= 0.0:
        return
    from .heat import Patience, Pool

    end, line = time.monotonic() + 60.0 * options.minutes, Line()
    patience = Patience(multiple=4.0, least=0.5, unproved=5.0) if options.quick else Patience()
    policy = replace(POLICY, budget=0.05, most=6) if options.quick else POLICY
    pool = Pool(options.rivals_python.absolute())
    try:
        pool.start(line.show)
        record.versions |= pool.versions
        if "boxreg.solve" in pool.out:
            raise SystemExit(f"boxreg {pool.out['boxreg.solve']}")
        for name, why in pool.out.items():
            print(f"{name} takes no part: {why}", file=sys.stderr)
        with (options.out / "problems.jsonl").open("a") as stream:
            for seed in _seeds(options):
                if time.monotonic() > end:
                    break
                if seed not in done:
                    line.prefix = f"seed {seed}  "
                    row = _raced(seed, pool, policy, patience, line)
                    stream.write(json.dumps(row) + "\n")
                    stream.flush()
                    record.cases.append(row)
    finally:
        line.clear()
        pool.close()


def _raced(seed: int, pool: Any, policy: Policy, patience: Any, line: Line) -> dict[str, Any]:
    """One problem: what was drawn, and what everybody did."""
    from .drawing import draw
    from .heat import race

    line.show("drawing")
    begin = time.monotonic()
    problem = draw(seed)
    m, n = problem.shape
    terms = [name for name in ("weights", "linear") if getattr(problem, name) is not None]
    row: dict[str, Any] = {
        "seed": seed,
        "family": problem.family,
        "m": m,
        "n": n,
        "stored": problem.entries,
        "count": problem.count,
        "loss": problem.loss,
        "bounds": problem.bounds,
        "layout": problem.layout,
        "terms": " ".join(terms + ["ridge"] * (problem.ridge > 0.0)),
    }
    try:
        row["entries"] = race(problem, pool, policy, patience, line.show)
    except Exception as error:  # the race's own fault: visible, and the others go on
        row["entries"] = []
        print(f"seed {seed}: not raced: {describe(error)}", file=sys.stderr)
    return {**row, "wall_seconds": round(time.monotonic() - begin, 1)}


def _clients() -> list[dict[str, Any]]:
    """The replay in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.wild.clients"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    except subprocess.SubprocessError as error:
        return [{"program": "all", "skipped": describe(error)}]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _write(record: Record, out: Path) -> list[Path]:
    from .figure import draw
    from .report import markdown

    seeds = [row["seed"] for row in record.cases]
    if seeds:
        record.environment["seeds"] = f"{min(seeds)} to {max(seeds)}"
    record.write(out / "results.json")
    (out / "wild.md").write_text(markdown(record))
    return [out / "results.json", out / "wild.md", *draw(record, out / "wild")]


if __name__ == "__main__":
    sys.exit(main())
