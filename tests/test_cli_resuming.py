"""Interrupted runs of `boxreg solve` go on where they stopped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import boxreg
from boxreg.batch import journal
from boxreg.files import Resumable
from building import Clock
from command_line import beside_an_image, image, stored
from test_journal import held_elsewhere

A, Y = image()


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    return beside_an_image(tmp_path, monkeypatch, capsys)


def _interrupt_after(monkeypatch, chunks):
    """Ctrl-C when so many chunks are on disk; memory for one block at a time."""
    record, seen = journal.Journal.record, []

    def interrupted(self, line, part):
        record(self, line, part)
        seen.append(line)
        if len(seen) == chunks:
            raise KeyboardInterrupt

    monkeypatch.setattr("boxreg.batch.compiled.Compiled.memory", 1.0)
    monkeypatch.setattr(journal.Journal, "record", interrupted)
    return seen


@pytest.mark.parametrize("name", ["x.npy", "x.zarr"])
def test_an_interrupted_run_goes_on(run, monkeypatch, name):
    if name.endswith(".zarr"):
        pytest.importorskip("zarr")
    arguments = ("solve", "A.npy", "Y.npy", "-o", name)
    before = run.files()
    with monkeypatch.context() as patched:
        seen = _interrupt_after(patched, 2)
        code, _, err = run(*arguments)
        assert (code, seen) == (130, [16, 32])
    assert err == (
        f"boxreg: interrupted; 256 of 320 right-hand sides are kept beside {name}; the same command "
        "goes on from there\n"
    )
    kept = {f"{name}{ending}" for ending in (".part", ".journal", ".journal.npy")}
    assert run.files() == before | kept
    # Another run is refused, and takes nothing away.
    code, _, err = run(*arguments, "--upper", "1")
    assert code == 2
    assert f"{name}.journal belongs to another run" in err
    np.save("short.npy", Y[:, :9])
    assert run("solve", "A.npy", "short.npy", "-o", name)[2] == (
        f"boxreg: --output: {name}.part belongs to another run; remove it and {name}.journal to start "
        "anew\n"
    )
    assert run("solve", "A.npy", "Y.npy", "--lower", "1", "--upper", "0", "-o", name)[0] == 2
    assert run.files() == before | kept | {"short.npy"}
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "resumed 256 of 320 were done before" in out
    assert np.array_equal(stored(name), boxreg.solve_many(A, Y).x)
    assert run.files() == before | {name, "short.npy"}


def test_a_run_out_of_time_goes_on(run, monkeypatch):
    """What is complete is kept, with exit code 1; without time nothing is."""
    arguments = ("solve", "A.npy", "Y.npy", "-o", "x.npy")
    before = run.files()
    code, _, err = run(*arguments, "--time-limit", "0")
    assert code == 1
    assert err == (
        "boxreg: time limit reached; no chunk of right-hand sides was complete, and nothing was "
        "written\n"
    )
    assert run.files() == before
    with monkeypatch.context() as patched:
        patched.setattr("boxreg.batch.compiled.Compiled.memory", 1.0)
        patched.setattr("boxreg.budget.time", Clock())
        code, _, err = run(*arguments, "--time-limit", "5")
    assert code == 1
    assert err.startswith("boxreg: time limit reached; ")
    assert err.endswith(
        "right-hand sides are kept beside x.npy; the same command goes on from there\n"
    )
    assert not Path("x.npy").exists()
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "were done before" in out
    assert np.array_equal(stored("x.npy"), boxreg.solve_many(A, Y).x)


def test_a_journal_knows_the_terms_of_its_run(run, monkeypatch):
    np.save("Y.npy", Y[:, :20])  # two chunks
    arguments = ("solve", "A.npy", "Y.npy", "-o", "x.npy", "--linear")
    with monkeypatch.context() as patched:
        _interrupt_after(patched, 1)
        assert run(*arguments, "0.1")[0] == 130
    assert "belongs to another run" in run(*arguments, "0.2")[2]
    assert run(*arguments, "0.1")[0] == 0
    assert np.array_equal(
        np.load("x.npy"), boxreg.solve_many(A, Y[:, :20], linear=np.full(20, 0.1)).x
    )


CUT_SHORT = {
    "x.npy.journal.npy": "x.npy.journal is broken; remove it to start anew\n",
    "x.npy.part": "); remove it and x.npy.journal to start anew\n",
}


@pytest.mark.parametrize(("name", "message"), CUT_SHORT.items())
def test_files_that_are_cut_short_are_not_believed(run, monkeypatch, name, message):
    with monkeypatch.context() as patched:
        _interrupt_after(patched, 1)
        assert run("solve", "A.npy", "Y.npy", "-o", "x.npy")[0] == 130
    held = Path(name).read_bytes()
    Path(name).write_bytes(held[: len(held) // 2])
    code, _, err = run("solve", "A.npy", "Y.npy", "-o", "x.npy")
    assert code == 2
    assert err.endswith(message)
    assert Path("x.npy.part").exists()


def test_a_second_process_is_kept_out(run, monkeypatch):
    arguments = ("solve", "A.npy", "Y.npy", "-o", "x.npy")
    with monkeypatch.context() as patched:
        _interrupt_after(patched, 1)
        assert run(*arguments)[0] == 130
    before = run.files()
    with held_elsewhere(Path("x.npy.lock")) as process:
        code, _, err = run(*arguments)
        assert code == 2
        assert f"--output: x.npy is being written by process {process.pid} on " in err
        assert "the same command then goes on from there" in err
        assert run.files() == before | {"x.npy.lock"}
        process.kill()
    assert run(*arguments)[0] == 0
    assert run.files() == {"A.npy", "Y.npy", "x.npy"}
    assert np.array_equal(stored("x.npy"), boxreg.solve_many(A, Y).x)


@pytest.mark.parametrize("name", ["x.npy", "x.zarr"])
def test_what_was_changed_since_is_not_believed(run, monkeypatch, name):
    if name.endswith(".zarr"):
        pytest.importorskip("zarr")
    arguments = ("solve", "A.npy", "Y.npy", "-o", name)
    with monkeypatch.context() as patched:
        _interrupt_after(patched, 2)
        assert run(*arguments)[0] == 130
    journal = Path(f"{name}.journal")
    told = journal.read_text()
    journal.write_text(json.dumps({**json.loads(told), "lines": 10**9}))
    code, out, err = run(*arguments)
    assert code == 2
    assert "resumed" not in out
    assert f"{name}.journal is broken; remove it to start anew" in err
    journal.write_text(told)
    part = Resumable(Path(name), "--output").open((20, 40, 8), 0)
    kept, part[3, 4, 5] = part[3, 4, 5], 7.0
    code, _, err = run(*arguments)
    assert code == 2
    assert "something else has written there" in err
    part[3, 4, 5] = kept
    assert run(*arguments)[0] == 0
    assert np.array_equal(stored(name), boxreg.solve_many(A, Y).x)


def test_interrupted_before_the_first_chunk_leaves_nothing(run, monkeypatch):
    def interrupt(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("boxreg.batch.compiled.Compiled.solve", interrupt)
    code, _, err = run("solve", "A.npy", "Y.npy", "-o", "x.npy")
    assert (code, err) == (130, "\nboxreg: interrupted; nothing was written\n")
    assert run.files() == {"A.npy", "Y.npy"}
