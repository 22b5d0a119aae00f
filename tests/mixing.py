"""A small scene with known abundances."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from command_line import CommandLine

HEIGHT, WIDTH, BANDS = 6, 9, 15
NAMES = ("Alunite a", "Alunite b", "Kaolin", "Water", "Grass")


def scene() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A library of 5 smooth spectra, an image 6 × 9 of them, and its abundances."""
    rng = np.random.default_rng(4)
    across = np.linspace(0.0, 1.0, BANDS)[:, None]
    library = 0.2 + np.exp(-(((across - np.linspace(0.1, 0.9, 5)) / 0.2) ** 2))
    x = rng.dirichlet([3.0, 2.0, 1.0, 0.5, 0.2], HEIGHT * WIDTH).reshape(HEIGHT, WIDTH, 5)
    return library, x @ library.T, x


def beside_a_scene(folder, monkeypatch, capture) -> CommandLine:
    """The command line in a folder with the scene in files, and no real data."""
    library, image, _ = scene()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("BOXREG_DATA", raising=False)
    np.save("library.npy", library)
    np.save("image.npy", image)
    Path("names.txt").write_text("\n".join(NAMES) + "\n")
    return CommandLine(folder, capture)
