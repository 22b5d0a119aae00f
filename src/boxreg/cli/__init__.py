"""The command line: `boxreg`."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code, see `boxreg.cli.app`."""
    try:
        import click  # noqa: F401
    except ImportError:
        print("boxreg: the command line needs click: pip install 'boxreg[cli]'", file=sys.stderr)
        return 2
    from .app import run

    return run(argv)
