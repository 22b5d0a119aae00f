"""What every result says of its gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .status import Status

if TYPE_CHECKING:
    from .certificate import Certificate


def share(gap: float, size: float) -> float:
    """gap / |size|; 0 where both are 0."""
    if size == 0.0 or not np.isfinite(size):
        return 0.0 if gap == 0.0 else np.inf
    return abs(float(gap) / float(size))


def precision(certificate: Certificate, scale: float) -> str:
    """The gap relative to P₀ and to P(x), in words; what is 0 is left out."""
    sizes = ((scale, "P₀"), (certificate.objective, "P(x)"))
    shares = [f"{share(certificate.gap, size):.1e} of {name}" for size, name in sizes if size]
    kind = "Gap proved" if certificate.rigorous else "Gap, not proved"
    return f"{kind}: {', '.join(shares)}." if shares else ""


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
