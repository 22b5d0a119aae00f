"""How `boxreg verify` ends."""

from __future__ import annotations

from collections.abc import Mapping

import click

from ..certificate import Verdict

EXIT_CODES = {Verdict.PROVED: 0, Verdict.NOT_PROVED: 1, Verdict.REFUTED: 4}
"""0 is for PROVED alone; 2 and 3 mean bad input and an error in boxreg."""


def conclude(
    verdict: Verdict,
    proved: str,
    matches: Mapping[str, bool],
    reasons: list[str],
    remarks: list[str],
) -> int:
    """Print the remarks, the reasons and the verdict in one line; return the exit code.

    `matches` says which arrays are those that the certificate was made for: of others it claims
    nothing, so that nothing is proved or refuted, whatever the figures.
    """
    strange = [name for name, same in matches.items() if not same]
    if strange or (reasons and verdict is Verdict.PROVED):
        verdict = Verdict.NOT_PROVED
    reasons = [*(f"{name} is not what the certificate was made for" for name in strange), *reasons]
    for remark in remarks:
        click.echo(f"remark: {remark}")
    for reason in reasons:
        click.echo(f"  {reason}")
    click.echo(f"{verdict.label}: {reasons[0] if reasons else proved}")
    return EXIT_CODES[verdict]
