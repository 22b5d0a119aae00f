"""A run that goes on believes nothing that has changed since, and nobody else writes meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boxreg import solve_many
from boxreg.batch.layout import BLOCK
from boxreg.files.locking import FileLock, Taken
from many_problems import generator
from test_many_stored import Sliceable

RNG = generator(21)
A = np.abs(RNG.standard_normal((8, 5)))
Y = np.abs(RNG.standard_normal((8, 5 * BLOCK)))
UPPER = 1.0 + RNG.random((5, 5 * BLOCK))


def interrupted(folder: Path, **options: Any) -> tuple[np.ndarray, Path]:
    """The answers and the journal of a run that was stopped after two chunks of five."""
    out, journal = np.zeros((5, 5 * BLOCK)), folder / "run"
    with pytest.raises(KeyboardInterrupt):
        solve_many(A, Sliceable(Y, fail_after=2), out=out, journal=journal, chunk=BLOCK, **options)
    assert json.loads(journal.read_text())["lines"] == 2 * BLOCK
    assert not (folder / "run.lock").exists()
    return out, journal


EDITS = {
    "more lines than there are": ({"lines": 10**9}, "is broken"),
    "more lines than are done": ({"lines": 4 * BLOCK}, "something else has written there|another run"),
    "fewer lines than are done": ({"lines": BLOCK}, "something else has written there|another run"),
    "lines within a block": ({"lines": BLOCK + 1}, "is broken"),
    "negative lines": ({"lines": -BLOCK}, "is broken"),
    "lines a word": ({"lines": "256"}, "is broken"),
    "lines a fraction": ({"lines": 256.0}, "is broken"),
    "lines true": ({"lines": True}, "is broken"),
    "no lines": ({"lines": None}, "is broken"),
    "another count": ({"of": 10**9}, "belongs to another run"),
    "another fingerprint": ({"fingerprint": "0"}, "belongs to another run"),
    "no digest": ({"answers": None}, "something else has written there"),
}  # fmt: skip


@pytest.mark.parametrize("case", EDITS)
def test_an_edited_journal_is_refused(tmp_path, case: str) -> None:
    edit, message = EDITS[case]
    out, journal = interrupted(tmp_path)
    before = out.copy()
    journal.write_text(json.dumps({**json.loads(journal.read_text()), **edit}))
    with pytest.raises(ValueError, match=rf"journal: .*({message}).* remove it to start anew"):
        solve_many(A, Y, out=out, journal=journal)
    assert np.array_equal(out, before)


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", "\ufeff{", '{"lines": 1e400}', "\x00"])
def test_a_journal_that_is_none_is_refused(tmp_path, text: str) -> None:
    out, journal = interrupted(tmp_path)
    journal.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"journal: .*run is broken; remove it to start anew"):
        solve_many(A, Y, out=out, journal=journal)


@pytest.mark.parametrize("where", [0, 2 * BLOCK - 1])
def test_answers_that_were_overwritten_are_noticed(tmp_path, where: int) -> None:
    out, journal = interrupted(tmp_path)
    out[3, where] += 1e-12
    with pytest.raises(ValueError, match=r"journal: the answers .* something else has written"):
        solve_many(A, Y, out=out, journal=journal)
    out[3, where] = solve_many(A, Y).x[3, where]
    assert np.array_equal(solve_many(A, Y, out=out, journal=journal).x, solve_many(A, Y).x)


def test_gaps_that_were_overwritten_are_noticed(tmp_path) -> None:
    out, journal = interrupted(tmp_path)
    numbers = np.load(tmp_path / "run.npy", mmap_mode="r+")
    numbers["gap"][7] = 0.0
    numbers.flush()
    with pytest.raises(ValueError, match="something else has written there"):
        solve_many(A, Y, out=out, journal=journal)


@pytest.mark.parametrize("where", [0, 100, 2 * BLOCK - 1])
def test_right_hand_sides_that_changed_are_noticed(tmp_path, where: int) -> None:
    out, journal = interrupted(tmp_path, upper=UPPER)
    other = Y.copy()
    other[0, where] *= 2.0
    with pytest.raises(ValueError, match="belongs to another run"):
        solve_many(A, other, upper=UPPER, out=out, journal=journal)
    bounds = UPPER.copy()
    bounds[0, where] *= 2.0
    with pytest.raises(ValueError, match="belongs to another run"):
        solve_many(A, Y, upper=bounds, out=out, journal=journal)
    # What is not solved yet may change.
    other = Y.copy()
    other[0, -1] *= 2.0
    solve_many(A, other, upper=UPPER, out=out, journal=journal)
    assert np.array_equal(out, solve_many(A, other, upper=UPPER).x)


def test_what_is_skipped_is_told_apart_from_zeros(tmp_path) -> None:
    spoilt = Y.copy()
    spoilt[:, 5] = np.nan
    out, journal = np.zeros((5, 5 * BLOCK)), tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        solve_many(A, Sliceable(spoilt, 2), out=out, journal=journal, chunk=BLOCK, nan="skip")
    spoilt[:, 5] = 0.0
    with pytest.raises(ValueError, match="belongs to another run"):
        solve_many(A, spoilt, out=out, journal=journal, nan="skip")


HOLD = """
import sys
from pathlib import Path
from boxreg.files.locking import FileLock
lock = FileLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def held_elsewhere(path: Path) -> subprocess.Popen[str]:
    """A process that holds a lock until its input ends, or it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_another_process_is_kept_out_and_named(tmp_path) -> None:
    out, journal = interrupted(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    with held_elsewhere(tmp_path / "run.lock") as process:
        said = rf"journal: .*run is in use by process {process.pid} on .*; wait until that run ends"
        with pytest.raises(ValueError, match=said):
            solve_many(A, Y, out=out, journal=journal)
        process.kill()  # what it leaves behind holds nobody up
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*before, "run.lock"])
    solve_many(A, Y, out=out, journal=journal)
    assert np.array_equal(out, solve_many(A, Y).x)
    assert not list(tmp_path.iterdir())


def test_a_lock_is_one_for_all(tmp_path) -> None:
    path = tmp_path / "lock"
    path.write_text("whatever was left here")
    first, second = FileLock(path), FileLock(path)
    first.acquire()
    told = json.loads(path.read_text())
    assert told["process"] == os.getpid()
    with pytest.raises(Taken, match=f"process {os.getpid()} on "):
        second.acquire()
    first.release()
    assert not path.exists()
    second.acquire()
    path.unlink()  # by hand: whoever comes next does not share it with the second
    path.write_text("")
    first.acquire()
    second.release()
    assert path.exists()
    first.release()
    assert not path.exists()
    first.release()


def test_a_run_that_fails_gives_its_lock_back(tmp_path) -> None:
    out, journal = interrupted(tmp_path)
    broken = Y.copy()
    broken[0, -1] = np.nan
    with pytest.raises(ValueError, match=r"right-hand side .* contains NaN"):
        solve_many(A, broken, out=out, journal=journal)
    assert not (tmp_path / "run.lock").exists()
    with pytest.raises(ValueError, match=r"journal: .* cannot be read or written"):
        solve_many(A, Y, out=out, journal=tmp_path / "no" / "folder")
    solve_many(A, Y, out=out, journal=journal)
    assert np.array_equal(out, solve_many(A, Y).x)
