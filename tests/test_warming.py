"""Compiling: when, how long, and who hears of it."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest

import boxreg
from boxreg.compile_time import CompileTime, Stopwatch, compile_time

LATER = """
import numpy as np, scipy.sparse, boxreg
from boxreg.compile_time import compile_time
boxreg.warmup()
def signatures():
    import sys
    kernels = [m for name, m in sys.modules.items() if name.startswith("boxreg.kernels.")]
    found = {f for m in kernels for f in vars(m).values() if hasattr(f, "signatures")}
    return sum(len(f.signatures) for f in found)
known, spent = signatures(), compile_time.spent
rng = np.random.default_rng(1)
A, y = rng.random((30, 12)), rng.random(30)
boxreg.nnls(A, y)
boxreg.lsq_linear(A, y, (0, 0.1))
boxreg.solve(A, y, 0.0, 0.1, ridge=0.1)
boxreg.solve(A, y, loss="huber", sample_weight=y)
boxreg.solve_many(A, rng.random((30, 4)))
boxreg.solve_many(A, rng.random((30, 4)), ridge=0.1)
boxreg.solve(rng.standard_normal((500, 600)), rng.standard_normal(500))
S = scipy.sparse.random(900, 700, 0.02, format="csc", random_state=1)
boxreg.solve(S, S @ rng.random(700))
print(signatures() - known, compile_time.spent - spent)
"""


def test_nothing_is_left_to_compile() -> None:
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0.0"]
    assert done.stderr == ""


class Stream(io.StringIO):
    """Standard error, on a terminal or in a pipe."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def told(monkeypatch: pytest.MonkeyPatch, module: str, *, terminal: bool, times: int = 1) -> str:
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    clock = CompileTime()
    for _ in range(times):
        clock.begin(module)
        clock.begin("numpy")  # what it calls is part of it
        clock.end()
        clock.end()
    assert clock.spent > 0.0
    return stream.getvalue()


def test_a_terminal_shows_a_line_and_wipes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = told(monkeypatch, "boxreg.kernels.sweeps", terminal=True)
    assert text.startswith("\r\x1b[Kboxreg: compiling for this machine")
    assert text.endswith("\r\x1b[K")


def test_pipes_and_the_functions_of_others_are_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, "boxreg.kernels.sweeps", terminal=False) == ""
    assert "boxreg" not in told(monkeypatch, "somebody.else", terminal=True)


def test_a_notebook_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class ZMQInteractiveShell:
        pass

    class IPython:
        get_ipython = ZMQInteractiveShell

    monkeypatch.setitem(sys.modules, "IPython", IPython)  # type: ignore[arg-type]
    text = told(monkeypatch, "boxreg.kernels.sweeps", terminal=False, times=3)
    assert text.count("\n") == 1


def test_stopwatches_leave_compiling_out(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Stopwatch()
    monkeypatch.setattr(compile_time, "spent", compile_time.spent + 100.0)
    assert watch.seconds < 0.0


def test_seconds_of_a_result_leave_compiling_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_time, "spent", compile_time.spent)

    def compiling(seen: boxreg.Snapshot) -> None:
        compile_time.spent += 100.0

    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((20, 5)), np.where(rng.random(20) < 0.5, -1.0, 1.0)
    result = boxreg.solve(A, y, loss="logistic", solver="projected_gradient", callback=compiling)
    assert len(result.history.gap) > 1
    assert result.seconds < 0.0
    assert result.history.seconds[-1] < 0.0


def test_no_kernel_is_compiled_for_a_constant() -> None:
    """numba would compile a version of each function for every constant that it is called with."""
    from boxreg.kernels import orthogonal_active_set, orthogonal_factor

    rng = np.random.default_rng(0)
    boxreg.nnls(rng.random((9, 4)), rng.random(9))
    for module in (orthogonal_active_set, orthogonal_factor):
        for function in vars(module).values():
            assert "Literal" not in str(getattr(function, "signatures", ""))
