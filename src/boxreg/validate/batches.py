"""What `solve_many` asks for beyond what one right-hand side does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..arguments import shown
from ..arrays import Array
from ..designs import Design
from ..losses import Loss
from ..losses.least_squares import LeastSquares
from .arrays import real_array
from .designs import LARGEST, SMALLEST
from .problems import ridge_term
from .values import iterations, one_of


def spectral_axis(shape: tuple[int, ...], axis: Any, m: int) -> int:
    """The axis of Y that goes along the rows of A, counted from the front."""
    if len(shape) < 2:
        raise ValueError(
            f"Y: expected at least 2 dimensions, right-hand sides beside each other, got shape {shape};"
            " for a single one use solve"
        )
    if not _whole(axis) or not -len(shape) <= axis < len(shape):
        raise ValueError(
            f"axis: expected a whole number that names an axis of Y, got {shown(axis)}"
        )
    at = int(axis) % len(shape)
    if shape[at] != m:
        raise ValueError(
            f"Y: expected {m} entries (rows of A) along axis {axis}, got shape {tuple(shape)}"
        )
    return at


def skips_nan(value: Any) -> bool:
    """Whether right-hand sides with NaN are left out rather than refused."""
    one_of(value, "nan", ("raise", "skip"))
    return bool(value == "skip")


def sliceable(value: Any, name: str) -> Any:
    """What is sliced by positions like an array, as it is; anything else as an array in memory."""
    if sparse.issparse(value) or not all(
        hasattr(value, part) for part in ("shape", "dtype", "__getitem__")
    ):
        return real_array(value, name)
    return value


def bound_of_many(value: Any, name: str, n: int, like: tuple[int, ...]) -> tuple[Any, bool]:
    """A bound as a vector over the columns of A, or as it is where each right-hand side has its own."""
    accepted = (
        f"expected a number, a vector with {n} entries (columns of A) or an array of shape {like}"
    )
    array = sliceable(value, name)
    if len(array.shape) > 1:
        if tuple(array.shape) != like:
            raise ValueError(f"{name}: {accepted}, got shape {tuple(array.shape)}")
        if np.dtype(array.dtype).kind not in "fiub":
            raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
        return array, True
    array = real_array(array, name)
    if array.ndim == 1 and len(array) != n:
        raise ValueError(f"{name}: {accepted}, got shape {array.shape}")
    return np.broadcast_to(array.astype(np.float64), (n,)).copy(), False


def ridge_scale(value: Any, ridge: Any, shape: tuple[int, ...], n: int) -> Array:
    """What the ridge term of each right-hand side is multiplied by, in the order they are read in."""
    if isinstance(ridge_term(ridge, n), Design):
        raise ValueError(
            "ridge_scale: needs a ridge that is a number or a vector, not a matrix; call solve_many for "
            "each scale with ridge=np.sqrt(scale) * Γ"
        )
    scale = real_array(value, "ridge_scale").astype(np.float64)
    if scale.shape != shape:
        raise ValueError(
            f"ridge_scale: expected one number for each right-hand side, shape {shape}, "
            f"got shape {scale.shape}"
        )
    largest = float(np.max(np.asarray(ridge, dtype=np.float64), initial=0.0))
    for product in np.unique(scale[~((scale >= SMALLEST) & (scale <= 1.0 / SMALLEST))]):
        if product != 0.0:
            raise ValueError(
                f"ridge_scale: expected 0 or numbers from {SMALLEST:g} to {1.0 / SMALLEST:g}, "
                f"got {product:g}"
            )
    ridge_term(largest * float(np.max(scale, initial=0.0)), n)
    return np.ascontiguousarray(scale.ravel())


def bounds_in_order(lower: Array, upper: Array) -> None:
    """Refuse bounds of some right-hand sides that cross, or that no number satisfies."""
    if np.isnan(lower).any() or np.isnan(upper).any() or np.any(lower > upper):
        raise ValueError("bounds: lower must not exceed upper, and neither may hold NaN")
    if np.isposinf(lower).any() or np.isneginf(upper).any():
        raise ValueError("bounds: lower must be below +inf and upper above -inf")
    if np.any(lower > LARGEST) or np.any(upper < -LARGEST):
        raise ValueError(
            f"bounds: some leave only numbers above {LARGEST:g} in size, whose squares would overflow"
        )


def jobs(value: Any) -> int:
    """How many right-hand sides are worked on at a time; -1 is as many as there are cores."""
    if not _whole(value) or value == 0 or value < -1:
        raise ValueError(f"n_jobs: expected a whole number >= 1, or -1, got {shown(value)}")
    if value > 0:
        return int(value)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else (os.cpu_count() or 1)


def chunk(value: Any, default: int) -> int:
    """How many right-hand sides are read at a time."""
    if value is None:
        return default
    number = iterations(value, "chunk")
    if not number:
        raise ValueError(f"chunk: expected a whole number >= 1, got {value!r}")
    return number


def output(out: Any, shape: tuple[int, ...], as_sparse: bool, sources: Sequence[Any]) -> Any:
    """The array to write x to; `sources` are read while it is written."""
    if as_sparse:
        raise ValueError("out: cannot be combined with sparse=True; give one of them")
    got = getattr(out, "shape", None)
    if not isinstance(got, tuple) or got != shape or not hasattr(out, "__setitem__"):
        raise ValueError(
            f"out: expected an array of shape {shape}, got {shown(out) if got is None else got}"
        )
    if np.dtype(out.dtype).kind != "f":
        raise TypeError(f"out: expected a floating-point array, got dtype {out.dtype}")
    if isinstance(out, np.ndarray):
        if not out.flags.writeable:
            raise ValueError("out: expected an array that can be written to; it is read-only")
        if any(isinstance(a, np.ndarray) and np.may_share_memory(out, a) for a in sources):
            raise ValueError("out: shares its memory with Y or a bound, which are read meanwhile")
    return out


def path(value: Any, name: str) -> Path:
    """The path of a file, which need not be there."""
    try:
        found = Path(os.fsdecode(value))
    except TypeError as error:
        raise TypeError(f"{name}: expected the path of a file, got {shown(value)}") from error
    if not found.name:
        raise ValueError(f"{name}: expected the path of a file, got {shown(value)}")
    return found


def device(name: Any, precision: Any, on_gpu: bool) -> str:
    """Where to solve: where the data are, unless the caller says so."""
    one_of(precision, "precision", ("float64", "float32"))
    chosen = name if name is not None else ("cuda" if on_gpu else "cpu")
    kind, colon, number = chosen.partition(":") if isinstance(chosen, str) else ("", "", "")
    if kind not in ("cpu", "cuda") or (colon and not (kind == "cuda" and number.isdecimal())):
        raise ValueError(
            f"device: expected 'cpu', 'cuda' or 'cuda:0', 'cuda:1', …, got {shown(name)}"
        )
    if chosen == "cpu" and on_gpu:
        raise ValueError("device: Y lives on a GPU; for device='cpu' copy it to the host first")
    if chosen == "cpu" and precision != "float64":
        raise ValueError("precision: 'float32' is for device='cuda'; the CPU path is in float64")
    return str(chosen)


def device_fits(name: str, loss: Loss, terms: dict[str, Any], entries_seen: bool) -> None:
    """Refuse what kernels for GPUs do not solve."""
    if not isinstance(loss, LeastSquares):
        raise _not_there(name, f"not loss {loss.name!r}")
    if terms:
        raise _not_there(name, f"without {', '.join(terms)}")
    if not entries_seen:
        raise _not_there(name, "with an A whose entries can be seen, at most 2e7 of them")


def mixed_bounds(name: str) -> ValueError:
    """The refusal of infinite bounds whose kinds exclude each other."""
    return _not_there(
        name, "whose variables have the same kinds of bounds for all right-hand sides"
    )


def _whole(value: Any) -> bool:
    """Whether it is a whole number; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _not_there(name: str, what: str) -> ValueError:
    return ValueError(f"device: {name!r} solves least squares, {what}; use device='cpu'")
