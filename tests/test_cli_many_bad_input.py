"""Many right-hand sides, bad input: one clear line, the right exit code, nothing half-written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bad_files import refused
from boxreg.files import zarr_arrays
from command_line import CommandLine, problem


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A, Y with ten right-hand sides, and some that cannot be solved."""
    monkeypatch.chdir(tmp_path)
    A, y = problem()
    rng = np.random.default_rng(2)
    Y = y[:, None] + 0.1 * rng.standard_normal((12, 10))
    np.save("A.npy", A)
    np.save("y.npy", y)
    np.save("Y.npy", Y)
    np.save("turned.npy", Y.T)
    np.save("nan.npy", np.where(Y.max() == Y, np.nan, Y))
    np.save("words.npy", np.array([["a", "b"]] * 12))
    np.save("pickled.npy", np.array([[{}, 1]] * 12, dtype=object), allow_pickle=True)
    np.save("none.npy", np.zeros((12, 0)))
    np.save("upper.npy", np.ones((20, 9)))
    np.save("crossed.npy", np.full((20, 10), -1.0))
    Path("folder.zarr").mkdir()
    Path("folder.zarr/mine.txt").touch()
    return CommandLine(tmp_path, capsys)


BAD = [
    ("nowhere.npy", (), "y: there is no file nowhere.npy"),
    ("nowhere.zarr", (), "y: there is no folder nowhere.zarr"),
    ("folder.zarr", (), "y: folder.zarr is not a zarr array"),
    ("turned.npy", (), "Y: expected 12 entries (rows of A) along axis 0, got shape (10, 12)"),
    (
        "Y.npy",
        ("--axis", "-1"),
        "Y: expected 12 entries (rows of A) along axis -1, got shape (12, 10)",
    ),
    ("Y.npy", ("--axis", "2"), "axis: expected a whole number that names an axis of Y, got 2"),
    (
        "nan.npy",
        (),
        "Y: right-hand side {nan} contains NaN (1 such in this chunk); --nan skip leaves them out",
    ),
    ("words.npy", (), "Y: expected real numbers, got dtype <U1"),
    (
        "pickled.npy",
        (),
        "y: pickled.npy holds pickled objects, which are never loaded; save plain numbers",
    ),
    ("none.npy", (), "y: none.npy holds no right-hand sides"),
    (
        "Y.npy",
        ("--lower", "2", "--upper", "1"),
        "bounds: lower must not exceed upper, but lower[0] = 2 > upper[0] = 1 (20 such coordinates)",
    ),
    (
        "Y.npy",
        ("--upper", "upper.npy"),
        "upper: expected a number, a vector with 20 entries (columns of A) or an array of shape "
        "(20, 10), got shape (20, 9)",
    ),
    (
        "Y.npy",
        ("--upper", "crossed.npy"),
        "bounds: lower must not exceed upper, and neither may hold NaN",
    ),
    ("Y.npy", ("--jobs", "0"), "n_jobs: expected a whole number >= 1, or -1, got 0"),
    ("Y.npy", ("--tol", "-1"), "tol: expected a finite number >= 0, got -1.0"),
    ("Y.npy", ("--solver", "newton"), "--solver: is for one right-hand side; Y holds many"),
    ("Y.npy", ("--max-iter", "3"), "--max-iter: is for one right-hand side; Y holds many"),
    ("Y.npy", ("--plot", "f.png"), "--plot: is for one right-hand side; Y holds many"),
    ("y.npy", ("--jobs", "2"), "--jobs: is for many right-hand sides; y is one"),
    ("y.npy", ("--sparse",), "--sparse: is for many right-hand sides; y is one"),
    (
        "y.npy",
        ("-o", "x.zarr"),
        "--output: x.zarr is no format for one right-hand side; accepted: {one}",
    ),
    (
        "Y.npy",
        ("-o", "x.csv"),
        "--output: x.csv is no format for many right-hand sides; accepted: .npy, .npz, .zarr",
    ),
    ("Y.npy", ("-o", "folder.zarr"), "--output: folder.zarr exists and is not a zarr array"),
    ("Y.npy", ("-o", "no/where.zarr"), "--output: there is no folder no"),
    ("Y.npy", ("-o", "Y.npy"), "--output: Y.npy is read in this run; it would be overwritten"),
    ("Y.npy", ("--sparse",), "--sparse: a sparse x goes to an .npz file, not x.npy"),
]


@pytest.mark.parametrize(("target", "options", "message"), BAD)
def test_bad_input(run, target, options, message):
    if any(str(part).endswith(".zarr") for part in (target, *options)):
        pytest.importorskip("zarr")
    at = int(np.argmax(np.load("Y.npy").max(axis=0)))
    expected = message.format(nan=at, one=".npy, .npz, .csv, .tsv")
    refused(run, ("solve", "A.npy", target, "-o", "x.npy", *options), expected)


@pytest.mark.parametrize("name", ["/proc/x.npy", "/proc/x.zarr"])
def test_an_output_that_cannot_be_written(run, name):
    if not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    if name.endswith(".zarr"):
        pytest.importorskip("zarr")
    said = f"--output: {name} cannot be written (No such file or directory)"
    refused(run, ("solve", "A.npy", "Y.npy", "-o", name), said)


def test_zarr_that_is_not_installed(run, monkeypatch):
    monkeypatch.setattr(zarr_arrays, "find_spec", lambda name: None)
    said = "zarr arrays need zarr: pip install 'boxreg[zarr]'"
    refused(run, ("solve", "A.npy", "Y.npy", "-o", "x.zarr"), f"--output: x.zarr: {said}")
    refused(run, ("solve", "A.npy", "folder.zarr", "-o", "x.npy"), f"y: folder.zarr: {said}")


def test_a_disk_that_is_full(run, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("boxreg.files.resumable.os.posix_fallocate", full, raising=False)
    said = "--output: x.npy cannot be written (No space left on device)"
    refused(run, ("solve", "A.npy", "Y.npy", "-o", "x.npy"), said)


def test_no_zarr_filter_unpickles(run):
    pytest.importorskip("zarr")
    head = {"zarr_format": 2, "shape": [12, 2], "chunks": [12, 2], "dtype": "<f8", "order": "C"}
    head |= {"compressor": None, "fill_value": 0.0, "filters": [{"id": "pickle", "protocol": 5}]}
    Path("trap.zarr").mkdir()
    Path("trap.zarr/.zarray").write_text(json.dumps(head))
    said = "y: trap.zarr holds pickled objects, which are never loaded; save plain numbers"
    refused(run, ("solve", "A.npy", "trap.zarr", "-o", "x.npy"), said)
    Path("trap.zarr/.zarray").write_text("{")
    code, _, err = run("solve", "A.npy", "trap.zarr", "-o", "x.npy")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("boxreg: y: trap.zarr cannot be read (")


def test_a_broken_journal_is_not_taken_for_progress(run):
    np.lib.format.open_memmap("x.npy.part", mode="w+", dtype=float, shape=(20, 10)).flush()
    for name in ("x.npy.journal", "x.npy.journal.npy"):
        Path(name).write_text("{")
    code, _, err = run("solve", "A.npy", "Y.npy", "-o", "x.npy")
    assert code == 2
    assert err.endswith("x.npy.journal is broken; remove it to start anew\n")
    assert Path("x.npy.part").exists()
    assert not Path("x.npy").exists()
    Path("x.npy.journal").unlink()  # as it says
    assert run("solve", "A.npy", "Y.npy", "-o", "x.npy", "-q") == (0, "", "")
    assert not any(name.startswith("x.npy.") for name in run.files())
