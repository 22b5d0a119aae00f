"""What one pass over A tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..arrays import Array
from ..in_threads import added, joined
from .epochs import FirstSweep

Counted: TypeAlias = tuple[Array, Array, Array, float]
"""Of each column ||a||², the sum of its entries and aᵀv; of all entries, how far they are below 0."""


@dataclass(frozen=True)
class Survey:
    """Column norms and, where they came with the same pass, two products most runs begin with.

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
    sweep: FirstSweep | None = None
    """Where one sweep leads, if it was asked for and came with the norms, instead of the rest."""

    @classmethod
    def of_columns(cls, parts: list[Counted]) -> Survey:
        """From what the kernels say of some columns each."""
        squares, sums, products, negative = zip(*parts, strict=True)
        return cls(np.sqrt(joined(squares)), sum(negative) == 0.0, joined(sums), joined(products))

    @classmethod
    def of_rows(cls, parts: list[Counted]) -> Survey:
        """From what the kernels say of some rows each."""
        squares, sums, products, negative = zip(*parts, strict=True)
        return cls(np.sqrt(added(squares)), sum(negative) == 0.0, added(sums), added(products))
