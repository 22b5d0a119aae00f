"""Options that make no sense: one clear line, exit code 2, no file left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from bad_files import refused, write_bad_files
from boxreg.cli import outputs
from command_line import CommandLine, write_problem


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_bad_files(tmp_path, *write_problem(tmp_path))
    return CommandLine(tmp_path, capsys)


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
    (("--time-limit", "-1"), "time_limit: expected None or a number of seconds >= 0, got -1.0"),
    (("--certificate", "c.txt"), "--certificate: c.txt must end in one of .json"),
    (("--plot", "f.bmp"), "--plot: f.bmp must end in one of .png, .svg, .pdf"),
    (("--report", "no/where/r.html"), "--report: there is no folder no/where"),
    (
        ("--report", "/proc/r.html"),
        "--report: /proc/r.html cannot be written (No such file or directory)",
    ),
    (("--output", "folder.npy"), "--output: folder.npy exists and is not a file"),
    (("--output", "A.npy"), "--output: A.npy is read in this run; it would be overwritten"),
    (("--output", "x.xlsx"), "--output: x.xlsx must end in one of .npy, .npz, .csv, .tsv, .zarr"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_bad_options(run, options, message):
    from boxreg.losses import LOSSES
    from boxreg.solvers import SOLVERS

    if "/proc/r.html" in options and not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    names = {"solvers": ", ".join(sorted({"auto", *SOLVERS})), "losses": ", ".join(sorted(LOSSES))}
    expected = message.format(**names)
    refused(run, ("solve", "A.npy", "y.npy", "-o", "x.npy", *options), expected)


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
    refused(run, arguments, "--plot needs matplotlib: pip install 'boxreg[plot]'")


def test_a_failure_while_writing_leaves_nothing(run, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("boxreg.reporting.page.result_page", lambda result: "page")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    arguments = ("solve", "A.npy", "y.npy", "-o", "x.npy", "--plot", "f.png", "--report", "r.html")
    refused(run, arguments, "--plot: f.png cannot be written (No space left on device)")


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
