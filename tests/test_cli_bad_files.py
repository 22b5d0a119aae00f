"""Files that cannot be read: one clear line, exit code 2, no file left behind."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from bad_files import refused, write_bad_files
from command_line import CommandLine, write_problem


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_bad_files(tmp_path, *write_problem(tmp_path))
    return CommandLine(tmp_path, capsys)


ALL = ".npy, .npz, .mtx, .csv, .tsv, .mat, .parquet"
INPUTS = [
    ("nowhere.npy", "y.npy", "A: there is no file nowhere.npy"),
    ("A.npy", "nowhere.csv", "y: there is no file nowhere.csv"),
    ("nowhere.npz:A", "y.npy", "A: there is no file nowhere.npz"),
    ("folder.npy", "y.npy", "A: folder.npy is not a file"),
    ("A.xlsx", "y.npy", f"A: A.xlsx has the ending .xlsx; accepted: {ALL}"),
    ("A.npy", "short.npy", "y: expected a vector with 12 entries (rows of A), got shape (11,)"),
    ("A.npy", "A.npy", "--report: is for one right-hand side; Y holds many"),
    ("y.npy", "y.npy", "A: expected a matrix (2 dimensions), got shape (12,)"),
    ("number.npy", "y.npy", "A: expected a matrix (2 dimensions), got shape ()"),
    ("cube.npy", "y.npy", "A: expected a matrix (2 dimensions), got shape (2, 2, 2)"),
    ("nan.npy", "y.npy", "A: contains NaN; expected finite numbers"),
    ("A.npy", "y_nan.npy", "y: contains NaN; expected finite numbers"),
    ("A.npy", "y_inf.npy", "y: contains inf; expected finite numbers"),
    ("words.npy", "y.npy", "A: expected real numbers, got dtype <U1"),
    ("complex.npy", "y.npy", "A: expected real numbers, got complex dtype complex128"),
    (
        "pickled.npy",
        "y.npy",
        "A: pickled.npy holds pickled objects, which are never loaded; save plain numbers",
    ),
    (
        "pickled.npz",
        "y.npy",
        "A: pickled.npz holds pickled objects, which are never loaded; save plain numbers",
    ),
    (
        "raw.npy",
        "y.npy",
        "A: raw.npy holds pickled objects, which are never loaded; save plain numbers",
    ),
    ("zip.npy", "y.npy", "A: zip.npy is a zip archive; rename it to end in .npz"),
    (
        "several.npz",
        "y.npy",
        "A: several.npz holds several arrays (first, second); say which, as in several.npz:first",
    ),
    (
        "several.npz:third",
        "y.npy",
        "A: several.npz holds nothing named 'third'; it holds: first, second",
    ),
    ("single.npz", "y.npy", "A: single.npz holds a single array; rename it to end in .npy"),
    ("none.npz", "y.npy", "A: none.npz holds no arrays"),
    ("empty.csv", "y.npy", "A: empty.csv is empty"),
    ("head.csv", "y.npy", "A: head.csv has a header and no rows"),
    ("cell.mat", "y.npy", "A: cell.mat: 'A' does not hold numbers"),
]


@pytest.mark.parametrize(("matrix", "target", "message"), INPUTS)
def test_bad_data(run, matrix, target, message):
    refused(run, ("solve", matrix, target, "-o", "x.npy", "--report", "r.html"), message)


UNREADABLE = (
    "truncated.npy",
    "empty.npy",
    "broken.npz",
    "outside.npz",
    "outside.mat",
    "bad.mtx",
    "ragged.csv",
    "words.csv",
    "holes.csv",
    "binary.csv",
    "bad.mat",
    "bad.parquet",
)


@pytest.mark.parametrize("name", UNREADABLE)
def test_broken_files(run, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    before = run.files()
    code, out, err = run("solve", name, "y.npy", "-o", "x.npy")
    assert (code, out) == (2, "")
    # In parentheses the reader's own words, which differ between versions.
    assert err.startswith(f"boxreg: A: {name} cannot be read (")
    assert err.endswith(")\n")
    assert err.count("\n") == 1
    assert run.files() == before


def test_parquet_without_pyarrow(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    expected = "A: bad.parquet: Parquet files need pyarrow: pip install 'boxreg[parquet]'"
    refused(run, ("solve", "bad.parquet", "y.npy", "-o", "x.npy"), expected)


def test_nothing_is_unpickled(run, monkeypatch):
    class Trap:
        def __reduce__(self):
            return (Path("trapped").touch, ())

    np.save("trap.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    np.savez("trap.npz", A=np.array([Trap()], dtype=object))
    Path("trap_raw.npy").write_bytes(pickle.dumps(Trap()))
    Path("trap_raw.npz").write_bytes(pickle.dumps(Trap()))
    for name in ("trap.npy", "trap.npz", "trap_raw.npy", "trap_raw.npz"):
        assert run("solve", name, "y.npy", "-o", "x.npy")[0] == 2
        assert run("solve", "A.npy", "y.npy", "--upper", name, "-o", "x.npy")[0] == 2
    assert not Path("trapped").exists()
