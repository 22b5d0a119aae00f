"""The long campaign: problems with known solutions through every path, judged exactly.

    python tests/fuzz.py                              200,000 problems, about half an hour on two cores
    python tests/fuzz.py --quick                      a few for every variant, about a minute without JIT
    python tests/fuzz.py --first-seed 0 --problems 20000 --into out/fuzz.json     a piece of it
    python tests/fuzz.py --first-seed 400 --problems 20000 --into out/fuzz.json   the next, added to it

Exit code 1 on any complaint. What is judged: docs/judging.md.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from zlib import crc32

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

from judge import FAMILIES, LARGE_FAMILIES, LARGEST_FAMILIES, Record, fitting, judged, make
from paths import CUDA, PATHS, REAL, VARIANTS, PathLog, Variant
from properties.test_loss_screening import check_cell
from references.loss_families import CELLS
from rivals import lbfgsb

_STRIDE = 7
"""Steps through the families in a quick run; it has no factor in common with their number."""

SHARES = {"small": 0.75, "cells": 0.24, "large": 0.009, "largest": 0.001}
"""How the problems are shared out: exact references with a few columns, references in longdouble for
every loss and kind of bounds, planted solutions with 100 to 700 and with 400 to 3000 columns."""

BATCH = {"small": 100, "cells": 250, "large": 4, "largest": 1}
KEPT = 50
"""Figures are written to their file after so many batches."""
LOGGED = 8
"""Paths are logged for one problem in so many: the log takes as long as a small solve."""

SLOWEST = 5
SECONDS, TIMES = 1.0, 20.0
"""A call should take at most so many times L-BFGS-B's time, and a second more."""

Task = tuple[str, str, int, int]


@dataclass
class Figures:
    """What became of the problems judged so far."""

    problems: Counter[str] = field(default_factory=Counter)
    screened: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    variants: Counter[str] = field(default_factory=Counter)
    variants_wrong: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    logged: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    slow: list[tuple[float, str, int, str, float]] = field(default_factory=list)
    """Seconds, family, seed, variant and work of the slowest calls."""

    def note(self, record: Record, seed: int, logged: bool) -> None:
        """Count one judged problem."""
        self.problems[record.family] += 1
        self.screened[record.family] += record.screened
        self.variants[record.variant] += 1
        if record.status:
            self.statuses[record.status] += 1
        if logged:
            self.logged["all"] += 1
            self.paths.update(record.paths)
        if record.complaints:
            self.wrong[record.family] += 1
            self.variants_wrong[record.variant] += 1
            self.complaints += record.complaints
        if "GPU" not in record.variant:  # simulated ones take seconds
            self.slow.append((record.seconds, record.family, seed, record.variant, record.work))
            self._trim()

    def add(self, other: Figures) -> None:
        """Count those of another piece too."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, Counter):
                mine.update(value)
            else:
                mine.extend(value)
        self._trim()

    def _trim(self) -> None:
        if len(self.slow) > 4 * SLOWEST:
            guarded = [one for one in self.slow if one[0] > SECONDS]
            self.slow = heapq.nlargest(max(SLOWEST, len(guarded)), self.slow)

    @classmethod
    def read(cls, path: Path) -> Figures:
        """Those of earlier pieces; none if there is no such file."""
        figures = cls()
        if path.exists():
            figures.add(cls.of(path.read_text()))
        return figures

    @classmethod
    def of(cls, text: str) -> Figures:
        """As `write` has them."""
        held = json.loads(text)
        slow = [tuple(one) for one in held.pop("slow")]
        complaints = held.pop("complaints")
        return cls(**{k: Counter(v) for k, v in held.items()}, complaints=complaints, slow=slow)

    def write(self, path: Path) -> None:
        """Keep them for the next piece."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(vars(self), indent=1, ensure_ascii=False))


@cache
def _log() -> PathLog:
    return PathLog()


