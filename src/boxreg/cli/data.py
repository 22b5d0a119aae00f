"""`boxreg data`."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import click

from ..datasets import DATASETS, DataNotFound, Dataset, dataset, folder, found

_HELP = """Which real data sets are found, and how to get the others.

\b
    BOXREG_DATA=~/data boxreg data
    boxreg data --fetch mnist

Data sets are files in the folder that the environment variable BOXREG_DATA names. Those with a
public address are fetched from there when they are needed, and checked.
"""


@click.command("data", help=_HELP, short_help="Which data sets are found, and where.")
@click.option("--fetch", metavar="NAME", help="Load a data set, fetching it if need be.")
def command(fetch: str | None) -> None:
    """A table of all, or one loaded."""
    if fetch is not None:
        _fetch(fetch)
        return
    place = folder()
    click.echo(f"BOXREG_DATA: {place or 'not set, or not a folder'}\n")
    rows = [("name", "file", "state", "sha256", "what for")]
    rows += [(d.name, d.file, _state(d), d.sha256[:16], d.purpose) for d in DATASETS.values()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        click.echo("  ".join(f"{cell:<{width}}" for cell, width in cells).rstrip())
    missing = [held for held in DATASETS.values() if found(held.name) is None]
    if missing:
        click.echo("\nMissing, and how to get them (as NAME.npz, into the folder BOXREG_DATA):")
    for held in missing:
        how = f"boxreg data --fetch {held.name}" if held.origin else f"made from {held.source}"
        click.echo(f"  {held.name}: {how}")


def _state(held: Dataset) -> str:
    path = found(held.name)
    if path is None:
        return "public" if held.origin else "missing"
    return "found" if _digest(path) == held.sha256 else "found, differs"


def _digest(path: Path) -> str:
    with path.open("rb") as held:
        total = sha256()
        for block in iter(lambda: held.read(1 << 20), b""):
            total.update(block)
    return total.hexdigest()


def _fetch(name: str) -> None:
    if name not in DATASETS:
        raise DataNotFound(f"data: unknown name {name!r}; accepted: {', '.join(DATASETS)}")
    for key, array in dataset(name).items():
        shape = " × ".join(map(str, array.shape)) or "one number"
        click.echo(f"{name}:{key}: {shape}, {array.dtype}")
