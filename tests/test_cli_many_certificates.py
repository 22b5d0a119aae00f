"""Certificates of many right-hand sides: corrupted ones, wrong ones, and data they are not for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command_line import CommandLine, problem


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A, Y with ten right-hand sides, X and its certificate."""
    monkeypatch.chdir(tmp_path)
    A, y = problem()
    Y = y[:, None] + 0.1 * np.random.default_rng(2).standard_normal((12, 10))
    np.save("A.npy", A)
    np.save("Y.npy", Y)
    np.save("turned.npy", Y.T)
    np.save("pickled.npy", np.array([[{}, 1]] * 12, dtype=object), allow_pickle=True)
    command = CommandLine(tmp_path, capsys)
    assert command("solve", "A.npy", "Y.npy", "-o", "X.npy", "--certificate", "c.json")[0] == 0
    return command


def _certificate(**changes):
    held = json.loads(Path("c.json").read_text())
    return json.dumps({**held, **changes})


CORRUPT = {
    "truncated": (lambda: Path("c.json").read_text()[:-30], "not valid JSON: "),
    "a later version": (lambda: _certificate(version=9), "version 9 is not known here"),
    "odd shape": (lambda: _certificate(shape=[12, -1]), '"shape" is not a list of whole numbers'),
    "no such axis": (lambda: _certificate(axis=2), '"axis" is not an axis of "shape"'),
    "no columns": (lambda: _certificate(columns="many"), '"columns" is not a whole number'),
    "no x": (lambda: _certificate(x=3), '"x" is not the name of a file'),
    "no gaps": (lambda: _certificate(gaps="g.npz"), "there is no file g.npz, which holds its gaps"),
    "no npz": (lambda: _certificate(gaps="c.json"), "c.json cannot be read"),
    "other gaps": (lambda: _certificate(shape=[12, 11]), '"gap" has shape (10,) and type float64'),
    "no bounds": (
        lambda: _certificate(problem={"lower": "each", "upper": 1, "loss": {"name": "huber"}}),
        '"lower" is missing among its numbers',
    ),
    "no direction": (lambda: _certificate(direction=[1.0]), '"direction" has 1 entries, not 12'),
}


@pytest.mark.parametrize(("text", "message"), CORRUPT.values(), ids=CORRUPT.keys())
def test_corrupted_certificates(run, text, message):
    Path("c.json").write_text(text())
    code, out, err = run("verify", "A.npy", "Y.npy", "c.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"boxreg: certificate: c.json is corrupted: {message}")


def test_data_that_do_not_fit_the_certificate(run):
    np.save("wide.npy", np.zeros((12, 21)))
    for A, Y, message in (
        ("wide.npy", "Y.npy", "A: the certificate is for 12 × 20 data, got 12 × 21"),
        ("A.npy", "turned.npy", "y: the certificate is for shape (12, 10), got (10, 12)"),
        ("A.npy", "pickled.npy", "y: pickled.npy holds pickled objects"),
    ):
        code, _, err = run("verify", A, Y, "c.json")
        assert (code, err.count("\n")) == (2, 1)
        assert err.startswith(f"boxreg: {message}")
    np.save("X.npy", np.zeros((20, 9)))
    assert run("verify", "A.npy", "Y.npy", "c.json")[2] == (
        "boxreg: x: X.npy has shape (20, 9), expected (20, 10)\n"
    )
    Path("X.npy").unlink()
    assert run("verify", "A.npy", "Y.npy", "c.json")[2] == "boxreg: x: there is no file X.npy\n"


def _change(name, change):
    array = np.load(name)
    change(array)
    np.save(name, array)


def _gaps(change):
    gap = np.load("c.gaps.npz")["gap"].copy()
    change(gap)
    np.savez("c.gaps.npz", gap=gap)


def _set(at, value):
    return lambda array: array.__setitem__(at, value)


NO = {
    "another x": (
        lambda: _change("X.npy", lambda x: x.__iadd__(0.1)),
        "REFUTED: right-hand side 0: the claimed gap ",
    ),
    "x outside": (
        lambda: _change("X.npy", _set((3, 4), -1e-9)),
        "REFUTED: right-hand side 4: x is not feasible: x[3] = -1e-09",
    ),
    "NaN in x": (
        lambda: _change("X.npy", _set((3, 4), np.nan)),
        "REFUTED: right-hand side 4: x is not feasible: x[3] = nan",
    ),
    "another Y": (
        lambda: _change("Y.npy", lambda Y: Y.__iadd__(1e-9)),
        "NOT PROVED: Y is not what the certificate was made for",
    ),
    "another A": (lambda: _change("A.npy", _set((0, 0), 9.0)), "NOT PROVED: A is not what the"),
    "a gap left out": (
        lambda: _gaps(_set(7, np.nan)),
        "NOT PROVED: right-hand side 7 has no gap, but it could",
    ),
    "a hole": (lambda: _change("Y.npy", _set((0, 2), np.nan)), "NOT PROVED: Y is not what the"),
}


@pytest.mark.parametrize(("change", "why"), NO.values(), ids=NO.keys())
def test_verify_does_not_say_proved(run, change, why):
    change()
    code, out, err = run("verify", "A.npy", "Y.npy", "c.json")
    assert (code, err) == (4 if why.startswith("REFUTED") else 1, "")
    assert out.splitlines()[-1].startswith(why)


def test_what_cannot_be_solved_can_have_no_gap(run):
    _change("Y.npy", _set((0, 2), np.nan))
    code, out, _ = run("verify", "A.npy", "Y.npy", "c.json")
    assert code == 1
    assert (
        "  right-hand side 2 has a gap, but it is not finite, or not allowed by the loss (1 such)"
        in out
    )
    assert "checked  9 of 10 right-hand sides" in out


def test_no_claim_is_believed(run):
    """Gaps that are claimed too small are compared with what was asked for; x decides, not they."""
    _gaps(lambda gap: gap.fill(0.0))
    code, out, _ = run("verify", "A.npy", "Y.npy", "c.json")
    assert code == 0
    assert "claimed 0\n" in out
    _change("X.npy", lambda x: x.__imul__(1.001))
    assert run("verify", "A.npy", "Y.npy", "c.json")[0] == 4


def test_bounds_can_be_given(run):
    code, out, _ = run("verify", "A.npy", "Y.npy", "c.json")
    assert code == 0
    assert "remark: the bounds come from the certificate itself" in out
    code, out, _ = run("verify", "A.npy", "Y.npy", "c.json", "--lower", "0", "--upper", "inf")
    assert code == 0
    assert "remark" not in out
    assert "proved   10 of 10" in out
    assert out.splitlines()[-1].startswith("PROVED: every P(x) exceeds its minimum by at most")
    code, out, _ = run("verify", "A.npy", "Y.npy", "c.json", "--upper", "1e-3")
    assert code == 4
    assert "x is not feasible" in out.splitlines()[-1]
