"""Certificates that cannot be read, and data they are not for: one clear line, exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bad_files import write_bad_files
from command_line import CommandLine, write_problem


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    A, y = write_problem(tmp_path)
    write_bad_files(tmp_path, A, y)
    command = CommandLine(tmp_path, capsys)
    assert command("solve", "A.npy", "y.npy", "-o", "x.npy", "--certificate", "cert.json")[0] == 0
    Path("x.npy").unlink()
    return command


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
