"""`boxreg unmix`, bad input: one clear line, exit code 2, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bad_files import refused
from mixing import BANDS, beside_a_scene, scene

library, image, _ = scene()


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    return beside_a_scene(tmp_path, monkeypatch, capsys)


BAD = [
    ((), "unmix: expected LIBRARY and IMAGE, or --dataset NAME"),
    (("library.npy",), "unmix: expected LIBRARY and IMAGE, or --dataset NAME"),
    (("nowhere.npy", "image.npy"), "library: there is no file nowhere.npy"),
    (("library.npy", "nowhere.mat"), "image: there is no file nowhere.mat"),
    (
        ("image.npy", "image.npy"),
        "library: expected a matrix, bands × spectra, got shape (6, 9, 15)",
    ),
    (
        ("turned.npy", "image.npy"),
        "image: no axis has 5 entries, the bands of the library, in shape (6, 9, 15)",
    ),
    (
        ("library.npy", "cube.npy"),
        "image: several axes have 15 entries, the bands of the library, in shape (15, 15, 4); say "
        "which, with --axis",
    ),
    (
        ("library.npy", "image.npy", "--axis", "1"),
        "image: expected 15 entries (bands of the library) along axis 1, got shape (6, 9, 15)",
    ),
    (
        ("library.npy", "image.npy", "--axis", "3"),
        "axis: 3 is no axis of an image of shape (6, 9, 15)",
    ),
    (
        ("library.npy", "pixels.npy"),
        "image: 54 pixels in a matrix have no height and width; give --shape HEIGHT WIDTH",
    ),
    (
        ("library.npy", "pixels.npy", "--shape", "6", "8"),
        "shape: 6 × 8 is not the 54 pixels of the image",
    ),
    (
        ("library.npy", "image.npy", "--shape", "6", "9"),
        "image: --shape is for a matrix of pixels, got shape (6, 9, 15)",
    ),
    (
        ("library.npy", "nan.npy"),
        "Y: right-hand side (2, 3) contains NaN (1 such in this chunk); --nan skip leaves them out",
    ),
    (
        ("pickled.npy", "image.npy"),
        "library: pickled.npy holds pickled objects, which are never loaded; save plain numbers",
    ),
    (
        ("library.npy", "image.npy", "--lower", "2", "--upper", "1"),
        "bounds: lower must not exceed upper, but lower[0] = 2 > upper[0] = 1 (5 such coordinates)",
    ),
    (
        ("library.npy", "image.npy", "--scale", "0"),
        "scale: expected a number from 1e-140 to 1e+140, got 0.0",
    ),
    (("library.npy", "image.npy", "--top", "0"), "--top: expected a whole number >= 1, got 0"),
    (("library.npy", "image.npy", "--names", "no.txt"), "--names: there is no file no.txt"),
    (
        ("library.npy", "image.npy", "--names", "few.txt"),
        "names: expected 5 (columns of the library), got 2",
    ),
    (
        ("library.npy", "image.npy", "--names", "x.npz"),
        "--names: x.npz holds no words named 'names'",
    ),
    (
        ("library.npy", "image.npy", "-o", "few.txt"),
        "--output: few.txt cannot be made (it is not a folder)",
    ),
    (("none.npy", "image.npy"), "library: has no columns; expected one for each spectrum"),
    (("library.npy", "empty.npy"), "image: has no pixels, shape (6, 0, 15)"),
    (
        ("library.npy", "image.npy", "-o", "a\0b"),
        "--output: a\0b cannot be made (embedded null byte)",
    ),
    (
        ("library.npy", "image.npy", "-o", "a" * 5000),
        f"--output: {'a' * 80} cannot be made (File name too long)",
    ),
    (
        ("library.npy", "image.npy", "--dataset", "cuprite"),
        "unmix: expected LIBRARY and IMAGE, or --dataset NAME",
    ),
    (
        ("--dataset", "mnist"),
        "dataset: unknown scene 'mnist'; accepted: cuprite_usgs, jasper_ridge",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(run, arguments, message):
    np.save("turned.npy", library.T)
    np.save("none.npy", library[:, :0])
    np.save("empty.npy", image[:, :0])
    np.save("cube.npy", np.zeros((15, 15, 4)))
    np.save("pixels.npy", image.reshape(-1, BANDS))
    holes = image.copy()
    holes[2, 3, 1] = np.nan
    np.save("nan.npy", holes)
    np.save("pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez("x.npz", names=np.arange(5))
    Path("few.txt").write_text("a\nb\n")
    refused(run, ("unmix", *arguments), message)
    assert not Path("out").exists()


def test_a_data_set_that_is_not_there(run):
    code, _, err = run("unmix", "--dataset", "cuprite")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("boxreg: cuprite_usgs: BOXREG_DATA is not set; ")
    assert not Path("out").exists()


def test_maps_without_matplotlib(run, monkeypatch):
    monkeypatch.setattr("boxreg.cli.unmix.find_spec", lambda name: None)
    said = "unmix: its maps need matplotlib: pip install 'boxreg[plot]'"
    refused(run, ("unmix", "library.npy", "image.npy"), said)
