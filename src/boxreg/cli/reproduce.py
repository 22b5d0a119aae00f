"""`boxreg reproduce`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from .errors import BadInput

_HELP = """The tables and figures of the paper, beside the paper's own figures.

\b
    boxreg reproduce --quick                  # everything, smaller, in three minutes
    boxreg reproduce table1 figure3 --full    # at the paper's sizes
    boxreg reproduce all --full --cap 60      # stop every single run after a minute

Writes a page with everything, JSON and figures. An interrupted run goes on where it stopped. Real
data are read from the folder BOXREG_DATA, or fetched; stand-ins take the place of what cannot be
had, and are called that.
"""


@click.command("reproduce", help=_HELP, short_help="The tables and figures of the paper.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick/--full", default=True, show_default=True, help="Smaller, or as printed.")
@click.option("--out", type=Path, default=Path("out/reproduce"), show_default=True, help="Folder.")
@click.option("--cap", type=float, metavar="SECONDS", help="Stop a single run after this time.")
@click.option("--fresh", is_flag=True, help="Measure again what is there already.")
def command(names: tuple[str, ...], quick: bool, out: Path, cap: float | None, fresh: bool) -> int:
    """Hand over to `boxreg.reproduce`, which runs with one thread in a process of its own."""
    reproduce = import_module("..reproduce", __package__)
    for name in names:
        if name not in ("all", *reproduce.EXPERIMENTS):
            accepted = ", ".join(("all", *reproduce.EXPERIMENTS))
            raise BadInput(f"reproduce: unknown name {name!r}; accepted: {accepted}")
    if cap is not None and not 0.0 < cap < float("inf"):
        raise BadInput(f"--cap: expected a number > 0, got {cap:g}")
    arguments = [*names, "--quick" if quick else "--full", "--out", str(out)]
    arguments += [] if cap is None else ["--cap", repr(cap)]
    arguments += ["--fresh"] * fresh
    return int(reproduce.main(arguments))
