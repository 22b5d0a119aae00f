"""The commands, as a user types them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import losses
from boxreg.cli import app, bench, main
from boxreg.cli.app import COMMANDS
from boxreg.datasets import DATASETS
from command_line import CommandLine, write_problem

ROOT = Path(__file__).parents[1]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_problem(tmp_path)
    return CommandLine(tmp_path, capsys)


def test_the_console_script_is_this_function():
    if sys.version_info < (3, 11):
        pytest.skip("tomllib came with Python 3.11")
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"boxreg": "boxreg.cli:main"}
    assert callable(main)


def test_help_teaches_by_example(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert run("--help")[1] == out
    assert "boxreg verify A.npy y.npy cert.json" in out
    for name in COMMANDS:
        assert f"\n  {name}" in out
        code, text, err = run(name, "--help")
        assert (code, err) == (0, "")
        assert f"    boxreg {name}" in text or f"BOXREG_DATA=~/data boxreg {name}" in text


def test_version(run):
    assert run("--version") == (0, f"boxreg, version {boxreg.__version__}\n", "")


def test_every_command_has_a_file():
    folder = ROOT / "src" / "boxreg" / "cli"
    for name in COMMANDS:
        assert (folder / f"{name}.py").is_file()


def test_solve_writes_what_python_finds(run):
    A, y = np.load("A.npy"), np.load("y.npy")
    code, out, err = run(
        *("solve", "A.npy", "y.npy", "--upper", "0.5", "-o", "x.npy"),
        *("--certificate", "cert.json", "--plot", "fig.svg", "--report", "page.html"),
    )
    result = boxreg.solve(A, y, 0.0, 0.5)
    assert (code, err) == (0, "")
    assert np.array_equal(np.load("x.npy"), result.x)
    lines = out.splitlines()
    filled = 100 * np.count_nonzero(A) / A.size
    low, high = f"{A.min():.4g}", f"{A.max():.4g}"
    assert lines[0] == (
        f"A       A.npy: 12 × 20, dense float64, {filled:.3g} % non-zero, from {low} to {high}"
    )
    assert lines[1].startswith("y       y.npy: 12 entries, dense float64, 100 % non-zero, from ")
    assert lines[2] == "bounds  0 <= x <= 0.5"
    assert f"  objective    {result.objective:.10g}" in out
    assert lines[-1] == "Written: x.npy cert.json fig.svg page.html"
    assert Path("fig.svg").read_text().lstrip().startswith("<?xml")
    page = Path("page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert repr(result.objective) in page
    held = json.loads(Path("cert.json").read_text())
    assert held["x"] == result.x.tolist()
    assert held["gap"] == result.gap
    assert run.files() == {"A.npy", "y.npy", "x.npy", "cert.json", "fig.svg", "page.html"}


def test_verify_says_yes_with_figures(run):
    run("solve", "A.npy", "y.npy", "-o", "x.npy", "--certificate", "cert.json")
    code, out, err = run("verify", "A.npy", "y.npy", "cert.json")
    assert (code, err) == (0, "")
    held = json.loads(Path("cert.json").read_text())
    lines = out.splitlines()
    assert lines[-1] == f"PROVED: P(x) exceeds the minimum by at most {held['gap']:.6g}"
    assert "bounds  0 <= x <= inf (from the certificate)" in lines
    assert "loss    least_squares (from the certificate)" in lines
    assert any(line.startswith("remark: the bounds come from the certificate") for line in lines)
    assert any(line.startswith("gap ") and f"claimed {held['gap']:.17g}" in line for line in lines)
    assert "data are those of the certificate: yes" in lines


def _changed(name, change):
    held = json.loads(Path("cert.json").read_text())
    held[name] = change(held[name])
    Path("cert.json").write_text(json.dumps(held))


@pytest.mark.parametrize(
    ("name", "change", "expected", "why"),
    [
        ("gap", lambda gap: 0.0, 1, "NOT PROVED: the claimed gap 0 is below the proved one, "),
        ("x", lambda x: [-1.0, *x[1:]], 4, "REFUTED: x is not feasible: x[0] = -1.0 is outside"),
        ("x", lambda x: [x[0] + 1.0, *x[1:]], 4, "REFUTED: the claimed gap "),
        (
            "theta",
            lambda t: [v + 1.0 for v in t],
            1,
            "NOT PROVED: theta is not feasible, so that the gap is infinite: a_jᵀtheta = ",
        ),
        (
            "sha256",
            lambda d: {**d, "y": "0" * 64},
            1,
            "NOT PROVED: y is not what the certificate was made for",
        ),
    ],
)
def test_verify_does_not_say_proved(run, name, change, expected, why):
    run("solve", "A.npy", "y.npy", "-o", "x.npy", "--certificate", "cert.json", "--tol", "1e-3")
    _changed(name, change)
    code, out, err = run("verify", "A.npy", "y.npy", "cert.json")
    assert (code, err) == (expected, "")
    assert out.splitlines()[-1].startswith(why)


def test_bounds_that_pin_x_are_said_to_come_from_the_certificate(run):
    """With lower = upper = x anything is optimal: proved, with a remark, unless bounds are given."""
    x, y = np.full(20, 0.25), np.load("y.npy")
    run("solve", "A.npy", "y.npy", "-o", "x.npy", "--certificate", "cert.json")
    result = boxreg.solve(np.load("A.npy"), y, x, x)
    _changed("problem", lambda held: {**held, "lower": x.tolist(), "upper": x.tolist()})
    _changed("x", lambda _: x.tolist())
    _changed("theta", lambda _: result.theta.tolist())
    _changed("gap", lambda _: result.gap)
    code, out, _ = run("verify", "A.npy", "y.npy", "cert.json")
    assert code == 0
    assert "(from the certificate)" in out
    assert (
        "remark: the bounds come from the certificate itself: --lower and --upper check it" in out
    )
    code, out, _ = run("verify", "A.npy", "y.npy", "cert.json", "--lower", "0", "--upper", "inf")
    assert code in (1, 4)
    assert "bounds  0 <= x <= inf (given)" in out
    assert "the bounds come from the certificate" not in out
    assert "remark: checked for another problem than the certificate's: lower, upper" in out
    np.save("low.npy", x)
    code, out, _ = run("verify", "A.npy", "y.npy", "cert.json", "--lower", "low.npy")
    assert code == 0
    assert "(lower given, upper from the certificate)" in out
    assert "remark: the upper bounds come from the certificate itself: --upper checks it" in out
    assert "another problem" not in out


def test_what_is_given_is_what_is_verified(run):
    """The loss and the terms of the command line take the place of the certificate's."""
    options = ("--loss", "huber:delta=0.5", "--ridge", "0.1")
    run("solve", "A.npy", "y.npy", *options, "-o", "x.npy", "--certificate", "cert.json")
    code, out, _ = run("verify", "A.npy", "y.npy", "cert.json", *options)
    assert code == 0
    assert "loss    huber (delta = 0.5) (given)" in out
    assert "terms   ridge (given)" in out
    assert "another problem" not in out
    code, out, _ = run("verify", "A.npy", "y.npy", "cert.json", "--loss", "huber:delta=0.01")
    assert code in (1, 4)
    assert "remark: checked for another problem than the certificate's: loss" in out
    code, _, err = run("verify", "A.npy", "y.npy", "cert.json", "--lower", "none.npy")
    assert code == 2
    assert err.startswith("boxreg: --lower: there is no file none.npy")


