"""How `boxreg verify` ends."""

from __future__ import annotations

from collections.abc import Mapping

import click

from ..certificate import Verdict

EXIT_CODES = {Verdict.PROVED: 0, Verdict.NOT_PROVED: 1, Verdict.REFUTED: 4}
"""0 is for PROVED alone; 2 and 3 mean bad input and an error in boxreg."""


def strangers(matches: Mapping[str, bool]) -> list[str]:
    """A reason for each array that is not the one whose digest the certificate has."""
    return [
        f"{name} is not what the certificate was made for" for name in matches if not matches[name]
    ]


def conclude(verdict: Verdict, proved: str, reasons: list[str], remarks: list[str]) -> int:
    """Print the remarks, the reasons and the verdict in one line; return the exit code.

    What has a reason against it is not proved, whatever the figures: a certificate says nothing about
    other data than its own.
    """
    if reasons and verdict is Verdict.PROVED:
        verdict = Verdict.NOT_PROVED
    for remark in remarks:
        click.echo(f"remark: {remark}")
    for reason in reasons:
        click.echo(f"  {reason}")
    click.echo(f"{verdict.label}: {reasons[0] if reasons else proved}")
    return EXIT_CODES[verdict]
