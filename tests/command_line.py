"""Running `boxreg` in this process, in a folder of small problems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from boxreg.cli import main


class CommandLine:
    """`boxreg` in one folder: exit code, and what it said on both streams."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


def problem(m: int = 12, n: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """A matrix with zeros and a target, with several coordinates at each bound of [0, 0.5]."""
    rng = np.random.default_rng(5)
    A = np.where(rng.random((m, n)) < 0.6, rng.random((m, n)), 0.0)
    return A, A @ np.where(rng.random(n) < 0.3, 1.0, 0.0) + 0.1 * rng.standard_normal(m)


def write_problem(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """A.npy and y.npy."""
    A, y = problem()
    np.save(folder / "A.npy", A)
    np.save(folder / "y.npy", y)
    return A, y


def sparse_of(A: np.ndarray) -> sparse.csc_array:
    return sparse.csc_array(A)


def image() -> tuple[np.ndarray, np.ndarray]:
    """The same matrix, and 12 × 40 × 8 right-hand sides >= 0.

    Blocks of 128 are 16 lines of 8: three chunks where memory is scarce.
    """
    A, _ = problem()
    rng = np.random.default_rng(8)
    x = np.where(rng.random((20, 320)) < 0.2, rng.random((20, 320)), 0.0)
    return A, np.abs(A @ x + 0.05 * rng.standard_normal((12, 320))).reshape(12, 40, 8)


def stored(name: str) -> np.ndarray:
    """x from an .npy, .npz or .zarr file."""
    if name.endswith(".zarr"):
        return pytest.importorskip("zarr").open_array(name, mode="r")[:]
    return np.load(name) if name.endswith(".npy") else np.load(name)["x"]


def beside_an_image(folder, monkeypatch, capture) -> CommandLine:
    """The command line in a folder with A and right-hand sides in files."""
    A, Y = image()
    monkeypatch.chdir(folder)
    np.save("A.npy", A)
    np.save("Y.npy", Y)
    return CommandLine(folder, capture)