def test_verify_recomputes_from_the_data_it_is_given(run):
    run("solve", "A.npy", "y.npy", "-o", "x.npy", "--certificate", "cert.json")
    np.save("other.npy", 2.0 * np.load("y.npy"))
    code, out, _ = run("verify", "A.npy", "other.npy", "cert.json")
    assert code == 1
    assert out.splitlines()[-1] == "NOT PROVED: y is not what the certificate was made for"
    assert any("the claimed gap" in line for line in out.splitlines())


def test_not_converged_is_1_and_the_best_point_is_kept(run):
    code, out, err = run("solve", "A.npy", "y.npy", "-o", "x.npy", "--max-iter", "0")
    assert code == 1
    assert err.startswith("boxreg: not solved: The iteration limit was reached")
    assert err.count("\n") == 1
    assert "Written: x.npy" in out
    assert np.load("x.npy").shape == (20,)


def test_out_of_time_is_1_and_the_best_point_is_kept(run):
    code, out, err = run(
        "solve", "A.npy", "y.npy", "-o", "x.npy", "--tol", "0", "--time-limit", "0"
    )
    assert code == 1
    assert err.startswith("boxreg: not solved: The time limit was reached")
    assert "Written: x.npy" in out
    assert np.load("x.npy").shape == (20,)