def run(task: Task) -> Figures:
    """Judge a range of seeds of one family."""
    kind, family, first, last = task
    figures = Figures()
    if kind == "cells":
        loss, bounds = family.split("/")
        try:
            count, screened, complaints = check_cell(loss, bounds, range(first, last))
        except Exception as error:  # every complaint is collected, none ends the campaign
            told = f"{family} {first} to {last}: {type(error).__name__}: {error}"
            count, screened, complaints = last - first, 0, [told]
        figures.problems[family], figures.screened[family] = count, screened
        figures.wrong[family], figures.complaints = len(complaints), complaints
        return figures
    variants = {"small": VARIANTS, "cuda": CUDA}.get(kind, REAL)
    for seed in range(first, last):
        problem = make(family, seed)
        able = fitting(problem, variants)
        if able:
            one = able[(seed + crc32(family.encode())) % len(able)]
            logged = kind != "small" or seed % LOGGED == crc32(one.name.encode()) % LOGGED
            figures.note(judged(problem, one, _log() if logged else None), seed, logged)
    return figures


def run_quick(names: Sequence[str]) -> Figures:
    """Some problems for every variant named, of as many families as take it."""
    figures = Figures()
    for variant in VARIANTS:
        if variant.name in names:
            for seed, record in _some(variant):
                figures.note(record, seed, True)
    return figures


def _some(variant: Variant) -> Iterable[tuple[int, Record]]:
    """The problems of a quick run with a variant, and what became of them."""
    done = 0
    start = crc32(variant.name.encode())
    for k in range(40 * len(FAMILIES)):
        family = FAMILIES[(start + _STRIDE * k) % len(FAMILIES)]
        seed = (start + k) % 997
        problem = make(family, seed)
        if variant.fits(problem):
            yield seed, judged(problem, variant, _log())
            done += 1
        if done == variant.quick:
            return


def tasks(problems: int, first: int) -> list[Task]:
    """Ranges of seeds, the small problems first."""
    names = {
        "small": FAMILIES,
        "cells": [f"{loss}/{kind}" for loss, kind in CELLS],
        "large": LARGE_FAMILIES,
        "largest": LARGEST_FAMILIES,
    }
    found: list[Task] = []
    for kind, share in SHARES.items():
        families, size = names[kind], BATCH[kind]
        total = round(problems * share)
        each, more = divmod(total, len(families))
        for k, family in enumerate(families):
            end = first + each + (k < more)
            found += [(kind, family, a, min(a + size, end)) for a in range(first, end, size)]
    return found


def report(figures: Figures, seconds: float) -> str:
    """Figures by family, variant and path, and the slowest calls."""
    lines = ["", f"{'family':38} {'problems':>9} {'screened':>9} {'complaints':>10}"]
    for family, count in sorted(figures.problems.items()):
        screened, wrong = figures.screened[family], figures.wrong[family]
        lines.append(f"{family:38} {count:9,} {screened:9,} {wrong:10,}")
    lines += ["", f"{'variant':38} {'problems':>9} {'complaints':>10}"]
    for variant, count in sorted(figures.variants.items()):
        lines.append(f"{variant:38} {count:9,} {figures.variants_wrong[variant]:10,}")
    lines += ["", f"{'path':38} {'problems':>9}   of {figures.logged['all']:,} logged"]
    lines += [f"{name:38} {figures.paths[name]:9,}" for name in PATHS]
    lines += ["", "statuses: " + ", ".join(f"{k} {v:,}" for k, v in figures.statuses.most_common())]
    lines += ["", *_guard(figures)]
    missed = [name for name in PATHS if not figures.paths[name]]
    if missed:
        lines.append(f"paths not taken: {', '.join(missed)}")
    lines.append(
        f"{sum(figures.problems.values()):,} problems, {sum(figures.screened.values()):,} "
        f"coordinates screened, {sum(figures.wrong.values()):,} problems with complaints, "
        f"{seconds:.0f} s"
    )
    return "\n".join(lines)


