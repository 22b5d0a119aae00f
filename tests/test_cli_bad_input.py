"""Bad input: one clear line, the right exit code, no file left behind."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

from boxreg.cli import outputs
from command_line import CommandLine, write_problem


def _bad_files(folder: Path, A: np.ndarray, y: np.ndarray) -> None:
    np.save(folder / "nan.npy", np.where(A > 0.5, np.nan, A))
    np.save(folder / "y_nan.npy", np.append(y[:-1], np.nan))
    np.save(folder / "y_inf.npy", np.append(y[:-1], np.inf))
    np.save(folder / "short.npy", y[:-1])
    np.save(folder / "number.npy", np.float64(3.0))
    np.save(folder / "cube.npy", np.zeros((2, 2, 2)))
    np.save(folder / "words.npy", np.array([["a", "b"]]))
    np.save(folder / "complex.npy", A + 1j)
    np.save(folder / "pickled.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    np.savez(folder / "pickled.npz", A=np.array([{}, 1], dtype=object))
    (folder / "raw.npy").write_bytes(pickle.dumps(A))
    (folder / "truncated.npy").write_bytes((folder / "A.npy").read_bytes()[:200])
    (folder / "empty.npy").write_bytes(b"")
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 and then nothing")
    np.savez(folder / "several.npz", first=A, second=A)
    np.savez(folder / "none.npz")
    matrix = sparse.csc_matrix(A)
    matrix.indices[3] = 999
    sparse.save_npz(folder / "outside.npz", matrix)
    matrix.indices[3] = 2**20  # whatever SciPy itself lets through, the indices are looked at
    io.savemat(folder / "outside.mat", {"A": matrix})
    (folder / "single.npz").write_bytes((folder / "A.npy").read_bytes())
    (folder / "zip.npy").write_bytes((folder / "several.npz").read_bytes())
    (folder / "bad.mtx").write_text("%%MatrixMarket matrix nonsense\n1 1\n")
    (folder / "ragged.csv").write_text("1,2,3\n4,5\n")
    (folder / "words.csv").write_text("1,2\n3,four\n")
    (folder / "holes.csv").write_text("1,2\n3,\n")
    (folder / "empty.csv").write_text("")
    (folder / "head.csv").write_text("a,b\n")
    (folder / "binary.csv").write_bytes(bytes(range(128, 256)))
    (folder / "bad.mat").write_bytes(b"not a mat file, at all" * 20)
    (folder / "bad.parquet").write_bytes(b"PAR1 no")
    io.savemat(folder / "cell.mat", {"A": np.array([[1, "a"]], dtype=object)})
    (folder / "A.xlsx").write_bytes(b"")
    (folder / "folder.npy").mkdir()
    np.save(folder / "upper_short.npy", np.ones(3))
    np.save(folder / "lower_high.npy", np.where(np.arange(20) == 7, 2.0, 0.0))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    A, y = write_problem(tmp_path)
    _bad_files(tmp_path, A, y)
    command = CommandLine(tmp_path, capsys)
    assert command("solve", "A.npy", "y.npy", "-o", "x.npy", "--certificate", "cert.json")[0] == 0
    Path("x.npy").unlink()
    return command


ALL = ".npy, .npz, .mtx, .csv, .tsv, .mat, .parquet"
INPUTS = [
    ("nowhere.npy", "y.npy", "A: there is no file nowhere.npy"),
    ("A.npy", "nowhere.csv", "y: there is no file nowhere.csv"),
    ("nowhere.npz:A", "y.npy", "A: there is no file nowhere.npz"),
    ("folder.npy", "y.npy", "A: folder.npy is not a file"),
    ("A.xlsx", "y.npy", f"A: A.xlsx has the ending .xlsx; accepted: {ALL}"),
    ("A.npy", "short.npy", "y: expected a vector with 12 entries (rows of A), got shape (11,)"),
    ("A.npy", "A.npy", "y: expected a vector with 12 entries (rows of A), got shape (12, 20)"),
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
    ("cell.mat", "y.npy", "A: expected real numbers, got dtype object"),
]


@pytest.mark.parametrize(("matrix", "target", "message"), INPUTS)
def test_bad_data(run, matrix, target, message):
    _refused(run, ("solve", matrix, target, "-o", "x.npy", "--report", "r.html"), message)


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


OPTIONS = [
    (
        ("--lower", "2", "--upper", "1"),
        "bounds: lower must not exceed upper, but lower[0] = 2 > upper[0] = 1 (20 such coordinates)",
    ),
    (
        ("--lower", "lower_high.npy", "--upper", "1"),
        "bounds: lower must not exceed upper, but lower[7] = 2 > upper[7] = 1 (1 such coordinates)",
    ),
    (
        ("--upper", "upper_short.npy"),
        "upper: expected a number or a vector with 20 entries (columns of A), got shape (3,)",
    ),
    (("--upper", "nan"), "upper: contains NaN; expected numbers (lower may hold -inf, upper inf)"),
    (("--lower", "none.npy"), "--lower: there is no file none.npy"),
    (
        ("--solver", "simplex"),
        "solver: unknown name 'simplex'; accepted: {solvers}",
    ),
    (("--loss", "square"), "loss: unknown name 'square'; accepted: {losses}"),
    (
        ("--loss", "least_squares:delta=1"),
        "loss: 'least_squares' has no parameter 'delta'; accepted: none",
    ),
    (
        ("--loss", "least_squares:delta"),
        "--loss: expected NAME or NAME:PARAMETER=VALUE,…, got 'least_squares:delta'",
    ),
    (("--loss", "huber:delta=none.npy"), "--loss delta: there is no file none.npy"),
    (
        ("--loss", "kullback_leibler:background=upper_short.npy"),
        "background: expected a number or a vector with one entry for each of the 12 rows of A, got 3 entries",
    ),
    (
        ("--linear", "upper_short.npy"),
        "linear: expected a vector with 20 entries (columns of A), got shape (3,)",
    ),
    (
        ("--sample-weight", "upper_short.npy"),
        "sample_weight: expected a vector with 12 entries (rows of A), got shape (3,)",
    ),
    (("--loss", "huber:delta=-1"), "loss: delta: expected a finite number > 0, got -1.0"),
    (
        ("--loss", "kullback_leibler", "--lower", "-1"),
        "loss: 'kullback_leibler' needs lower >= 0, but lower[0] = -1 (20 such coordinates)",
    ),
    (("--ridge", "-1"), "ridge: expected a finite number >= 0, got -1.0"),
    (("--tol", "-1"), "tol: expected a finite number >= 0, got -1.0"),
    (
        ("--tol", "small"),
        "Invalid value for '--tol': 'small' is not a valid float. See boxreg solve --help",
    ),
    (("--max-iter", "-1"), "max_iter: expected None or a whole number >= 0, got -1"),
    (("--certificate", "c.txt"), "--certificate: c.txt must end in one of .json"),
    (("--plot", "f.bmp"), "--plot: f.bmp must end in one of .png, .svg, .pdf"),
    (("--report", "no/where/r.html"), "--report: there is no folder no/where"),
    (
        ("--report", "/proc/r.html"),
        "--report: /proc/r.html cannot be written (No such file or directory)",
    ),
    (("--output", "folder.npy"), "--output: folder.npy exists and is not a file"),
    (("--output", "A.npy"), "--output: A.npy is read in this run; it would be overwritten"),
    (("--output", "x.xlsx"), "--output: x.xlsx must end in one of .npy, .npz, .csv, .tsv"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_bad_options(run, options, message):
    from boxreg.losses import LOSSES
    from boxreg.solvers import SOLVERS

    if "/proc/r.html" in options and not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    names = {"solvers": ", ".join(sorted({"auto", *SOLVERS})), "losses": ", ".join(sorted(LOSSES))}
    expected = message.format(**names)
    _refused(run, ("solve", "A.npy", "y.npy", "-o", "x.npy", *options), expected)


def _refused(run, arguments, message):
    before = {name: Path(name).stat().st_mtime_ns for name in run.files()}
    code, _, err = run(*arguments)
    assert err == f"boxreg: {message}\n"
    assert code == 2
    assert {name: Path(name).stat().st_mtime_ns for name in run.files()} == before


def test_bad_commands(run):
    for arguments, message in (
        (("sovle",), "No such command 'sovle'."),
        (("solve",), "Missing argument 'A'. See boxreg solve --help"),
        (("solve", "A.npy"), "Missing argument 'Y'. See boxreg solve --help"),
        (("solve", "A.npy", "y.npy"), "Missing option '-o' / '--output'. See boxreg solve --help"),
        (("solve", "A.npy", "y.npy", "-o", "x.npy", "--shape", "1"), "No such option"),
        (("demo", "--size", "huge"), "Invalid value for '--size': 'huge' is not one of"),
    ):
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"boxreg: {message}")


def test_two_outputs_of_one_name(run):
    arguments = ("solve", "A.npy", "y.npy", "-o", "x.npy", "--report", "r.html")
    Path("r2.html").symlink_to("r.html")
    Path("r.npy").symlink_to("r.html")
    code, _, err = run(*arguments[:4], "r.npy", *arguments[5:])
    assert (code, err) == (2, "boxreg: two outputs have the same name\n")


def test_plot_without_matplotlib(run, monkeypatch):
    monkeypatch.setattr(outputs, "find_spec", lambda name: None)
    arguments = ("solve", "A.npy", "y.npy", "-o", "x.npy", "--plot", "f.png")
    _refused(run, arguments, "--plot needs matplotlib: pip install 'boxreg[plot]'")


def test_parquet_without_pyarrow(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    expected = "A: bad.parquet: Parquet files need pyarrow: pip install 'boxreg[parquet]'"
    _refused(run, ("solve", "bad.parquet", "y.npy", "-o", "x.npy"), expected)


def test_a_failure_while_writing_leaves_nothing(run, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("boxreg.reporting.page.result_page", lambda result: "page")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    arguments = ("solve", "A.npy", "y.npy", "-o", "x.npy", "--plot", "f.png", "--report", "r.html")
    _refused(run, arguments, "--plot: f.png cannot be written (No space left on device)")


def _with(change):
    held = json.loads(Path("cert.json").read_text())
    change(held)
    return json.dumps(held)


CERTIFICATES = {
    "truncated": (lambda text: text[: len(text) // 2], "not valid JSON: "),
    "empty": (lambda text: "", "not valid JSON: "),
    "nested": (lambda text: "[" * 100_000, "not valid JSON: "),
    "a list": (lambda text: "[1, 2]", '"format" is not "boxreg certificate"'),
    "another format": (lambda text: '{"format": "x"}', '"format" is not "boxreg certificate"'),
    "a later version": (
        lambda text: _with(lambda held: held.update(version=2)),
        "version 2 is not known here; accepted: 1",
    ),
    "no x": (lambda text: _with(lambda held: held.pop("x")), '"x" is missing'),
    "no bound": (
        lambda text: _with(lambda held: held["problem"].pop("upper")),
        '"upper" is missing',
    ),
    "short x": (lambda text: _with(lambda held: held["x"].pop()), '"x" has 19 entries, not 20'),
    "words in x": (
        lambda text: _with(lambda held: held["x"].__setitem__(0, "much")),
        "\"x\" holds 'much', which is not a number",
    ),
    "NaN in theta": (
        lambda text: _with(lambda held: held["theta"].__setitem__(0, float("nan"))),
        "\"theta\" holds 'nan', which is not a number",
    ),
    "true in x": (
        lambda text: _with(lambda held: held["x"].__setitem__(0, True)),
        "\"x\" holds 'True', which is not a number",
    ),
    "huge gap": (
        lambda text: _with(lambda held: held.update(gap=10**400)),
        '"gap" holds \'1' + "0" * 39 + "', which is not a number",
    ),
    "x a number": (
        lambda text: _with(lambda held: held.update(x=1)),
        '"x" is not a list of numbers',
    ),
    "odd shape": (
        lambda text: _with(lambda held: held.update(shape=[12, 20.5])),
        '"shape" is not a pair of whole numbers',
    ),
    "no digest": (
        lambda text: _with(lambda held: held["sha256"].pop("y")),
        '"sha256" lacks A or y',
    ),
    "loss a number": (
        lambda text: _with(lambda held: held["problem"].update(loss=3)),
        '"problem.loss" lacks a name',
    ),
    "problem a list": (
        lambda text: _with(lambda held: held.update(problem=[])),
        '"problem" is not an object',
    ),
}


@pytest.mark.parametrize(("corrupt", "message"), CERTIFICATES.values(), ids=CERTIFICATES.keys())
def test_corrupted_certificates(run, corrupt, message):
    Path("cert.json").write_text(corrupt(Path("cert.json").read_text()))
    code, out, err = run("verify", "A.npy", "y.npy", "cert.json")
    assert (code, out) == (2, "")
    assert err.startswith(f"boxreg: certificate: cert.json is corrupted: {message}")
    if message.endswith(": "):  # the parser's own words follow
        assert err.count("\n") == 1
    else:
        assert err == f"boxreg: certificate: cert.json is corrupted: {message}\n"


def test_other_bad_input_of_verify(run):
    Path("bytes.json").write_bytes(b"\xff\xfe\x00")
    Path("term.json").write_text(_with(lambda held: held["problem"].update(entropy=1)))
    Path("loss.json").write_text(_with(lambda held: held["problem"]["loss"].update(name="none")))
    Path("theta.json").write_text(_with(lambda held: held["theta"].pop()))
    np.save("wide.npy", np.zeros((12, 21)))
    for arguments, message in (
        (("A.npy", "y.npy", "no.json"), "certificate: there is no file no.json"),
        (
            ("A.npy", "y.npy", "folder.npy"),
            "certificate: folder.npy cannot be read (Is a directory)",
        ),
        (("A.npy", "y.npy", "bytes.json"), "certificate: bytes.json is corrupted: not text"),
        (("A.npy", "short.npy", "cert.json"), "y: expected a vector with 12 entries"),
        (("wide.npy", "y.npy", "cert.json"), "A: the certificate is for 12 × 20 data, got 12 × 21"),
        (
            ("A.npy", "y.npy", "term.json"),
            "certificate: it has a term 'entropy', which this version",
        ),
        (("A.npy", "y.npy", "loss.json"), "loss: unknown name 'none'; accepted: "),
        (("A.npy", "y.npy", "theta.json"), "theta: expected a vector with 12 entries"),
        (("nan.npy", "y.npy", "cert.json"), "A: contains NaN; expected finite numbers"),
        (("pickled.npy", "y.npy", "cert.json"), "A: pickled.npy holds pickled objects"),
    ):
        code, _, err = run("verify", *arguments)
        assert err.startswith(f"boxreg: {message}")
        assert (code, err.count("\n")) == (2, 1)


def test_tracebacks_only_with_debug(run):
    assert "Traceback" not in run("solve", "none.npy", "y.npy", "-o", "x.npy")[2]
    for arguments in (
        ("--debug", "solve", "none.npy", "y.npy", "-o", "x.npy"),
        ("solve", "none.npy", "y.npy", "-o", "x.npy", "--debug"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert err.startswith("Traceback")
        assert err.endswith("boxreg: A: there is no file none.npy\n")


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
