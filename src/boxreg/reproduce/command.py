"""The command: `boxreg reproduce`, or `python -m boxreg.reproduce`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

from .environment import one_thread, pinned
from .experiments import EXPERIMENTS
from .running import Outcome, run
from .scale import SCALES

_DESCRIPTION = """\
Reproduce the tables and figures of the paper, beside the paper's own figures.

Writes DIR/quick or DIR/full: index.html (one page with everything), results.json, figures/ (PNG and
SVG) and cells/ (every measurement, written as soon as it is taken: an interrupted run goes on where it
stopped). Real data are read from the folder BOXREG_DATA, or fetched; synthetic stand-ins take the
place of what cannot be had, and are called that."""

_EXAMPLES = """\
examples:
  boxreg reproduce --quick                  everything, smaller, in three minutes
  boxreg reproduce table1 figure3 --full    at the paper's sizes
  boxreg reproduce all --full --cap 60      stop every single run after a minute"""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser(
        prog="boxreg reproduce",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("names", nargs="*", metavar="NAME", help=f"all, or {', '.join(EXPERIMENTS)}")
    size = made.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="scale", action="store_const", const="quick", default="quick")
    size.add_argument("--full", dest="scale", action="store_const", const="full")
    made.add_argument("--out", type=Path, default=Path("out/reproduce"), metavar="DIR")
    made.add_argument("--cap", type=_seconds, help="seconds after which a single run is stopped")
    made.add_argument("--fresh", action="store_true", help="measure again what is there already")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Reproduce; 0 if everything was measured and every answer verified.

    Ratios mean something only with a fixed number of threads, which must be set before NumPy is
    loaded: where it is not, the work is done by a second process that has one thread.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    made = parser()
    options = made.parse_args(arguments)
    unknown = [name for name in options.names if name not in ("all", *EXPERIMENTS)]
    if unknown:
        made.error(f"NAME: unknown {unknown[0]!r}; accepted: all, {', '.join(EXPERIMENTS)}")
    if not pinned():
        return _in_one_thread(arguments)
    asked = set(options.names) or {"all"}
    names = [name for name in EXPERIMENTS if "all" in asked or name in asked]
    scale = SCALES[options.scale]
    if options.cap is not None:
        scale = replace(scale, policy=replace(scale.policy, cap=options.cap))
    clock = monotonic()
    try:
        outcome = run(names, scale, options.out, fresh=options.fresh)
    except OSError as error:
        print(f"boxreg reproduce: cannot write: {error}", file=sys.stderr)
        return 2
    _tell(outcome, monotonic() - clock)
    return outcome.code


def _in_one_thread(arguments: list[str]) -> int:
    command = [sys.executable, "-m", "boxreg.reproduce", *arguments]
    with subprocess.Popen(command, env=one_thread()) as child:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:  # the child has had it too, and writes what it has
                continue


def _tell(outcome: Outcome, seconds: float) -> None:
    """A few lines on how it went."""
    known = f", {outcome.recalled} known already" if outcome.recalled else ""
    print(f"{outcome.measured} measurements in {seconds:.0f} s{known}.")
    for key, reason in outcome.failures.items():
        print(f"FAILED: {key}: {reason}")
    for key in outcome.unverified:
        print(f"NOT VERIFIED: {key}")
    if outcome.interrupted:
        print(f"Interrupted; {outcome.missing} are missing. The same command goes on from here.")
    print(f"Page: {outcome.page}")


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number > 0, got {text}")
    return value
