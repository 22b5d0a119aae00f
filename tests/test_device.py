"""The kernels for GPUs: on a card where there is one, in numba's simulator elsewhere.

The simulator has to be chosen before numba is loaded, and a kernel there takes seconds: each check is a
process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import boxreg
import on_a_card
from boxreg.devices import as_given, host, lives_on_gpu

SCRIPT = Path(__file__).parent / "on_a_card.py"


def has_card() -> bool:
    try:
        boxreg.devices.find_card("cuda")
    except RuntimeError:
        return False
    return True


def run(kind: str, *names: str) -> None:
    # numba-cuda and CuPy warn of NumPy's plans.
    theirs = "ignore:The 'generic' unit for NumPy timedelta:DeprecationWarning"
    strict = ["-W", "error", "-W", theirs] if kind == "simulated" else []
    done = subprocess.run(
        [sys.executable, *strict, str(SCRIPT), kind, *names],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("name", ["unit", "mixed", "free", "each", *on_a_card.CHECKS])
def test_in_the_simulator(name: str) -> None:
    run("simulated", name)


@pytest.mark.skipif(not has_card(), reason="no GPU here")
def test_on_a_card() -> None:
    run("real")


@pytest.mark.skipif(has_card(), reason="there is a GPU here")
def test_a_missing_device_is_named() -> None:
    with pytest.raises(
        RuntimeError, match=r"device: 'cuda' needs an NVIDIA GPU.*boxreg\[gpu\].*'cpu'"
    ):
        boxreg.solve_many(np.eye(3), np.ones((3, 2)), device="cuda")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gpu"}, r"device: expected 'cpu', 'cuda' or 'cuda:0'.*got 'gpu'"),
        ({"device": "cuda:x"}, r"device: expected 'cpu', 'cuda'.*got 'cuda:x'"),
        ({"device": 0}, r"device: expected 'cpu', 'cuda'.*got 0"),
        ({"precision": "half"}, r"precision: expected one of 'float64', 'float32', got 'half'"),
        ({"precision": "float32"}, r"precision: 'float32' is for device='cuda'"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        boxreg.solve_many(np.eye(3), np.ones((3, 2)), **options)


def test_arrays_of_the_host_stay_as_they_are() -> None:
    array = np.ones(3)
    assert not lives_on_gpu(array)
    assert host(array) is array
    assert as_given(array, array) is array
