"""The other half of a symmetric matrix."""

from __future__ import annotations

from .compiling import compiled

_BLOCK = 32
"""Rows and columns at a time, so that both halves of a block stay in the first cache."""


@compiled
def mirror(matrix):  # type: ignore[no-untyped-def]
    """Write what is above the diagonal below it, block by block."""
    n = matrix.shape[0]
    for top in range(0, n, _BLOCK):
        for left in range(0, top + 1, _BLOCK):
            for i in range(top, min(top + _BLOCK, n)):
                row = matrix[i]
                for j in range(left, min(left + _BLOCK, i)):
                    row[j] = matrix[j, i]
