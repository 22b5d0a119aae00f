"""Where and with what the figures were taken."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import version
from pathlib import Path

THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


def with_threads(count: int) -> dict[str, str]:
    """This process's environment with every thread count pinned."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(count))}


def environment() -> dict[str, str | int]:
    """Date, kind of machine, and the versions that everybody shares."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "numba": version("numba"),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def _cpu() -> str:
    """The CPU's model, with its widest vector instructions: names of virtual CPUs say little."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    seen = {key.strip(): value.strip() for key, value in fields.items()}
    model = seen.get("model name") or platform.processor() or platform.machine()
    flags = seen.get("flags", "").split()
    widest = next((name for name in ("avx512f", "avx2", "avx") if name in flags), "")
    return f"{model} ({widest})" if widest else model
