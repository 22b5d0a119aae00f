"""Every `boxreg` command of the README and the docs, run; its output against what is shown."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace

import click
import numpy as np
import pytest

from boxreg.cli.app import app
from boxreg.reproduce import SCALES, command, running
from command_line import CommandLine
from documented import PAGES, ROOT, blocks, commands, masked
from reproducing import TINY, forget, without_data

DATA = os.environ.get("BOXREG_DATA")
"""The folder of real data; without it, commands with --dataset are parsed only."""


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """The command line in a folder with the files that docs/command_line.md makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOXREG_DATA", raising=False)
    exec(blocks(ROOT / "docs" / "command_line.md", "python")[0], {})
    yield CommandLine(tmp_path, capfd)
    monkeypatch.undo()
    forget()


@pytest.fixture
def tiny(monkeypatch):
    """Reproductions at the sizes of tests, on stand-ins, undrawn, in this process."""
    without_data(monkeypatch)
    monkeypatch.setattr(running, "_images", lambda sections, folder: {})
    monkeypatch.setattr(command, "pinned", lambda: True)
    for name in SCALES:
        monkeypatch.setitem(SCALES, name, replace(TINY, name=name))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of(page, run, tiny, monkeypatch):
    for shown in commands(page):
        _, name, *arguments = shlex.split(shown.command)
        real = "--dataset" in arguments
        if real and DATA is not None:
            monkeypatch.setenv("BOXREG_DATA", DATA)
        else:
            monkeypatch.delenv("BOXREG_DATA", raising=False)
        if real and DATA is None:
            app.get_command(click.Context(app), name).make_context(name, arguments)
            continue
        code, out, err = run(name, *arguments)
        assert code == shown.code, f"{shown.command}: {err}"
        if shown.output is not None:
            expected = masked(shown.output)
            assert masked((out + err).splitlines())[: len(expected)] == expected
            whole = "…" in shown.output or len(expected) == len(masked((out + err).splitlines()))
            assert whole, shown.command


def test_the_documentation_shows_every_command():
    shown = {shlex.split(held.command)[1] for page in PAGES for held in commands(page)}
    assert shown >= {"solve", "verify", "unmix", "demo", "bench", "data", "reproduce"}


def test_help_of_solve_shows_commands_that_run(run):
    _, text, _ = run("solve", "--help")
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    examples = [line for line in lines if line.startswith("boxreg solve ")]
    assert len(examples) == 5
    np.save("counts.npy", np.round(np.load("y.npy")))
    for example in examples:
        typed = shlex.split(example)[1:]
        if "upper.csv" in typed:
            assert run("solve", "A.npy", "y.npy", "-o", "upper.csv")[0] == 0
        assert run(*typed)[0] == 0
