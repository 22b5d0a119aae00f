"""The demo, on tiny problems."""

from __future__ import annotations

import io
import sys
from functools import partial

import pytest

from boxreg import demo

TINY = {"tiny": demo.Size(nnls=(20, 40), bvls=(20, 40))}


@pytest.fixture
def run(tmp_path, capsys):
    def call():
        code = demo.main(["--out", str(tmp_path / "new" / "folder")], TINY)
        seen = capsys.readouterr()
        assert seen.err == ""
        lines = seen.out.splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("──")) + 1
        return code, lines[first : lines.index("", first)], seen.out

    return call


def test_every_answer_is_verified(run, tmp_path):
    code, rows, text = run()
    assert code == 0
    assert len(rows) == 8
    assert all(row.endswith("yes") for row in rows)
    assert [row.split()[1] for row in rows[::2]] == [
        s for pair in demo.SOLVERS.values() for s in pair
    ]
    assert [row.split()[2] for row in rows] == ["off", "on"] * 4
    assert [row.count("×") for row in rows] == [0, 2] * 4
    assert "20 × 40" in text
    for kind in ("png", "svg"):
        path = tmp_path / "new" / "folder" / f"convergence.{kind}"
        assert path.stat().st_size > 1000
        assert str(path) in text


def test_a_failed_verification_is_not_passed_over(run, monkeypatch):
    genuine = demo.verify

    def with_theta_lost(A, y, x, theta, lower, upper, *, gap):
        return genuine(A, y, x, 0.0 * theta, lower, upper, gap=gap)

    monkeypatch.setattr(demo, "verify", with_theta_lost)
    monkeypatch.setattr(demo, "save_figure", lambda runs, folder: [])
    code, rows, text = run()
    assert code == 1
    assert all(row.endswith("NO") for row in rows)
    assert "FAILED" in text


def test_a_run_that_did_not_converge_is_not_passed_over(run, monkeypatch):
    monkeypatch.setattr(demo, "solve", partial(demo.solve, max_iter=1))
    monkeypatch.setattr(demo, "save_figure", lambda runs, folder: [])
    with pytest.warns(match="iteration limit"):
        code, rows, text = run()
    assert code == 1
    assert len(rows) == 8
    assert "FAILED" in text


def test_goes_on_without_matplotlib(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, rows, text = run()
    assert code == 0
    assert len(rows) == 8
    assert "No figure: plotting needs matplotlib" in text


def test_bar_lives_on_a_terminal_and_leaves_no_trace(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = demo.Bar(2)
    bar.show(0, "first")
    bar.show(1, "second")
    bar.clear()
    assert terminal.getvalue() == (
        "······ 0/2  first\n\x1b[A\r\x1b[K███··· 1/2  second\n\x1b[A\r\x1b[K"
    )
