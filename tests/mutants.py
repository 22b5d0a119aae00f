"""Plant faults in what proofs pass through, one at a time, and see that a test kills each.

python tests/mutants.py                     all of them
python tests/mutants.py gap residual        those whose name contains one of these words
python tests/mutants.py --page docs/mutants.md      also write what killed what into that page

Each fault goes into a copy of the source of its own, and tests run from a copy too. Kernels run as plain
Python, those for GPUs in numba's simulator, so that nothing has to be compiled. Exit code 1 where a
mutant survives, 2 where the table does not fit the source or a killer fails without any fault.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from planted import Mutant, all_mutants

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "boxreg"
TAKEN = ("tests", "pyproject.toml", "CONTRIBUTING.md")
"""What killers need beside the source."""
QUIET = "ignore::RuntimeWarning"
"""Kernels divide by 0 as they mean to; where they are not compiled, NumPy warns of it."""
LIMIT = 900.0
"""Seconds for one killer: a fault may lead to an endless loop, which is a way to be found too."""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the test that failed, or nothing."""

    mutant: Mutant
    killer: str
    seconds: float

    @property
    def survived(self) -> bool:
        """Whether no test failed."""
        return not self.killer


def environment(package: Path) -> dict[str, str]:
    """That of a killer: the copy is what is imported, nothing is compiled, and one thread computes."""
    return {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "NUMBA_DISABLE_JIT": "1",
        "NUMBA_ENABLE_CUDASIM": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def failed_test(snapshot: Path, package: Path, killer: str) -> str:
    """The first test of a killer that fails with that package; empty if none does."""
    options = ["-x", "-p", "no:cacheprovider", "-W", QUIET]
    command = [sys.executable, "-m", "pytest", *options, killer]
    try:
        done = subprocess.run(
            command,
            cwd=snapshot,
            env=environment(package),
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return f"{killer} (no end)"
    if done.returncode == 0:
        return ""
    failures = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    if done.returncode != 1 or not failures:
        raise RuntimeError(f"{killer} did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return failures[0].removeprefix("FAILED ").split(" - ")[0]


def misfit(mutant: Mutant) -> str:
    """Why a mutant does not fit the source; empty if it does."""
    try:
        mutant.planted((SOURCE / mutant.file).read_text(encoding="utf-8"))
    except (ValueError, FileNotFoundError) as error:
        return str(error)
    return ""


def copied(source: Path, target: Path) -> Path:
    """A copy of a file or folder, without what was compiled."""
    if source.is_file():
        return Path(shutil.copy(source, target))
    return Path(shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__")))


def judged(snapshot: Path, mutant: Mutant) -> Verdict:
    """Plant a fault and run its killers until one fails."""
    clock = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        package = copied(snapshot / "src" / "boxreg", Path(folder) / "boxreg")
        path = package / mutant.file
        path.write_text(mutant.planted(path.read_text(encoding="utf-8")), encoding="utf-8")
        found = ""
        for killer in mutant.killers:
            found = failed_test(snapshot, package, killer)
            if found:
                break
    return Verdict(mutant, found, time.perf_counter() - clock)


def sound(snapshot: Path, killers: Sequence[str], processes: int) -> list[str]:
    """Tests that fail although nothing is planted."""
    package = snapshot / "src" / "boxreg"
    where = subprocess.run(
        [sys.executable, "-c", "import boxreg; print(boxreg.__file__)"],
        env=environment(package),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    if Path(where).parent != package:
        raise RuntimeError(f"killers would import {where}, not the copy with the fault")
    with ThreadPoolExecutor(processes) as pool:
        failed = pool.map(lambda killer: failed_test(snapshot, package, killer), killers)
        return [found for found in failed if found]


def table(verdicts: Sequence[Verdict], commit: str) -> str:
    """What was planted where and what killed it, in Markdown."""
    survivors = sum(verdict.survived for verdict in verdicts)
    rows = [
        f"{len(verdicts)} mutants, {len(verdicts) - survivors} killed, {survivors} survive "
        f"({date.today().isoformat()}, commit {commit}).",
        "",
        "| planted | in | killed by |",
        "|---|---|---|",
    ]
    for verdict in verdicts:
        mutant = verdict.mutant
        killer = f"`{_short(verdict.killer)}`" if verdict.killer else "**nothing: it survives**"
        rows.append(f"| {mutant.name} | `{mutant.file}` | {killer} |")
    return "\n".join(rows) + "\n"


def filled(page: str, verdicts: Sequence[Verdict], commit: str) -> str:
    """A page with the table between its two marks."""
    before, rest = page.split("<!-- mutants -->\n")
    after = rest.partition("<!-- end -->")[2]
    return f"{before}<!-- mutants -->\n{table(verdicts, commit)}<!-- end -->{after}"


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _short(killer: str) -> str:
    return killer.removeprefix("tests/").removeprefix("properties/")


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("words", nargs="*", help="parts of names of mutants; all by default")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--page", type=Path, help="write a table between the marks of this page")
    parser.add_argument(
        "--check", action="store_true", help="only see that the table fits the source"
    )
    options = parser.parse_args()
    chosen = [
        mutant
        for mutant in all_mutants()
        if not options.words or any(word in mutant.name for word in options.words)
    ]
    misfits = [told for mutant in chosen if (told := misfit(mutant))]
    if misfits:
        print(*misfits, sep="\n")
        return 2
    if options.check:
        print(f"{len(chosen)} mutants fit the source")
        return 0
    killers = list(dict.fromkeys(killer for mutant in chosen for killer in mutant.killers))
    commit, clock, verdicts = _commit(), time.perf_counter(), []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.processes) as pool:
        snapshot = Path(folder)
        copied(SOURCE, snapshot / "src" / "boxreg")
        for name in TAKEN:
            copied(ROOT / name, snapshot / name)
        wrong = sound(snapshot, killers, options.processes)
        if wrong:
            print("fails without any fault:", *wrong, sep="\n  ")
            return 2
        for verdict in pool.map(lambda mutant: judged(snapshot, mutant), chosen):
            verdicts.append(verdict)
            what = "SURVIVES" if verdict.survived else f"killed by {_short(verdict.killer)}"
            print(f"{verdict.mutant.name}: {what} ({verdict.seconds:.0f} s)", flush=True)
    survivors = [verdict.mutant.name for verdict in verdicts if verdict.survived]
    print(
        f"{len(verdicts)} mutants, {len(verdicts) - len(survivors)} killed, {len(survivors)} survive, "
        f"{time.perf_counter() - clock:.0f} s"
    )
    if survivors:
        print("survivors:", *survivors, sep="\n  ")
    if options.page is not None:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(filled(page, verdicts, commit), encoding="utf-8")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