def test_options_reach_the_solver(run):
    code, out, _ = run(
        *("solve", "A.npy", "y.npy", "-o", "x.npy", "--solver", "coordinate_descent"),
        *("--no-screening", "--region", "gap_sphere", "--dual", "translation", "--tol", "1e-4"),
    )
    assert code == 0
    expected = "method       coordinate_descent, dual translation, region gap_sphere, screening off"
    assert expected in out


TERMS = {
    "a loss": (("--loss", "log_cosh:scale=0.2"), {"loss": losses.LogCosh(0.2)}),
    "a background": (
        ("--loss", "kullback_leibler:background=background.npy"),
        {"loss": losses.KullbackLeibler(np.linspace(0.1, 1.0, 12))},
    ),
    "free coordinates": (("--lower", "-inf"), {"lower": -np.inf}),
    "a linear cost": (("--linear", "0.1"), {"linear": np.full(20, 0.1)}),
    "weights": (("--sample-weight", "weights.npy"), {"sample_weight": np.arange(12.0)}),
    "a ridge": (("--ridge", "0.5"), {"ridge": 0.5}),
    "a matrix": (("--ridge", "ridge.npz"), {"ridge": np.diff(np.eye(20), axis=0)}),
}


@pytest.mark.parametrize(("options", "arguments"), TERMS.values(), ids=TERMS.keys())
def test_every_term_is_solved_proved_and_verified(run, options, arguments):
    A, y = np.load("A.npy"), np.abs(np.load("y.npy"))
    np.save("y.npy", y)
    np.save("background.npy", np.linspace(0.1, 1.0, 12))
    np.save("weights.npy", np.arange(12.0))
    sparse.save_npz("ridge.npz", sparse.csc_matrix(np.diff(np.eye(20), axis=0)))
    output = ("-o", "x.npy", "--certificate", "cert.json", "--report", "page.html")
    code, _, err = run("solve", "A.npy", "y.npy", *options, *output)
    assert (code, err) == (0, "")
    result = boxreg.solve(A, y, **arguments)
    assert result.shape == A.shape
    given = {"sample_weight", "linear", "ridge"} & set(arguments)
    assert result.settings.get("terms", "") == ", ".join(given)
    formula = re.search(r"minimise (.*?) subject to", Path("page.html").read_text())[1]
    shown = (("sample_weight", "ω"), ("linear", "cᵀx"), ("ridge", "½‖Γx‖²"))
    assert {name for name, sign in shown if sign in formula} == given
    np.testing.assert_allclose(np.load("x.npy"), result.x, rtol=1e-6, atol=1e-6)
    code, out, err = run("verify", "A.npy", "y.npy", "cert.json")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("PROVED: ")
    assert [line for line in out.splitlines() if line.startswith("terms")] == [
        f"terms   {name} (from the certificate)" for name in given
    ]
    # The terms are part of what is proved: without them the claim fails, or does not fit.
    held = json.loads(Path("cert.json").read_text())
    plain = {"lower": 0.0, "upper": "inf", "loss": {"name": "least_squares", "parameters": {}}}
    Path("cert.json").write_text(json.dumps({**held, "problem": plain}))
    assert run("verify", "A.npy", "y.npy", "cert.json")[0] in (1, 2, 4)


def test_quiet_says_nothing(run):
    assert run("solve", "A.npy", "y.npy", "-o", "x.npy", "-q") == (0, "", "")


