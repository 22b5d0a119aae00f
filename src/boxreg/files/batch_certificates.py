"""Certificates of many right-hand sides: a small JSON file, and the gaps beside it.

    format, version   "boxreg batch certificate", 1
    shape, axis       of Y, and the axis of it that runs along the rows of A
    columns           of A
    sha256            {"A": …, "y": …}, see `digest` and `digest_stack`
    problem           lower, upper, loss, …; a bound that every right-hand side has of its own is "each"
    tol               the gap asked for, relative to P₀
    direction         along which dual points are made feasible, or null
    x, gaps           the files of x and of the numbers, relative to the folder of this one

The claim about each right-hand side is that P(x) - P* is at most the larger of its gap in `gaps` (an
.npz file: `gap`, NaN where nothing was solved; `lower` and `upper` where they are "each") and tol · P₀.
Dual points are not kept. Whoever verifies makes them again, of the residual and the direction: what they
prove does not depend on where they came from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..version import __version__
from .certificates import CorruptCertificate, parsed, read_digests, read_problem
from .digest import digest
from .json_values import Misread, listed, number, vector, written

if TYPE_CHECKING:
    from ..batch import BatchResult
    from ..batch.layout import Layout

FORMAT, VERSION = "boxreg batch certificate", 1
_EACH = "each"


@dataclass(frozen=True)
class BatchCertificateFile:
    """What the two files say."""

    shape: tuple[int, ...]
    axis: int
    columns: int
    digests: dict[str, str]
    problem: dict[str, Any]
    tol: float
    direction: Array | None
    x: str
    gap: Array

    @classmethod
    def of(
        cls, result: BatchResult, A: Any, problem: Mapping[str, Any], x: str
    ) -> BatchCertificateFile:
        """The certificate of a result, which is kept in the file `x`."""
        asked = result.question
        return cls(
            shape=asked.layout.shape,
            axis=asked.layout.axis,
            columns=result.shape[1],
            digests={"A": digest(A), "y": digest_stack(asked.Y, asked.layout)},
            problem=dict(problem),
            tol=asked.tol,
            direction=result.direction,
            x=x,
            gap=np.where(result.unsolved, np.nan, result.gap),
        )

    def dumps(self, gaps: str) -> str:
        """The JSON file, one field a line; `gaps` is the name of the other one."""
        bounds = {name: _EACH for name in ("lower", "upper") if np.ndim(self.problem[name]) > 1}
        fields = {
            "format": FORMAT,
            "version": VERSION,
            "boxreg": __version__,
            "shape": list(self.shape),
            "axis": self.axis,
            "columns": self.columns,
            "sha256": self.digests,
            "problem": written({**self.problem, **bounds}),
            "tol": written(self.tol),
            "direction": None if self.direction is None else listed(self.direction),
            "x": self.x,
            "gaps": gaps,
        }
        lines = (f'  "{name}": {json.dumps(value)}' for name, value in fields.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def write_numbers(self, path: Path) -> None:
        """The .npz file."""
        bounds = {name: self.problem[name] for name in ("lower", "upper")}
        own: dict[str, Any] = {
            name: np.asarray(held) for name, held in bounds.items() if np.ndim(held) > 1
        }
        np.savez(path, gap=self.gap, **own)

    @staticmethod
    def recognises(text: str) -> bool:
        """Whether a file says that it is a certificate of many right-hand sides."""
        return f'"{FORMAT}"' in text[:200]

    @classmethod
    def load(cls, text: str, folder: Path) -> BatchCertificateFile:
        """From the text of the JSON file in a folder; CorruptCertificate if it is not a certificate."""
        fields = parsed(text, FORMAT, VERSION)
        try:
            shape, axis, n = _sizes(fields)
            problem = read_problem(fields["problem"])
            numbers = _numbers(folder, _word(fields["gaps"], "gaps"))
            like = tuple(n if k == axis else s for k, s in enumerate(shape))
            for name in ("lower", "upper"):
                if isinstance(problem[name], str):
                    problem[name] = _taken(numbers, name, like)
            outer = tuple(s for k, s in enumerate(shape) if k != axis)
            way = fields["direction"]
            return cls(
                shape=shape,
                axis=axis,
                columns=n,
                digests=read_digests(fields["sha256"]),
                problem=problem,
                tol=number(fields["tol"], "tol"),
                direction=None if way is None else vector(way, "direction", shape[axis]),
                x=_word(fields["x"], "x"),
                gap=_taken(numbers, "gap", outer),
            )
        except KeyError as error:
            raise CorruptCertificate(f'"{error.args[0]}" is missing') from error
        except Misread as error:
            raise CorruptCertificate(str(error)) from error


def digest_stack(Y: Any, layout: Layout) -> str:
    """sha256 of right-hand sides, one after the other, as float64: the same in whatever file or
    precision, and along whatever axis they are held."""
    outer = " ".join(map(str, layout.outer_shape))
    total = sha256(f"{layout.rows} x {outer}\n".encode())
    for begin, end in layout.chunks(4096):
        rows, masked = layout.read(Y, begin, end)
        rows += 0.0  # -0 is 0
        rows[np.isnan(rows)] = np.nan  # there are many
        rows[masked] = np.nan
        total.update(rows.astype("<f8").tobytes())
    return total.hexdigest()


def _sizes(fields: dict[str, Any]) -> tuple[tuple[int, ...], int, int]:
    shape, axis, n = fields["shape"], fields["axis"], fields["columns"]
    if not isinstance(shape, list) or len(shape) < 2 or not all(_whole(s) for s in shape):
        raise Misread('"shape" is not a list of whole numbers')
    if not _whole(axis) or axis >= len(shape):
        raise Misread('"axis" is not an axis of "shape"')
    if not _whole(n):
        raise Misread('"columns" is not a whole number')
    return tuple(shape), axis, n


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _word(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise Misread(f'"{name}" is not the name of a file')
    return value


def _numbers(folder: Path, name: str) -> dict[str, Any]:
    try:
        with np.load(folder / name, allow_pickle=False) as held:
            return {key: held[key] for key in held.files}
    except FileNotFoundError as error:
        raise Misread(f"there is no file {folder / name}, which holds its gaps") from error
    except Exception as error:  # NumPy, zipfile and the system each have their own
        raise Misread(f"{folder / name} cannot be read") from error


def _taken(numbers: dict[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    if name not in numbers:
        raise Misread(f'"{name}" is missing among its numbers')
    array = numbers[name]
    if array.shape != shape or array.dtype.kind != "f":
        raise Misread(
            f'"{name}" has shape {array.shape} and type {array.dtype}, not {shape} of floats'
        )
    return np.asarray(array, dtype=np.float64)
