"""What was read, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..files import Held, on_disk


def described(name: str, held: Held) -> str:
    """Name, place, shape, how it is held, density and range, in one line."""
    return f"{name:<6}  {held.place}: {_facts(held.array)}"


def bounds_described(lower: Any, upper: Any) -> str:
    """The box in one line."""
    return f"{'bounds':<6}  {_bound(lower)} <= x <= {_bound(upper)}"


def _bound(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or not array.size:
        return f"{array.size} entries"
    return f"[{array.size} entries, {_range(array)}]"


def _facts(array: Any) -> str:
    shape = " × ".join(map(str, array.shape)) if array.ndim != 1 else f"{array.size} entries"
    if on_disk(array):  # looking at all of it would take a pass of its own
        size = np.prod(array.shape, dtype=float) * np.dtype(array.dtype).itemsize
        return f"{shape}, {array.dtype}, {_bytes(size)}, read a chunk at a time"
    kind = "sparse" if bool(sparse.issparse(array)) else "dense"
    said = [shape or "one number", f"{kind} {array.dtype}"]
    if array.dtype.kind in "fiub" and np.prod(array.shape):
        entries = array.data if kind == "sparse" else array
        filled = np.count_nonzero(entries) / float(np.prod(array.shape))
        said.append(f"{100.0 * filled:.3g} % non-zero")
        said.append(_range(entries, also_zero=entries.size < np.prod(array.shape)))
    return ", ".join(said)


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5 or unit == "GB":
            break
        size /= 1e3
    return f"{size:,.3g} {unit}" if size < 1e3 else f"{size:,.0f} {unit}"


def _range(entries: Any, also_zero: bool = False) -> str:
    """Least and greatest entry; zeros that are not stored count."""
    if not entries.size:
        return "all zero"
    low, high = float(entries.min()), float(entries.max())
    if also_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    return f"from {low:.4g} to {high:.4g}" if low != high else f"all {low:.4g}"