def test_progress_on_a_terminal_only(run, monkeypatch):
    arguments = ("solve", "A.npy", "y.npy", "-o", "x.npy", "--solver", "projected_gradient")
    assert "\r" not in run(*arguments)[2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    said = run(*arguments)[2]
    assert "gap " in said
    assert "columns 20/20" in said
    assert said.endswith("\r\x1b[K")


def test_interrupted_leaves_nothing(run, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("boxreg.api.certified_fit", interrupt)
    code, _, err = run("solve", "A.npy", "y.npy", "-o", "x.npy")
    assert (code, err) == (130, "\nboxreg: interrupted; nothing was written\n")
    assert run.files() == {"A.npy", "y.npy"}


def test_an_error_of_our_own_is_one_line_and_3(run, monkeypatch):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr("boxreg.api.certified_fit", fail)
    code, _, err = run("solve", "A.npy", "y.npy", "-o", "x.npy")
    assert code == 3
    assert err == "boxreg: unexpected error (ZeroDivisionError: two lines); --debug shows where\n"
    assert "Traceback" in run("solve", "A.npy", "y.npy", "-o", "x.npy", "--debug")[2]
    assert run.files() == {"A.npy", "y.npy"}


def test_without_the_extra_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    assert main([]) == 2
    said = capsys.readouterr().err
    assert said == "boxreg: the command line needs click: pip install 'boxreg[cli]'\n"


def test_demo(run, monkeypatch):
    from boxreg import demo

    seen = []
    monkeypatch.setattr(demo, "main", lambda arguments: seen.append(arguments) or 0)
    assert run("demo", "--out", "here")[0] == 0
    assert seen == [["--size", "small", "--out", "here"]]


def test_bench_runs_the_race_of_the_source_tree(run, monkeypatch):
    calls = []

    def record(call, cwd, check):
        calls.append((call, cwd))
        return subprocess.CompletedProcess(call, 1)

    monkeypatch.setattr(bench.subprocess, "run", record)
    code = run("bench", "--quick", "--only", "a", "--only", "b", "--threads", "1", "--out", "o")[0]
    assert code == 1  # the race's own
    ((call, cwd),) = calls
    assert cwd == ROOT
    assert call[1:4] == ["-m", "benchmarks.race", "--out"]
    assert call[4] == str(run.folder / "o")
    assert call[5:] == ["--quick", "--only", "a", "b", "--threads", "1"]


def test_bench_elsewhere_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setattr(bench, "source_tree", lambda: None)
    code, out, err = run("bench")
    assert (code, out) == (2, "")
    assert err == (
        "boxreg: bench: the race is in the source tree, which this is not; get the source, and "
        "there run: make bench\n"
    )


def test_reproduce_hands_over(run, monkeypatch):
    calls = []
    experiments = {"table1": None, "figure1": None}
    package = SimpleNamespace(EXPERIMENTS=experiments, main=lambda held: calls.append(held) or 1)
    monkeypatch.setitem(sys.modules, "boxreg.reproduce", package)
    monkeypatch.setattr(app, "COMMANDS", ("reproduce",))
    assert run("reproduce", "table1", "--full", "--cap", "60", "--fresh", "--out", "here")[0] == 1
    assert calls == [["table1", "--full", "--out", "here", "--cap", "60.0", "--fresh"]]
    for arguments, message in (
        (("table9",), "reproduce: unknown name 'table9'; accepted: all, table1, figure1"),
        (("--cap", "0"), "--cap: expected a number > 0, got 0"),
    ):
        assert run("reproduce", *arguments) == (2, "", f"boxreg: {message}\n")
    assert len(calls) == 1


def test_data_lists_what_is_found_and_what_is_missing(run, monkeypatch):
    np.savez("mnist.npz", train=np.eye(2))
    monkeypatch.setenv("BOXREG_DATA", str(run.folder))
    code, out, err = run("data")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"BOXREG_DATA: {run.folder}"
    states = {line.split()[0]: line for line in lines[3 : 3 + len(DATASETS)]}
    assert set(states) == set(DATASETS)
    assert "found, differs" in states["mnist"]
    assert " public " in states["nips_1-17"]
    assert " missing " in states["jasper_ridge"]
    assert all(DATASETS[name].sha256[:16] in line for name, line in states.items())
    assert "  nips_1-17: boxreg data --fetch nips_1-17" in lines
    assert not any(line.startswith("  mnist:") for line in lines)
    assert run("data", "--fetch", "mnist") == (0, "mnist:train: 2 × 2, float64\n", "")


def test_data_without_a_folder(run, monkeypatch):
    monkeypatch.delenv("BOXREG_DATA", raising=False)
    code, out, _ = run("data")
    assert code == 0
    assert out.startswith("BOXREG_DATA: not set, or not a folder\n")
    code, out, err = run("data", "--fetch", "iris")
    assert (code, out) == (2, "")
    assert err.startswith("boxreg: data: unknown name 'iris'; accepted: cuprite_usgs, ")


def test_as_a_process_in_a_pipe(run):
    """Quiet on stderr, a code of its own, and text that a narrow encoding survives."""
    call = [sys.executable, "-m", "boxreg", "solve", "A.npy", "y.npy", "-o", "x.npy"]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(call, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Written: x.npy" in done.stdout


def test_commands_are_loaded_when_asked_for():
    assert app.app.list_commands(None) == list(COMMANDS)
    assert app.app.get_command(None, "nothing") is None
