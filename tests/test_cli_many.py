"""`boxreg solve` and `boxreg verify` with a matrix or an image of right-hand sides."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

import boxreg
from boxreg import losses
from command_line import beside_an_image, image, stored

A, Y = image()
LINES, WIDTH = Y.shape[1:]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    return beside_an_image(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.zarr"])
def test_what_is_written_is_what_python_finds(run, name):
    if name.endswith(".zarr"):
        pytest.importorskip("zarr")
    result = boxreg.solve_many(A, Y, 0.0, 0.5)
    for _ in range(2):  # the second run replaces what the first one wrote
        code, out, err = run("solve", "A.npy", "Y.npy", "--upper", "0.5", "-o", name)
        assert (code, err) == (0, "")
        assert np.array_equal(stored(name), result.x)
    lines = out.splitlines()
    assert lines[1].startswith("Y       Y.npy: 12 × 40 × 8, dense float64, ")
    assert lines[2] == "bounds  0 <= x <= 0.5"
    assert lines[3] == "boxreg: 320 of 320 right-hand sides solved, 320 to the gap asked for"
    assert lines[-1] == f"Written: {name}"
    assert run.files() == {"A.npy", "Y.npy", name}
    if name == "x.npz":
        with np.load(name) as held:
            assert np.array_equal(held["gap"], result.gap)
            assert np.array_equal(held["support"], result.support)
            assert not held["status"].any()
    proof = ("--certificate", "c.json")
    assert run("solve", "A.npy", "Y.npy", "--upper", "0.5", "-o", name, *proof)[0] == 0
    assert run("verify", "A.npy", "Y.npy", "c.json")[0] == 0


@pytest.mark.parametrize("axis", [0, -1])
def test_sparse_answers(run, axis):
    np.save("Y.npy", np.moveaxis(Y, 0, axis))
    options = ("--axis", axis, "--sparse", "-o", "x.npz", "--certificate", "c.json")
    assert run("solve", "A.npy", "Y.npy", *options)[0] == 0
    x = boxreg.solve_many(A, np.moveaxis(Y, 0, axis), axis=axis, sparse=True).x
    assert (sparse.load_npz("x.npz") != x).nnz == 0
    assert run("verify", "A.npy", "Y.npy", "c.json")[0] == 0


def _zarr(name, array):
    zarr = pytest.importorskip("zarr")
    zarr.open_array(name, mode="w", shape=array.shape, chunks=(5, 7, 3), dtype="f8")[:] = array


INPUTS = {
    "Y.npy": lambda: None,
    "both.npz": lambda: np.savez("both.npz", A=A, Y=Y),
    "named.npz:cube": lambda: np.savez("named.npz", cube=Y, other=A),
    "scene.mat": lambda: io.savemat("scene.mat", {"A": A, "Y": Y}),
    "Y.zarr": lambda: _zarr("Y.zarr", Y),
    "single.npy": lambda: np.save("single.npy", Y.astype(np.float32)),
}


@pytest.mark.parametrize("mapped", [False, True], ids=["in memory", "mapped"])
@pytest.mark.parametrize("name", INPUTS)
def test_every_format_is_read(run, monkeypatch, name, mapped):
    INPUTS[name]()
    if mapped:
        monkeypatch.setattr("boxreg.files.stacks._MAPPED", 0)
    code, out, err = run("solve", "A.npy", name, "-o", "x.npy", "--certificate", "c.json")
    assert (code, err) == (0, "")
    expected = Y.astype(np.float32) if name == "single.npy" else Y
    assert np.array_equal(np.load("x.npy"), boxreg.solve_many(A, expected).x)
    on_disk = name.endswith(".zarr") or (mapped and name.endswith(".npy"))
    assert ("read a chunk at a time" in out.splitlines()[1]) == on_disk
    if name != "single.npy":  # the same values in another file
        assert run("verify", "A.npy", "Y.npy", "c.json")[0] == 0


def test_matrices_as_text_and_sparse(run):
    flat = Y.reshape(12, -1)[:, :30]
    np.savetxt("Y.csv", flat, fmt="%.17g", delimiter=",")
    sparse.save_npz("Y.npz", sparse.csc_matrix(flat))
    x = boxreg.solve_many(A, flat).x
    for name in ("Y.csv", "Y.npz"):
        assert run("solve", "A.npy", name, "-o", "x.npy", "-q") == (0, "", "")
        assert np.array_equal(np.load("x.npy"), x)


def test_a_single_row_or_column_is_one_unless_an_axis_is_given(run):
    np.save("y.npy", Y[:, :1, 0])
    code, out, _ = run("solve", "A.npy", "y.npy", "-o", "x.npy")
    assert code == 0
    assert "y       y.npy: 12 entries" in out
    assert np.load("x.npy").shape == (20,)
    assert run("solve", "A.npy", "y.npy", "--axis", "0", "-o", "x.npy")[0] == 0
    assert np.load("x.npy").shape == (20, 1)


def test_two_jobs_give_the_same_bits(run):
    assert run("solve", "A.npy", "Y.npy", "--jobs", "2", "-o", "two.npy")[0] == 0
    assert np.array_equal(np.load("two.npy"), boxreg.solve_many(A, Y).x)


def test_a_bar_on_a_terminal_only(run, monkeypatch):
    monkeypatch.setattr("boxreg.batch.bar._PERIOD", 0.0)
    arguments = ("solve", "A.npy", "Y.npy", "-o", "x.npy")
    assert run(*arguments)[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "320/320" in run(*arguments)[2]
    assert run(*arguments, "-q") == (0, "", "")


def _each(name):
    rng = np.random.default_rng(3)
    np.save(name, 0.1 + rng.random((20, LINES, WIDTH)))


TERMS = {
    "counts": (("--loss", "kullback_leibler:background=0.1"), losses.KullbackLeibler(0.1)),
    "huber": (("--loss", "huber:delta=0.5"), losses.Huber(0.5)),
    "ridge": (("--ridge", "0.5", "--linear", "0.1"), "least_squares"),
    "bounds of their own": (("--upper", "each.npy"), "least_squares"),
    "free": (("--lower", "-inf"), "least_squares"),
}


@pytest.mark.parametrize(("options", "loss"), TERMS.values(), ids=TERMS.keys())
def test_every_problem_is_proved_and_verified(run, options, loss):
    _each("each.npy")
    np.save("Y.npy", Y[:, :3])
    np.save("each.npy", np.load("each.npy")[:, :3])
    code, _, err = run(
        "solve", "A.npy", "Y.npy", *options, "-o", "x.npy", "--certificate", "c.json"
    )
    assert (code, err) == (0, "")
    given = dict(zip(options[::2], options[1::2], strict=True))
    arguments = {
        "lower": float(given.get("--lower", 0.0)),
        "upper": np.load("each.npy") if "--upper" in given else np.inf,
        "ridge": float(given.get("--ridge", 0.0)),
        "linear": np.full(20, 0.1) if "--linear" in given else None,
    }
    result = boxreg.solve_many(A, Y[:, :3], **arguments, loss=loss)
    np.testing.assert_array_equal(np.load("x.npy"), result.x)
    code, out, err = run("verify", "A.npy", "Y.npy", "c.json")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("PROVED: every P(x) exceeds its minimum by at most ")
    assert "checked  24 of 24 right-hand sides, none was skipped" in out


def test_what_is_not_proved_is_1_and_written(run):
    code, out, err = run("solve", "A.npy", "Y.npy", "--tol", "0", "-o", "x.npy")
    assert code == 1
    assert err.startswith("boxreg: not solved: ")
    assert err.count("\n") == 1
    assert "right-hand sides (gap " in err
    assert "Written: x.npy" in out


def test_skipped_right_hand_sides(run):
    holes = Y.copy()
    holes[3, 5, 2] = np.nan
    holes[:, 7, 7] = np.inf
    np.save("holes.npy", holes)
    options = ("--nan", "skip", "-o", "x.npy", "--certificate", "c.json")
    code, out, err = run("solve", "A.npy", "holes.npy", *options)
    assert (code, err) == (0, "")
    assert "boxreg: 318 of 320 right-hand sides solved, 318 to the gap asked for" in out
    x = np.load("x.npy")
    assert np.isnan(x[:, [5, 7], [2, 7]]).all()
    assert np.isnan(x).sum() == 40
    code, out, _ = run("verify", "A.npy", "holes.npy", "c.json")
    assert code == 0
    assert "checked  318 of 320 right-hand sides, 2 were skipped" in out


def test_a_certificate_may_lie_elsewhere(run):
    Path("proofs").mkdir()
    assert run("solve", "A.npy", "Y.npy", "-o", "x.npy", "--certificate", "proofs/c.json")[0] == 0
    held = json.loads(Path("proofs/c.json").read_text())
    assert (held["x"], held["gaps"]) == ("../x.npy", "c.gaps.npz")
    assert run("verify", "A.npy", "Y.npy", "proofs/c.json")[0] == 0
