"""Large products in several threads: the same as in one, and no more threads than are allowed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import in_threads, validate
from boxreg.designs import Design
from boxreg.settings import Settings

RNG = np.random.default_rng(41)
SHARE = 100


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch, change: Callable[..., object]) -> list[str]:
    """Three threads, for products of any size; the names of those that took part."""
    names: list[str] = []
    real = in_threads.in_parts

    def noting(job: Any, edges: Any) -> Any:
        def noted(begin: int, end: int) -> Any:
            names.append(threading.current_thread().name)
            return job(begin, end)

        return real(noted, edges)

    for name in in_threads._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(in_threads, "_cores", lambda: 3)
    change(thread_entries=SHARE)
    for module in ("dense", "sparse"):
        monkeypatch.setattr(f"boxreg.designs.{module}.in_parts", noting)
    return names


KINDS = {
    "columns": np.asfortranarray,
    "rows": np.ascontiguousarray,
    "float32": lambda A: np.asfortranarray(A, dtype=np.float32),
    "sparse": sparse.csc_array,
}


def everything(design: Design, A: Any, x: Any, v: Any, some: Any) -> list[tuple[Any, Any]]:
    survey = design.survey(v)
    return [
        (design.matvec(x), A @ x),
        (design.rmatvec(v), A.T @ v),
        (design.correlate_some(some, v), A[:, some].T @ v),
        (design.combine(some, x[some]), A[:, some] @ x[some]),
        (survey.norms, np.linalg.norm(A, axis=0)),
        (survey.sums, A.sum(axis=0)),
        (survey.correlation, A.T @ v),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(40, 31), (7, 60), (150, 3), (200, 1), (1, 200)])
def test_products_in_threads(kind: str, shape: tuple[int, int], three: list[str]) -> None:
    A = RNG.standard_normal(shape) * (RNG.random(shape) < 0.6)
    design = validate.design(KINDS[kind](A))
    exact = A.astype(np.float32).astype(float) if kind == "float32" else A
    x, v = RNG.standard_normal(shape[1]), RNG.standard_normal(shape[0])
    some = np.flatnonzero(RNG.random(shape[1]) < 0.8)
    for got, expected in everything(design, exact, x, v, some):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-11)
    assert not design.survey(v).nonnegative
    assert validate.design(KINDS[kind](np.abs(A))).survey(v).nonnegative
    if min(shape) > 3:
        assert len(set(three)) > 1


def test_what_is_below_zero_is_seen_in_any_part(three: list[str]) -> None:
    for k in range(0, 60, 7):
        A = np.ones((20, 60))
        A[k % 20, k] = -1.0
        for kind in KINDS.values():
            assert not validate.design(kind(A)).survey(np.ones(20)).nonnegative


def test_small_products_wake_nobody(three: list[str]) -> None:
    A = np.asfortranarray(RNG.standard_normal((2 * SHARE - 1, 1)))
    validate.design(A).rmatvec(np.ones(len(A)))
    assert set(three) <= {threading.current_thread().name}


def test_a_run_in_threads_is_proved(three: list[str]) -> None:
    A, y = RNG.random((120, 300)), RNG.random(120)
    for kind in KINDS.values():
        result = boxreg.solve(kind(A), y, 0.0, 1.0)
        assert result.certificate
        assert result.certificate.rigorous


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, 5),
        ({"OMP_NUM_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": "4,2", "MKL_NUM_THREADS": "3"}, 3),
        ({"OPENBLAS_NUM_THREADS": "1"}, 1),
        ({"NUMBA_NUM_THREADS": "64"}, 5),
        ({"OMP_NUM_THREADS": "0"}, 5),
        ({"OMP_NUM_THREADS": "many"}, 5),
    ],
)
def test_how_many(told: dict[str, str], expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in in_threads._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(in_threads, "_cores", lambda: 5)
    assert in_threads.allowed() == expected
    assert in_threads.shares(10 * Settings.thread_entries) == expected
    assert in_threads.shares(2 * Settings.thread_entries - 1) == 1


def test_who_is_one_of_many_works_alone(three: list[str]) -> None:
    with ThreadPoolExecutor(1, initializer=in_threads.work_alone) as pool:
        assert pool.submit(in_threads.allowed).result() == 1
    with in_threads.alone():
        assert in_threads.allowed() == 1
    assert in_threads.allowed() == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_is_forked_off_starts_its_own() -> None:
    code = (
        "import os, numpy as np\n"
        "from boxreg import in_threads, settings, validate\n"
        "settings.adopt(settings.Settings(thread_entries=10))\n"
        "in_threads._cores = lambda: 3\n"
        "design, v = validate.design(np.ones((20, 30), order='F')), np.ones(20)\n"
        "assert np.all(design.rmatvec(v) == 20.0)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(0 if np.all(design.rmatvec(v) == 20.0) else 1)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    free = {name: value for name, value in os.environ.items() if name not in in_threads._VARIABLES}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=free, check=True, timeout=120)


def test_importing_starts_nothing() -> None:
    """Neither threads nor the pool that would start them; what SciPy imports is its own affair."""
    code = (
        "import threading; from boxreg import in_threads; "
        "raise SystemExit(threading.active_count() - 1 + in_threads._pool.cache_info().currsize)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
