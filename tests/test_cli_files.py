"""Every format, in and out."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

import boxreg
from boxreg.files import (
    CertificateFile,
    FileProblem,
    Outputs,
    digest,
    read_matrix,
    read_vector,
    write_text,
)
from boxreg.files.containers import load_mat
from command_line import CommandLine, problem, sparse_of

A, y = problem()


def _csv(path, array, **how):
    np.savetxt(path, array, fmt="%.17g", **how)


def _parquet(path, array, names):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = dict(zip(names, np.atleast_2d(array.T), strict=True))
    parquet.write_table(pyarrow.table(columns), path)


def _write(folder):
    """The problem in every format; name → (A, y, sparse?)."""
    np.save(folder / "A.npy", A)
    np.save(folder / "y.npy", y)
    np.savez(folder / "both.npz", A=A, y=y, other=np.zeros(3))
    np.savez_compressed(folder / "alone.npz", anything=A)
    sparse.save_npz(folder / "csc.npz", sparse_of(A))
    sparse.save_npz(folder / "coo.npz", sparse.coo_matrix(A))
    sparse.save_npz(folder / "bsr.npz", sparse.bsr_matrix(A, blocksize=(3, 4)))
    sparse.save_npz(folder / "dia.npz", sparse.dia_matrix(A))
    io.mmwrite(folder / "A.mtx", sparse.coo_array(A), precision=17)
    io.mmwrite(folder / "full.mtx", A, precision=17)
    io.mmwrite(folder / "y.mtx", y[:, None], precision=17)
    _csv(folder / "A.csv", A, delimiter=",")
    _csv(
        folder / "headed.csv",
        A,
        delimiter=",",
        header=",".join("abcdefghijklmnopqrst"),
        comments="",
    )
    rows = (",".join(f'"{entry!r}"' for entry in row) for row in A.tolist())
    (folder / "quoted.csv").write_text("\ufeff# a remark\n" + "\r\n".join(rows), encoding="utf-8")
    _csv(folder / "A.tsv", A, delimiter="\t")
    _csv(folder / "y.csv", y)
    _csv(folder / "row.csv", y[None, :], delimiter=",")
    io.savemat(folder / "both.mat", {"A": A, "y": y})
    io.savemat(folder / "sparse.mat", {"A": sparse.csc_matrix(A), "y": y})
    _parquet(folder / "A.parquet", A, [f"c{j}" for j in range(A.shape[1])])
    _parquet(folder / "table.parquet", np.column_stack([y, y + 1]), ["y", "z"])


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _write(tmp_path)
    return CommandLine(tmp_path, capsys)


CASES = [
    ("A.npy", "y.npy", "dense float64"),
    ("both.npz", "both.npz", "dense float64"),
    ("both.npz:A", "both.npz:y", "dense float64"),
    ("alone.npz", "y.npy", "dense float64"),
    ("csc.npz", "y.npy", "sparse float64"),
    ("bsr.npz", "y.npy", "sparse float64"),
    ("dia.npz", "y.npy", "sparse float64"),
    ("coo.npz", "y.npy", "sparse float64"),
    ("A.mtx", "y.mtx", "sparse float64"),
    ("full.mtx", "y.mtx", "dense float64"),
    ("A.csv", "y.csv", "dense float64"),
    ("headed.csv", "row.csv", "dense float64"),
    ("quoted.csv", "y.csv", "dense float64"),
    ("A.tsv", "y.csv", "dense float64"),
    ("both.mat", "both.mat:y", "dense float64"),
    ("sparse.mat", "sparse.mat", "sparse float64"),
    ("A.parquet", "table.parquet:y", "dense float64"),
]


@pytest.mark.parametrize(("matrix", "target", "kind"), CASES)
def test_every_format_gives_the_same_problem(run, matrix, target, kind):
    np.save("dense.npy", A)
    code, out, err = run(
        "solve", matrix, target, "--upper", "0.5", "-o", "x.npy", "--certificate", "c.json"
    )
    assert (code, err) == (0, "")
    assert f": 12 × 20, {kind}, " in out.splitlines()[0]
    held = json.loads(Path("c.json").read_text())
    assert held["sha256"] == {"A": digest(A), "y": digest(y)}
    objective = boxreg.solve(A, y, 0.0, 0.5).objective
    assert held["objective"] == pytest.approx(objective, rel=1e-12)
    assert run("verify", "A.npy", "y.npy", "c.json")[0] == 0  # from another file, the same data


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv", "x.tsv"])
def test_x_is_written_with_all_its_digits(run, name):
    assert run("solve", "A.npy", "y.npy", "-o", name)[0] == 0
    assert np.array_equal(read_vector(name, "x").array, boxreg.solve(A, y).x)


def test_bounds_from_files(run):
    rng = np.random.default_rng(1)
    lower, upper = -rng.random(20), rng.random(20)
    np.save("lower.npy", lower)
    upper[3] = np.inf
    Path("upper.csv").write_text("".join(f"{entry!r}\n" for entry in upper.tolist()))
    box = ("--lower", "lower.npy", "--upper", "upper.csv")
    code, out, _ = run("solve", "A.npy", "y.npy", *box, "-o", "x.npy", "--certificate", "c.json")
    assert code == 0
    assert "bounds  [20 entries, from " in out
    assert np.array_equal(np.load("x.npy"), boxreg.solve(A, y, lower, upper).x)
    held = CertificateFile.loads(Path("c.json").read_text())
    assert np.array_equal(held.problem["lower"], lower)
    assert np.array_equal(held.problem["upper"], upper)
    assert run("verify", "A.npy", "y.npy", "c.json")[0] == 0


def test_negative_numbers_are_values_not_options(run):
    code, out, _ = run("solve", "A.npy", "y.npy", "--lower", "-1.5", "--upper", "-1", "-o", "x.npy")
    assert code == 0
    assert "bounds  -1.5 <= x <= -1" in out


def test_a_file_name_may_hold_a_colon(run):
    np.savez("odd.npz:A", A=A)  # NumPy appends .npz
    os.rename("odd.npz:A.npz", "odd:A.npz")
    assert np.array_equal(read_matrix("odd:A.npz", "A").array, A)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer"])
@pytest.mark.parametrize("dense", [True, False], ids=["array", "coordinate"])
def test_matrix_market_as_scipy_writes_it(tmp_path, symmetry, field, dense):
    rng = np.random.default_rng(2)
    matrix = np.round(10 * rng.random((6, 6))) if field == "integer" else rng.random((6, 6))
    matrix[rng.random((6, 6)) < 0.4] = 0.0
    if symmetry != "general":
        matrix = np.tril(matrix) + (1 if symmetry == "symmetric" else -1) * np.tril(matrix).T
    path = tmp_path / "m.mtx"
    shown = matrix.astype(int if field == "integer" else float)
    held = shown if dense else sparse.coo_array(shown)
    io.mmwrite(path, held, comment="a remark", field=field, symmetry=symmetry, precision=17)
    assert symmetry in path.read_text()
    read = read_matrix(str(path), "A").array
    assert np.array_equal(read if dense else read.toarray(), matrix)
    assert sparse.issparse(read) != dense


def test_matrix_market_patterns_and_odd_files(tmp_path):
    path = tmp_path / "m.mtx"
    head = "%%MatrixMarket matrix coordinate"
    path.write_text(f"{head} pattern general\n% remark\n\n2 3 2\n1 2\n2 3\n")
    assert read_matrix(str(path), "A").array.toarray().tolist() == [[0, 1, 0], [0, 0, 1]]
    path.write_text(f"{head} real general\n2 3 0\n")
    assert read_matrix(str(path), "A").array.shape == (2, 3)
    for text in (
        f"{head} complex general\n1 1 1\n1 1 1 0\n",
        f"{head} real general\n1 1 1\n1 2 1\n",
        f"{head} real general\n1 1 1\n0 1 1\n",
        f"{head} real general\n1 1 2\n1 1 1\n",
        f"{head} real general\n1 1\n1 1 1\n",
        f"{head} real general\n-1 1 1\n1 1 1\n",
        f"{head} real general\n2 2 1\n1.5 1 1\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
        "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n",
        "1 2 3\n",
        "",
    ):
        path.write_text(text)
        with pytest.raises(FileProblem, match=r"m.mtx cannot be read \("):
            read_matrix(str(path), "A")


def test_integers_and_single_precision_are_described(run):
    np.save("A32.npy", A.astype(np.float32))
    np.save("yi.npy", np.round(10 * y).astype(np.int16))
    code, out, _ = run("solve", "A32.npy", "yi.npy", "-o", "x.npy")
    assert code == 0
    assert "dense float32" in out
    assert "dense int16" in out


def test_digest_is_of_values():
    wide = np.zeros((3, 200))
    wide[1, ::7] = np.arange(29)
    wide[0, 0] = -0.0
    assert digest(wide) == digest(sparse.csr_array(wide)) == digest(np.asfortranarray(wide))
    assert digest(wide) == digest(wide.astype(np.float32)) == digest(wide.astype(int))
    doubled = sparse.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert digest(doubled) == digest(np.array([[3.0, 0.0], [0.0, 0.0]]))
    assert digest(wide) != digest(wide.T)
    changed = wide.copy()
    changed[2, 199] = 1e-300
    assert digest(changed) != digest(wide)
    assert digest(np.arange(3.0)) == digest(np.arange(3.0)[:, None])
    assert digest(np.zeros((2, 3))) != digest(np.zeros((3, 2)))


def test_certificates_keep_every_digit_and_infinities():
    result = boxreg.solve(A, y, 0.0, 1.0)
    problem = {
        "lower": 0.0,
        "upper": np.array([np.inf, *np.linspace(0.1, 1.0, 19)]),
        "loss": {"name": "huber", "parameters": {"delta": 0.1}},
        "ridge": sparse.csc_array(np.diag([1.0, 0.0, 1.0 / 3.0])),
        "linear": np.arange(6.0).reshape(2, 3) / 7.0,
    }
    held = CertificateFile.of(result, A, y, problem)
    text = held.dumps()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    read = CertificateFile.loads(text)
    assert np.array_equal(read.x, result.x)
    assert np.array_equal(read.theta, result.theta)
    assert (read.gap, read.objective) == (result.gap, result.objective)
    assert read.problem["lower"] == 0.0
    assert np.array_equal(read.problem["upper"], problem["upper"])
    assert read.problem["loss"] == problem["loss"]
    assert np.array_equal(read.problem["ridge"].toarray(), problem["ridge"].toarray())
    assert np.array_equal(read.problem["linear"], problem["linear"])
    assert read.matches(sparse_of(A), y) == {"A": True, "y": True}
    assert read.matches(A, y + 1.0) == {"A": True, "y": False}


def test_outputs_appear_together_or_not_at_all(tmp_path):
    (tmp_path / "old").write_text("kept")
    with Outputs() as outputs:  # left without commit, as by an exception
        outputs.write(tmp_path / "old", "--a", lambda part: part.write_text("new"))
        outputs.write(tmp_path / "two", "--b", lambda part: part.write_text("two"))
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "kept"
    with Outputs() as outputs:
        outputs.write(tmp_path / "old", "--a", lambda part: part.write_text("new"))
        assert (tmp_path / "old").read_text() == "kept"
        outputs.commit()
    assert (tmp_path / "old").read_text() == "new"


def test_written_files_have_ordinary_permissions_and_links_stay(tmp_path):
    (tmp_path / "plain").touch()
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "text"
    mode = (tmp_path / "target").stat().st_mode
    assert mode == (tmp_path / "plain").stat().st_mode


def mat_variables() -> dict:
    rng = np.random.default_rng(3)
    A, _ = problem()
    return {
        "double": A,
        "single": A.astype(np.float32),
        **{k: (100 * A).astype(k) for k in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")},
        "logical": A > 0.5,
        "complex": A + 1j,
        "cube": rng.random((2, 3, 4)),
        "small": np.array([[7]], dtype=np.int16),
        "empty": np.zeros((0, 3)),
        "sparse": sparse.csc_matrix(A),
        "sparse_logical": sparse.csc_matrix(A > 0.5),
        "no_entries": sparse.csc_matrix((4, 5)),
    }  # fmt: skip


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("version", ["5", "4"])
def test_matlab_files_as_scipy_writes_them(tmp_path, compressed, version):
    """The same numbers as SciPy's own reader finds."""
    path = tmp_path / "all.mat"
    left_out = ("cube", "i1", "i8", "u8", "u4", "logical") if version == "4" else ()
    given = {k: v for k, v in mat_variables().items() if k not in left_out}
    words = {} if version == "4" else {"words": "text", "cell": np.array([1, "a"], dtype=object)}
    io.savemat(path, {**given, **words}, format=version, do_compression=compressed)
    known = load_mat(path)
    for name in given:
        found, expected = read_matrix(f"{path}:{name}", "A").array, known[name]
        assert bool(sparse.issparse(found)) == bool(sparse.issparse(expected)), name
        if sparse.issparse(found):
            found, expected = found.toarray(), expected.toarray()
        assert np.array_equal(found, expected), name
    for name in words:
        with pytest.raises(FileProblem, match=f"A: .*: '{name}' does not hold numbers"):
            read_matrix(f"{path}:{name}", "A")


@pytest.mark.parametrize("sparse_one", [False, True])
def test_broken_matlab_files_are_refused(tmp_path, sparse_one):
    """Cut short, or with a byte changed, anywhere: an array or a FileProblem, never a crash."""
    path = tmp_path / "A.mat"
    A = problem()[0][:3, :3]
    io.savemat(path, {"A": sparse.csc_matrix(A) if sparse_one else A})
    whole = path.read_bytes()
    for at in range(len(whole)):
        for content in (whole[:at], whole[:at] + b"\xff" + whole[at + 1 :]):
            path.write_bytes(content)
            with suppress(FileProblem):
                read_matrix(str(path), "A")
