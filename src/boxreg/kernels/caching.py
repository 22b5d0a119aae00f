"""What a kernel on disk depends on: its file, and those that its constants and functions are from.

numba keeps compiled kernels beside their files, and compiles again what has changed there. But constants
are frozen into the code, and inner functions are compiled into those that call them: a proof must not
go on with the margins of yesterday. So the stamp that numba compares is that of all these files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\.+)([\w.]+) import", re.MULTILINE)
_KERNELS = Path(__file__).parent


def depends_on_sources(jit: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The decorator `jit`, with a cache that is void as soon as any source of the kernel changes."""

    def compile_with_sources(function: Any) -> Any:
        kernel = jit(function)
        stored = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
        if stored is not None:  # None where nothing is compiled, or nothing may be written
            path = Path(function.__code__.co_filename)
            stored._source_stamp = (stored._source_stamp, digest(sources(path)))
        return kernel

    return compile_with_sources


def digest(paths: frozenset[Path]) -> str:
    """One number for the content of all files."""
    return hashlib.sha256("".join(map(_hash, sorted(paths))).encode()).hexdigest()


@cache
def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def sources(path: Path) -> frozenset[Path]:
    """The file, and those that it imports from: of kernels with what these import in turn.

    Of other modules kernels use numbers only, so that these stand for themselves.
    """
    found, waiting = {path}, [path]
    while waiting:
        for imported in _imported(waiting.pop()) - found:
            found.add(imported)
            if imported.is_relative_to(_KERNELS):
                waiting.append(imported)
    return frozenset(found)


@cache
def _imported(path: Path) -> frozenset[Path]:
    """The modules of this package that a file imports from."""
    modules = [
        path.parents[len(dots) - 1].joinpath(*name.split(".")).with_suffix(".py")
        for dots, name in _IMPORT.findall(path.read_text(encoding="utf-8"))
    ]
    return frozenset(module for module in modules if module.is_file())
