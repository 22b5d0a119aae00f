"""Numbers, vectors and matrices in JSON, all digits kept.

Infinities are the words "inf" and "-inf", for JSON has none; a sparse matrix is its triplets.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array, Index

_TRIPLETS = {"shape", "row", "col", "data"}


class Misread(ValueError):
    """A JSON value is not what it should be; the message says which."""


def written(value: Any) -> Any:
    """The value as JSON; arrays as lists."""
    if isinstance(value, Mapping):
        return {name: written(part) for name, part in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if bool(sparse.issparse(value)):
        held: Any = sparse.csc_array(value).tocoo()
        rows, columns = held.row.tolist(), held.col.tolist()
        return {"shape": list(held.shape), "row": rows, "col": columns, "data": listed(held.data)}
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 2:
        return [listed(row) for row in array]
    return listed(array) if array.ndim == 1 else _entry(float(array))


def listed(array: Array) -> list[float | str]:
    """A vector as a list, whatever its entries."""
    return [_entry(entry) for entry in array.tolist()]


def _entry(number: float) -> float | str:
    return number if np.isfinite(number) else str(number)


def read(value: Any, name: str) -> Any:
    """What `written` wrote. Words other than infinities stay words."""
    if isinstance(value, dict) and set(value) == _TRIPLETS:
        return _triplets(value, name)
    if isinstance(value, dict):
        return {part: read(held, f"{name}.{part}") for part, held in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], list):
        return np.array([vector(row, name, len(value[0])) for row in value])
    if isinstance(value, list):
        return vector(value, name)
    if value is None or (isinstance(value, str) and value not in ("inf", "-inf")):
        return value
    return number(value, name)


def vector(value: Any, name: str, length: int | None = None) -> Array:
    """A list of numbers."""
    if not isinstance(value, list):
        raise Misread(f'"{name}" is not a list of numbers')
    array = np.array([number(entry, name) for entry in value], dtype=np.float64)
    if length is not None and len(array) != length:
        raise Misread(f'"{name}" has {len(array)} entries, not {length}')
    return array


def number(value: Any, name: str) -> float:
    """A number, which may be infinite."""
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        with suppress(OverflowError):
            found = float(value)
            if not np.isnan(found):
                return found
    raise Misread(f'"{name}" holds {str(value)[:40]!r}, which is not a number')


def shape(value: Any, name: str) -> tuple[int, int]:
    """A pair of whole numbers >= 0."""
    whole = isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value)
    if not whole or min(value) < 0:
        raise Misread(f'"{name}" is not a pair of whole numbers')
    return value[0], value[1]


def _triplets(value: Mapping[str, Any], name: str) -> Any:
    m, n = shape(value["shape"], name)
    data = vector(value["data"], name)
    rows = _indices(value["row"], name, len(data), m)
    columns = _indices(value["col"], name, len(data), n)
    return sparse.coo_array((data, (rows, columns)), shape=(m, n))


def _indices(value: Any, name: str, length: int, size: int) -> Index:
    array = vector(value, name, length)
    if np.any((array < 0) | (array >= size) | (array != np.floor(array))):
        raise Misread(f'"{name}" has an index outside its shape')
    return array.astype(np.intp)
