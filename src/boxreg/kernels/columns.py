"""Products with some columns of a dense A, read where they are."""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums


@compiled_sums
def correlate_rows(columns, chosen, v):  # type: ignore[no-untyped-def]
    """a_jᵀv for the chosen columns; row j of `columns` is a_j."""
    out = np.empty(chosen.shape[0])
    for p in range(chosen.shape[0]):
        column = columns[chosen[p]]
        total = 0.0
        for i in range(len(v)):
            total += np.float64(column[i]) * v[i]
        out[p] = total
    return out
