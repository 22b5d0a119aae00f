"""What a new process pays: the import over scipy.optimize's, and its first `nnls` call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from .environment import with_threads

IMPORT = """
import time
start = time.perf_counter()
import scipy.optimize
middle = time.perf_counter()
import boxreg
print([middle - start, time.perf_counter() - middle])
"""

FIRST_CALL = """
import sys, time
import numpy as np, scipy.optimize, boxreg
m, n = map(int, sys.argv[1:])
A = np.abs(np.random.default_rng(0).standard_normal((m, n)))
b = A.sum(axis=1)
start = time.perf_counter()
boxreg.nnls(A, b)
print([time.perf_counter() - start])
"""

SHAPES = ((50, 20), (100, 100), (400, 600))
"""One problem for each way: single steps, batches, the general solver."""


def startup(repeats: int) -> dict[str, Any]:
    """Best of several new processes; cold caches start from an empty folder each time."""
    imports = [_run(IMPORT) for _ in range(repeats)]
    record: dict[str, Any] = {
        "scipy_optimize_seconds": min(first for first, _ in imports),
        "import_seconds": min(second for _, second in imports),
        "first_call": [],
    }
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            cold = _run(FIRST_CALL, *shape, cache=folder)[0]
            warm = min(_run(FIRST_CALL, *shape, cache=folder)[0] for _ in range(repeats))
        record["first_call"].append({"shape": shape, "cold_seconds": cold, "warm_seconds": warm})
    return record


def _run(code: str, *arguments: int, cache: str | None = None) -> list[float]:
    environment = with_threads(1)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = os.path.join(cache, "numba")
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    figures: list[float] = json.loads(done.stdout)
    return figures
