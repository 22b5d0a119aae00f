"""What one pass over A tells."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array


@dataclass(frozen=True)
class Survey:
    """Column norms and, where they came with the same pass, two products every run begins with.

    The products are as accurate as any other: entry j of Aᵀv is off by at most
    gamma(terms) ||a_j|| ||v||.
    """

    norms: Array
    nonnegative: bool = False
    """True only if every entry of A is known to be >= 0."""
    sums: Array | None = None
    """Aᵀ1."""
    correlation: Array | None = None
    """Aᵀy, y the target."""
