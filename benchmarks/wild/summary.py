"""What a record of races says: ratios, failures, quantiles, groups. Plain data in, plain data out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .scoring import REACHED

Row = dict[str, Any]
"""One problem as the record holds it: what was drawn, and `entries`, one for each contestant."""

SLOW = 60.0
"""Seconds after which boxreg has failed."""

SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles of reports; 0 is the least."""


@dataclass(frozen=True)
class Call:
    """One of boxreg's functions on one problem."""

    row: Row
    entry: Row
    failure: str
    """Why it failed; empty where it did not."""
    rival: str
    """The fastest of the others that reached the minimum; empty where none did."""
    ratio: float | None
    """The rival's time over boxreg's. Where none reached the minimum, a lower bound: the longest time
    that one was given; inf where none was stopped; None where boxreg failed."""

    @property
    def function(self) -> str:
        return str(self.entry["solver"])

    @property
    def at_least(self) -> bool:
        """Whether the ratio is a lower bound."""
        return self.ratio is not None and not self.rival


def reached(entry: Row) -> bool:
    """Whether an answer came, and is as good as the best of all."""
    excess = entry["relative_gap"]
    return entry["status"] == "ok" and excess is not None and excess <= REACHED


def failure(entry: Row) -> str:
    """Why this call of boxreg's counts as failed."""
    if entry["status"] == "over" or (entry["seconds"] or 0.0) > SLOW:
        return f"over {SLOW:g} s"
    if entry["status"] != "ok":
        return f"{entry['status']}: {entry['note']}"
    if entry["violation"]:
        return f"outside the box by {entry['violation']:.0e}"
    if not reached(entry):
        return f"{entry['relative_gap']:.0e} P₀ above the best"
    return ""


def calls(rows: Iterable[Row]) -> list[Call]:
    """Every call of boxreg's in a record."""
    found = []
    for row in rows:
        others = [held for held in row["entries"] if not held["solver"].startswith("boxreg.")]
        good = [held for held in others if reached(held)]
        best = min(good, key=lambda held: float(held["seconds"]), default=None)
        cut = [float(held["seconds"]) for held in others if held["status"] == "over"]
        for entry in row["entries"]:
            if entry["solver"].startswith("boxreg."):
                why = failure(entry)
                ratio = None
                if not why and best is not None:
                    ratio = best["seconds"] / entry["seconds"]
                elif not why:
                    ratio = max(cut) / entry["seconds"] if cut else np.inf
                found.append(Call(row, entry, why, best["solver"] if best else "", ratio))
    return found


def headline(found: Iterable[Call]) -> list[Call]:
    """One call for each problem: `solve`, or `solve_many` for several right-hand sides."""
    return [call for call in found if call.function in ("boxreg.solve", "boxreg.solve_many")]


def with_nnls(found: Iterable[Call]) -> list[Call]:
    """One call for each problem: `nnls` where the problem is plain NNLS, the headline's otherwise."""
    chosen: dict[int, Call] = {}
    for call in found:
        if call.function != "boxreg.lsq_linear":
            chosen[call.row["seed"]] = call  # `nnls` comes after `solve`
    return list(chosen.values())


def figures(found: list[Call]) -> dict[str, Any]:
    """What a table shows of a group of calls; shares are of all calls, a failure being slower."""
    ratios = np.array([call.ratio for call in found if call.ratio is not None])
    count = len(found)
    claims = [call for call in found if "proved" in call.entry]
    return {
        "calls": count,
        "failures": sum(bool(call.failure) for call in found),
        "over": sum(call.failure.startswith("over") for call in found),
        "as_fast": float(np.sum(ratios >= 1.0)) / count if count else None,
        "under_half": float(np.sum(ratios < 0.5) + count - len(ratios)) / count if count else None,
        "quantiles": [_quantile(ratios, share) for share in SHARES],
        "alone": sum(call.at_least for call in found),
        "proved": sum(bool(call.entry["proved"]) for call in claims),
        "claims": len(claims),
        "false_proofs": sum(
            bool(call.entry["proved"])
            and call.entry["relative_gap"] is not None
            and not reached(call.entry)
            for call in claims
        ),
    }


def _quantile(ratios: Any, share: float) -> float | None:
    """A ratio that occurs, the lower of two: there is no interpolating with inf."""
    if not len(ratios):
        return None
    return float(np.sort(ratios)[int(share * (len(ratios) - 1))])


def grouped(found: Iterable[Call], key: Callable[[Call], str]) -> dict[str, list[Call]]:
    """Calls by a property, in the order of their names."""
    groups: dict[str, list[Call]] = {}
    for call in found:
        groups.setdefault(key(call), []).append(call)
    return dict(sorted(groups.items()))


def worst(found: Iterable[Call], most: int) -> list[Call]:
    """Failures first, then the smallest ratios."""
    order = sorted(found, key=lambda call: -1.0 if call.ratio is None else call.ratio)
    return order[:most]


def size_class(row: Row) -> str:
    """The decade of the stored entries of A."""
    power = int(np.floor(np.log10(max(row["stored"], 1))))
    return f"1e{power} to 1e{power + 1} entries"
