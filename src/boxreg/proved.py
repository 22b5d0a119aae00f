"""What every result says of its gap."""

from __future__ import annotations

import numpy as np

from .status import Status


def share(gap: float, size: float) -> float:
    """gap / |size|; 0 where both are 0."""
    if size == 0.0 or not np.isfinite(size):
        return 0.0 if gap == 0.0 else np.inf
    return abs(float(gap) / float(size))


class Proved:
    """For results with a status, a gap, P(x), and the scale that a tolerance is relative to."""

    status: Status
    gap: float
    objective: float
    scale: float

    @property
    def success(self) -> bool:
        """Whether the gap that was asked for has been reached."""
        return self.status.success

    @property
    def relative_gap(self) -> float:
        """gap / P₀: what `tol` bounds. It says little where P₀ is far larger than P(x)."""
        return share(self.gap, self.scale)

    @property
    def gap_over_objective(self) -> float:
        """gap / |P(x)|: P* is at least (1 - this) · P(x), where P(x) > 0."""
        return share(self.gap, self.objective)
