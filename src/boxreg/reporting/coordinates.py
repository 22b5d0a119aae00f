"""Which coordinates are at which bound, and when each was proved to be there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Index, Mask

if TYPE_CHECKING:
    from ..result import Result


@dataclass(frozen=True)
class Places:
    """Where the coordinates of x are. A fixed one (lower = upper) counts as at its lower bound."""

    at_lower: Mask
    at_upper: Mask
    proved_lower: Mask
    proved_upper: Mask

    @classmethod
    def of(cls, result: Result) -> Places:
        """By comparing x with its bounds exactly."""
        at_lower = result.x == result.lower
        return cls(
            at_lower=at_lower,
            at_upper=(result.x == result.upper) & ~at_lower,
            proved_lower=result.screened < 0,
            proved_upper=result.screened > 0,
        )

    @property
    def inside(self) -> Mask:
        """Strictly between the bounds."""
        return ~(self.at_lower | self.at_upper)


def proofs(result: Result) -> list[tuple[int, Index, Index]]:
    """For each step that proved something: the step, the coordinates at lower, those at upper."""
    steps = np.unique(result.screened_at[result.screened != 0])
    found = []
    for step in steps.tolist():
        now = result.screened_at == step
        low, high = (np.flatnonzero(now & (result.screened == side)) for side in (-1, 1))
        found.append((step, low, high))
    return found


def ranges(indices: Index) -> str:
    """Sorted indices as ranges: 0–3, 7, 9–10."""
    if not len(indices):
        return ""
    breaks = np.flatnonzero(np.diff(indices) > 1)
    firsts = indices[np.concatenate(([0], breaks + 1))].tolist()
    lasts = indices[np.concatenate((breaks, [len(indices) - 1]))].tolist()
    return ", ".join(
        str(first) if first == last else f"{first}–{last}"
        for first, last in zip(firsts, lasts, strict=True)
    )
