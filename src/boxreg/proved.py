"""What every result says of its gap."""

from __future__ import annotations

import numpy as np

from .status import Status


class Proved:
    """For results with a status, a gap, and the scale that a tolerance is relative to."""

    status: Status
    gap: float
    scale: float

    @property
    def success(self) -> bool:
        """Whether the gap that was asked for has been proved."""
        return self.status.success

    @property
    def relative_gap(self) -> float:
        """gap / scale: what `tol` bounds."""
        return self.gap / self.scale if self.scale > 0 else (0.0 if self.gap == 0 else np.inf)
