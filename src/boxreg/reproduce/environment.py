"""Where and with what the figures were taken."""

from __future__ import annotations

import os
import platform
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..version import __version__
from .store import now

THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

_PRESENTATION = ("reproduce", "cli", "reporting", "files")
"""Folders of the package that no measurement depends on."""


def pinned() -> bool:
    """Whether this process was started with one thread."""
    return all(os.environ.get(name) == "1" for name in THREAD_VARIABLES)


def one_thread() -> dict[str, str]:
    """This process's environment with every thread count pinned to one."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}


def fingerprint() -> dict[str, Any]:
    """What must be the same for two measurements to be comparable."""
    return {
        "boxreg": __version__,
        "source": _source(),
        "cpu": _cpu(),
        "threads": os.environ.get("OPENBLAS_NUM_THREADS", "not pinned"),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "scipy", "numba")},
    }


def environment() -> dict[str, Any]:
    """The fingerprint, and what else is worth knowing."""
    return {
        "date": now(),
        **fingerprint(),
        "cores": os.cpu_count() or 0,
        "system": f"{platform.system()} {platform.machine()}",
        "matplotlib": _version("matplotlib"),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _source() -> str:
    """Digest of the code that is measured."""
    root = Path(__file__).parents[1]
    total = sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in _PRESENTATION:
            total.update(str(name).encode() + path.read_bytes())
    return total.hexdigest()[:16]


def _cpu() -> str:
    """The CPU's model, with its widest vector instructions: names of virtual CPUs say little."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    seen = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    model = seen.get("model name") or platform.processor() or platform.machine()
    flags = seen.get("flags", "").split()
    widest = next((name for name in ("avx512f", "avx2", "avx") if name in flags), "")
    return f"{model} ({widest})" if widest else model
