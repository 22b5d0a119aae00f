"""`boxreg bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from .errors import BadInput

_HELP = """The race: boxreg against every other solver that is installed, scored by the same code.

\b
    boxreg bench                                 # all cases, about 30 minutes
    boxreg bench --quick                         # under 5 minutes
    boxreg bench --only tiny-10x5 --threads 1    # one case

It belongs to the source tree, not to the installed package. BOXREG_DATA adds real data.
"""


@click.command("bench", help=_HELP, short_help="The race against other solvers.")
@click.option("--quick", is_flag=True, help="Fewer cases, shorter caps.")
@click.option("--only", multiple=True, metavar="CASE", help="A case by name; may be repeated.")
@click.option("--threads", multiple=True, type=int, metavar="N", help="1 and 2 by default.")
@click.option("--out", type=Path, default=Path("out/bench"), show_default=True, help="Folder.")
def command(quick: bool, only: tuple[str, ...], threads: tuple[int, ...], out: Path) -> int:
    """Run the race in the source tree."""
    root = source_tree()
    if root is None:
        raise BadInput(
            "bench: the race is in the source tree, which this is not; get the source, and there "
            "run: make bench"
        )
    call = [sys.executable, "-m", "benchmarks.race", "--out", str(out.absolute())]
    call += ["--quick"] * quick
    call += ["--only", *only] if only else []
    call += ["--threads", *map(str, threads)] if threads else []
    return subprocess.run(call, cwd=root, check=False).returncode


def source_tree() -> Path | None:
    """The folder of the source that this package is imported from, or the current one."""
    for root in (Path(__file__).parents[3], Path.cwd()):
        if (root / "benchmarks" / "race" / "__main__.py").is_file():
            return root
    return None