def _guard(figures: Figures) -> Iterable[str]:
    """Every call that took long, beside L-BFGS-B; those over the mark, and the slowest, line by line."""
    slow = [one for one in heapq.nlargest(len(figures.slow), figures.slow) if one[0] > SECONDS]
    over = reached = 0
    for place, (first, family, seed, variant, work) in enumerate(slow):
        problem = make(family, seed)
        (one,) = (v for v in (*VARIANTS, *REAL) if v.name == variant)
        sides = len(problem.more) + 2 if one.entry == "solve_many" else 1
        theirs = lbfgsb(problem, enough=first / TIMES / sides)
        mark = math.inf if theirs is None else TIMES * theirs.seconds * sides + SECONDS
        seconds = first
        if seconds > mark:  # the clock of a busy machine, and of kernels that had to be compiled
            seconds = min(first, *(judged(problem, one).seconds for _ in range(2)))
        told = "no rival" if theirs is None else f"L-BFGS-B {theirs.seconds * sides:.3f} s"
        if theirs is not None and seconds > mark:
            minimum = theirs.reached()
            over, reached = over + 1, reached + minimum
            told += "" if minimum else ", which does not reach the minimum"
        if place < SLOWEST or seconds > mark:
            yield f"slow: {seconds:.3f} s, work {work:.1f}, {told}: {family} {seed} [{variant}]"
    yield (
        f"{len(slow)} calls over {SECONDS:g} s, of which {over} took more than {TIMES:g} times "
        f"L-BFGS-B's time and {SECONDS:g} s, {reached} where it reaches the minimum"
    )


def simulate(problems: int, first: int) -> Figures:
    """A few problems on a GPU that numba simulates, in a process of its own."""
    code = (
        "import sys, json; sys.path.insert(0, 'tests'); import fuzz; "
        f"f = fuzz.device({problems}, {first}); print(json.dumps(vars(f)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    figures = Figures()
    if done.returncode:
        figures.complaints.append(f"the simulated GPU: {done.stderr[-2000:]}")
        figures.wrong["simulated GPU"] += 1
        return figures
    return Figures.of(done.stdout.splitlines()[-1])


def device(problems: int, first: int) -> Figures:
    """Judge some problems with the kernels for GPUs."""
    figures, families = Figures(), [f for f in FAMILIES if "antisparse" not in f]
    for k in range(4 * problems):
        if sum(figures.problems.values()) < problems:
            figures.add(run(("cuda", families[k % len(families)], first + k, first + k + 1)))
    return figures


def main() -> int:
    """Run the campaign; exit code 1 if anything was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=200_000)
    parser.add_argument("--first-seed", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--device", type=int, default=24, help="problems on a simulated GPU")
    parser.add_argument("--into", type=Path, help="add the figures to those in this file")
    parser.add_argument("--quick", action="store_true", help="a few problems for every variant")
    parser.add_argument("--only", default="", help="families whose name has this in it")
    options = parser.parse_args()
    clock, figures = time.perf_counter(), Figures()
    if options.quick:
        work = [[variant.name] for variant in VARIANTS]
        each = run_quick
    else:
        work = [t for t in tasks(options.problems, options.first_seed) if options.only in t[1]]
        each = run
    if options.into:
        figures.add(Figures.read(options.into))
    with ProcessPoolExecutor(options.processes) as pool:
        # Those that take longest come first, or some processes would have nothing to do at the end.
        running = [pool.submit(each, one) for one in reversed(work)]
        for done, batch in enumerate(as_completed(running), 1):
            piece = batch.result()
            figures.add(piece)
            for complaint in piece.complaints:
                print(complaint, flush=True)
            if sys.stderr.isatty():
                print(f"\r{done}/{len(work)} batches", end="", file=sys.stderr)
            if options.into and done % KEPT == 0:  # a campaign that is cut short loses little
                figures.write(options.into)
    if options.device and not options.only:
        figures.add(simulate(4 if options.quick else options.device, options.first_seed))
    if options.into:
        figures.write(options.into)
    print(report(figures, time.perf_counter() - clock))
    return 1 if figures.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
