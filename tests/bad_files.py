"""Input that is refused, and how."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
from scipy import io, sparse

from command_line import CommandLine


def write_bad_files(folder: Path, A: np.ndarray, y: np.ndarray) -> None:
    """Files that cannot be read, or hold what cannot be used."""
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


def refused(run: CommandLine, arguments: tuple[str, ...], message: str) -> None:
    """One line, exit code 2, and no file made or changed."""
    before = {name: Path(name).stat().st_mtime_ns for name in run.files()}
    code, _, err = run(*arguments)
    assert err == f"boxreg: {message}\n"
    assert code == 2
    assert {name: Path(name).stat().st_mtime_ns for name in run.files()} == before
