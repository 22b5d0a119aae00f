"""Sparse matrices whose arrays are not what SciPy would have made of them.

Compiled loops trust the indices: a wrong one would read or write memory that is not theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg

RNG = np.random.default_rng([20, 13])
DENSE = np.where(RNG.random((12, 8)) < 0.5, RNG.random((12, 8)), 0.0)
DENSE[:2, :2] = 1.0
Y = RNG.random(12)
CALLS: dict[str, Callable[[Any], Any]] = {
    "solve": lambda A: boxreg.solve(A, Y),
    "nnls": lambda A: boxreg.nnls(A, Y),
    "lsq_linear": lambda A: boxreg.lsq_linear(A, Y),
    "solve_many": lambda A: boxreg.solve_many(A, Y[:, None]),
    "antisparse": lambda A: boxreg.antisparse(A, Y, 0.1),
    "verify": lambda A: boxreg.verify(A, Y, np.zeros(8), -Y),
}


def made(kind: str, index: type = np.int32) -> Any:
    A = sparse.bsr_array(DENSE, blocksize=(2, 2)) if kind == "bsr" else sparse.coo_array(DENSE)
    A = A.asformat(kind)
    if kind in ("csc", "csr", "bsr"):
        A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    elif kind == "coo":
        A.coords = tuple(part.astype(index) for part in A.coords)
    return A


def put(name: str, at: int, value: int) -> Callable[[Any], None]:
    def spoil(A: Any) -> None:
        getattr(A, name)[at] = value

    return spoil


def replace(name: str, make: Callable[[Any], Any]) -> Callable[[Any], None]:
    def spoil(A: Any) -> None:
        setattr(A, name, make(getattr(A, name)))

    return spoil


COMPRESSED = {
    "index too large": put("indices", 3, 10**6),
    "index just too large": put("indices", 3, 12),
    "negative index": put("indices", 3, -1),
    "largest index": put("indices", 3, 2**31 - 1),
    "smallest index": put("indices", 3, -(2**31)),
    "starts fall": put("indptr", 2, 10**6),
    "negative start": put("indptr", 2, -5),
    "first start": put("indptr", 0, 1),
    "last start": put("indptr", -1, 10**6),
    "starts too few": replace("indptr", lambda a: a[:-1]),
    "starts too many": replace("indptr", lambda a: np.append(a, a[-1])),
    "indices cut short": replace("indices", lambda a: a[:5]),
    "entries cut short": replace("data", lambda a: a[:5]),
    "fractional indices": replace("indices", lambda a: a.astype(float)),
    "fractional starts": replace("indptr", lambda a: a.astype(float)),
    "indices of objects": replace("indices", lambda a: a.astype(object)),
    "indices in two dimensions": replace("indices", lambda a: a[:, None]),
}


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ["csc", "csr", "bsr"])
@pytest.mark.parametrize("case", COMPRESSED)
def test_broken_compressed_matrices_are_refused(kind: str, case: str, index: type) -> None:
    A = made(kind, index)
    COMPRESSED[case](A)
    with pytest.raises(ValueError, match=f"A: is a broken sparse {kind} matrix: "):
        boxreg.solve(A, Y)


@pytest.mark.parametrize("name", CALLS)
def test_every_function_refuses_them(name: str) -> None:
    A = made("csc")
    A.indices[3] = 10**6
    with pytest.raises(ValueError, match=r"A: is a broken sparse csc matrix: an index is outside"):
        CALLS[name](A)


def test_so_do_other_arguments() -> None:
    ridge = sparse.csc_array(np.eye(8))
    ridge.indices[3] = -7
    with pytest.raises(ValueError, match="ridge: is a broken sparse csc matrix"):
        boxreg.solve(DENSE, Y, ridge=ridge)


@pytest.mark.parametrize(("at", "value"), [(0, 12), (0, -1), (1, 8), (1, -1), (1, 2**40)])
def test_broken_coordinates_are_refused(at: int, value: int) -> None:
    A = made("coo", np.int64)
    A.coords[at][3] = value
    with pytest.raises(ValueError, match="A: is a broken sparse coo matrix"):
        boxreg.solve(A, Y)
    A = made("coo")
    A.coords = tuple(part[:-1] for part in A.coords)
    with pytest.raises(ValueError, match="A: is a broken sparse coo matrix"):
        boxreg.solve(A, Y)


def test_other_formats_that_are_broken() -> None:
    lists = made("lil")
    lists.rows[0] = [0, 99]
    lists.data[0] = [1.0, 1.0]
    uneven = made("lil")
    uneven.data[0] = [1.0] * 999
    diagonals, outside = made("dia"), made("dia")
    diagonals.offsets = diagonals.offsets[:2]
    outside.offsets[0] = 10**6
    for A in (lists, uneven, diagonals, outside):
        with pytest.raises(ValueError, match=f"A: is a broken sparse {A.format} matrix"):
            boxreg.solve(A, Y)


def unsorted(A: Any) -> None:
    for j in range(8):
        part = slice(A.indptr[j], A.indptr[j + 1])
        A.indices[part], A.data[part] = A.indices[part][::-1].copy(), A.data[part][::-1].copy()
    some = slice(A.indptr[0], A.indptr[0] + 2)
    A.indices[some], A.data[some] = A.indices[some][::-1].copy(), A.data[some][::-1].copy()


def twice(A: Any) -> None:
    """Every entry in two halves, and SciPy told that this is not so."""
    A.indices, A.data = np.repeat(A.indices, 2), np.repeat(A.data, 2) / 2.0
    A.indptr = 2 * A.indptr
    A.has_canonical_format = A.has_sorted_indices = True


def padded(A: Any) -> None:
    """Entries that do not count, after those that do."""
    A.indices = np.append(A.indices, [99, -1]).astype(A.indices.dtype)
    A.data = np.append(A.data, [np.nan, 1e300])


def explicit_zeros(A: Any) -> None:
    A.data = np.where(A.data > 0.9, 0.0, A.data)


ODD: dict[str, Callable[[Any], None]] = {
    "unsorted": unsorted,
    "duplicates": twice,
    "padded": padded,
    "big-endian": lambda A: A.__dict__.update(
        data=A.data.astype(">f8"), indices=A.indices.astype(">i4")
    ),
    "read-only": lambda A: [
        part.setflags(write=False) for part in (A.data, A.indices, A.indptr)
    ] and None,
    "short indices": lambda A: A.__dict__.update(indices=A.indices.astype(np.uint8)),
    "mixed indices": lambda A: A.__dict__.update(indices=A.indices.astype(np.int64)),
    "float32": lambda A: A.__dict__.update(data=A.data.astype(np.float32)),
    "explicit zeros": explicit_zeros,
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_odd_but_sound_matrices_are_solved(case: str) -> None:
    """As the same numbers in a dense array; nothing of the caller's changes."""
    A = made("csc")
    ODD[case](A)
    dense = DENSE.astype(np.float32).astype(float) if case == "float32" else DENSE
    if case == "explicit zeros":
        dense = np.where(DENSE > 0.9, 0.0, DENSE)
    before = [part.copy() for part in (A.data, A.indices, A.indptr)]
    for name, call in CALLS.items():
        found, known = call(A), call(dense)
        if name == "verify":
            assert found.gap == pytest.approx(known.gap, rel=1e-9)
        else:
            x, expected = (r[0] if isinstance(r, tuple) else r.x for r in (found, known))
            np.testing.assert_allclose(x, expected, atol=1e-9)
    for part, old in zip((A.data, A.indices, A.indptr), before, strict=True):
        assert part.dtype == old.dtype
        assert np.array_equal(part, old, equal_nan=True)


@pytest.mark.parametrize("kind", ["csc", "csr", "bsr", "coo", "lil", "dok", "dia"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_format_is_solved(kind: str, index: type) -> None:
    expected = boxreg.nnls(DENSE, Y)[0]
    A = made(kind, index)
    for held in (A, getattr(sparse, f"{kind}_matrix")(A)):
        np.testing.assert_allclose(boxreg.solve(held, Y).x, expected, atol=1e-9)


@pytest.mark.parametrize("kind", ["csc", "csr", "coo", "bsr", "lil", "dok"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_stored_entries_must_be_finite(kind: str, bad: float) -> None:
    spoilt = DENSE.copy()
    spoilt[1, 1] = bad
    A = sparse.coo_array(spoilt).asformat(kind)
    with pytest.raises(ValueError, match=r"A: contains (NaN|inf); expected finite numbers"):
        boxreg.solve(A, Y)
