"""`boxreg demo`."""

from __future__ import annotations

from pathlib import Path

import click

_HELP = """Solve synthetic problems with four solvers, without and with screening.

\b
    boxreg demo
    boxreg demo --size paper --out figures

Prints a table and draws the convergence. Every answer is verified from the data. The small problems
take seconds, those of the paper's size a minute or two.
"""


@click.command("demo", help=_HELP, short_help="Solve synthetic problems; a table and a figure.")
@click.option(
    "--size",
    type=click.Choice(["small", "paper"]),
    default="small",
    show_default=True,
    help="Of A.",
)
@click.option("--out", type=Path, default=Path("out/demo"), show_default=True, help="Folder.")
def command(size: str, out: Path) -> int:
    """Run the demo."""
    from ..demo import main

    return main(["--size", size, "--out", str(out)])
