"""Proofs of compiled kernels, judged as plain Python: those for CPUs uncompiled, for GPUs simulated.

Both have to be chosen before numba is loaded, so that this is a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "kernel_proofs.py"


def test_kernels_as_python() -> None:
    plain = {"NUMBA_DISABLE_JIT": "1", "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", str(SCRIPT)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **plain},
        cwd=SCRIPT.parents[1],
    )
    assert done.returncode == 0, done.stdout[-3000:]
