"""Matrix Market files (.mtx).

SciPy's reader is compiled code that crashes on some broken files; this one refuses them.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

_KINDS = {"coordinate": ("real", "integer", "pattern"), "array": ("real", "integer")}
_SYMMETRIES = {"general": None, "symmetric": 1.0, "skew-symmetric": -1.0}


def read_mtx(path: Path) -> Any:
    """A sparse matrix from coordinates, a dense one from an array; ValueError if it is broken."""
    with path.open(encoding="utf-8") as lines:
        layout, kind, symmetry = _banner(next(lines, ""))
        sizes = _sizes(lines, 3 if layout == "coordinate" else 2)
        if layout == "array":
            return _array(lines, sizes, symmetry)
        return _coordinates(lines, sizes, symmetry, pattern=kind == "pattern")


def _banner(line: str) -> tuple[str, str, str]:
    words = line.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("it does not begin with %%MatrixMarket matrix")
    layout, kind, symmetry = words[2:]
    if kind not in _KINDS.get(layout, ()) or symmetry not in _SYMMETRIES:
        raise ValueError(f"{layout} {kind} {symmetry} is not among the kinds that are read")
    return layout, kind, symmetry


def _sizes(lines: IO[str], count: int) -> list[int]:
    line = next((held for held in lines if held.strip() and not held.startswith("%")), "")
    sizes = [int(word) for word in line.split()]
    if len(sizes) != count or min(sizes) < 0:
        raise ValueError(f"expected a line of {count} sizes, got {line.strip()[:40]!r}")
    return sizes


def _coordinates(lines: IO[str], sizes: list[int], symmetry: str, pattern: bool) -> Any:
    m, n, count = sizes
    width = 2 if pattern else 3
    table = np.loadtxt(lines, comments="%", ndmin=2).reshape(-1, width)
    if len(table) != count:
        raise ValueError(f"it holds {len(table)} entries, its head says {count}")
    rows, columns = (_indices(table[:, i], size) for i, size in enumerate((m, n)))
    values = np.ones(count) if pattern else table[:, 2]
    sign = _SYMMETRIES[symmetry]
    if sign is not None:
        apart = rows != columns
        twice = (rows[apart], columns[apart], sign * values[apart])
        rows, columns = np.append(rows, twice[1]), np.append(columns, twice[0])
        values = np.append(values, twice[2])
    return sparse.coo_array((values, (rows, columns)), shape=(m, n))


def _indices(column: Any, size: int) -> Any:
    """From 1, and whole, in the file; from 0 here."""
    if np.any((column < 1) | (column > size) | (column != np.floor(column))):
        raise ValueError("an index is outside the shape")
    return column.astype(np.intp) - 1


def _array(lines: IO[str], sizes: list[int], symmetry: str) -> Any:
    m, n = sizes
    values = np.loadtxt(lines, comments="%", ndmin=1).ravel()
    sign = _SYMMETRIES[symmetry]
    if sign is None:
        if len(values) != m * n:
            raise ValueError(f"it holds {len(values)} entries, its head says {m} × {n}")
        return values.reshape((m, n), order="F")
    columns, rows = np.triu_indices(n, k=0 if sign > 0 else 1)  # the lower triangle, by columns
    if m != n or len(values) != len(rows):
        raise ValueError(f"it holds {len(values)} entries, expected {len(rows)} of a triangle")
    matrix = np.zeros((n, n))
    matrix[columns, rows] = sign * values
    matrix[rows, columns] = values
    return matrix
