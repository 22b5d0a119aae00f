"""MATLAB files (.mat) of versions 5 to 7.

SciPy's reader is compiled code that crashes on some broken files; this one refuses them. It reads
arrays of numbers, dense and sparse, and passes over everything else.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Element: TypeAlias = tuple[int, memoryview]

_HEAD = 128
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
"""Kinds of numbers as they are stored, by their codes."""
_MATRIX, _COMPRESSED = 14, 15
_CLASSES = {
    6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip
"""Kinds of numbers as they are meant, by the codes of their classes."""
_SPARSE = 5
_COMPLEX = 0x800


class NewMatlabFile(ValueError):
    """A file of version 7.3, which is HDF5."""


def is_version_5(content: bytes) -> bool:
    """Whether it begins as files of versions 5 to 7 do; those of version 4 begin with small numbers."""
    return len(content) >= _HEAD and content[126:128] in (b"IM", b"MI")


def read_matlab(content: bytes) -> dict[str, Any]:
    """The arrays of numbers in a file, by name; what is not one is None. ValueError if it is broken."""
    order = "<" if content[126:128] == b"IM" else ">"
    if struct.unpack_from(f"{order}H", content, 124)[0] == 0x0200:
        raise NewMatlabFile("MATLAB 7.3")
    held: dict[str, Any] = {}
    for code, body in _elements(memoryview(content)[_HEAD:], order):
        if code == _COMPRESSED:
            elements = list(_elements(memoryview(_inflated(body)), order))
        else:
            elements = [(code, body)]
        for kind, part in elements:
            if kind == _MATRIX:
                name, value = _array(part, order)
                held[name] = value
    held.pop("", None)  # MATLAB's own
    return held


def _inflated(body: memoryview) -> bytes:
    try:
        return zlib.decompress(body)
    except zlib.error as error:
        raise ValueError(f"a compressed array is broken ({error})") from error


def _elements(content: memoryview, order: str) -> Iterator[Element]:
    """Codes and bodies, one after the other; short ones are packed into eight bytes."""
    at = 0
    while at < len(content):
        if at + 8 > len(content):
            raise ValueError("it is cut short")
        code, size = struct.unpack_from(f"{order}II", content, at)
        packed = code >> 16
        begin = at + (4 if packed else 8)
        if packed:
            code, size = code & 0xFFFF, packed
            if size > 4:
                raise ValueError("an array is broken")
        if begin + size > len(content):
            raise ValueError("it is cut short")
        yield code, content[begin : begin + size]
        at = at + 8 if packed else begin + size
        if not packed and code != _COMPRESSED:
            at += -size % 8


def _array(body: memoryview, order: str) -> tuple[str, Any]:
    """The name of an array, and its numbers; None where it holds something else."""
    parts = _elements(body, order)
    flags = _numbers(next(parts, None), order)
    shape = _numbers(next(parts, None), order).tolist()
    name = bytes(_body(next(parts, None))).decode("utf-8", errors="replace")
    if len(flags) != 2 or len(shape) < 2 or any(type(s) is not int or s < 0 for s in shape):
        raise ValueError("the head of an array is broken")
    kind = int(flags[0]) & 0xFF
    if kind == _SPARSE:
        return name, _sparse(parts, shape, bool(int(flags[0]) & _COMPLEX), order)
    if kind not in _CLASSES:
        return name, None
    real = _numbers(next(parts, None), order)
    if int(flags[0]) & _COMPLEX:
        real = real + 1j * _numbers(next(parts, None), order)
    else:
        real = real.astype(_CLASSES[kind])
    if len(real) != math.prod(shape):
        raise ValueError(f"array {name!r} does not hold as many numbers as its shape says")
    return name, real.reshape(shape, order="F")


def _sparse(parts: Iterator[Element], shape: list[int], both: bool, order: str) -> Any:
    """A sparse matrix by columns; its indices are checked by those who use it."""
    indices, starts, data = (_numbers(next(parts, None), order) for _ in range(3))
    if both:
        data = data + 1j * _numbers(next(parts, None), order)
    if len(shape) != 2 or starts.dtype.kind != "i" or indices.dtype.kind != "i":
        raise ValueError("a sparse array is broken")
    if len(starts) != shape[1] + 1 or not 0 <= starts[-1] <= min(len(indices), len(data)):
        raise ValueError("a sparse array is broken")
    count = int(starts[-1])
    whole = data[:count] * 1.0
    return sparse.csc_array((whole, indices[:count], starts), shape=(shape[0], shape[1]))


def _body(element: Element | None) -> memoryview:
    if element is None:
        raise ValueError("it is cut short")
    return element[1]


def _numbers(element: Element | None, order: str) -> Any:
    """An element of numbers, in the order of bytes of this machine."""
    body = _body(element)
    kind = _NUMBERS.get(element[0] if element else 0)
    if kind is None or len(body) % int(kind[1]):
        raise ValueError("an array is broken")
    return np.frombuffer(body, dtype=f"{order}{kind}").astype(kind)
