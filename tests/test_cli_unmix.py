"""`boxreg unmix`: abundances, maps, a page; and what it refuses."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import numpy as np
import pytest
from scipy import io

import boxreg
from mixing import BANDS, HEIGHT, NAMES, WIDTH, beside_a_scene, scene

FILES = {"abundances.npy", "maps.png", "residual.png", "summary.json", "index.html"}
library, image, truth = scene()


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    return beside_a_scene(tmp_path, monkeypatch, capsys)


def outputs(folder="out"):
    return {path.name for path in Path(folder).iterdir()}


def test_abundances_maps_and_page(run):
    code, out, err = run(
        *("unmix", "library.npy", "image.npy", "--names", "names.txt", "--top", "3"),
        *("--upper", "1", "-o", "out"),
    )
    assert (code, err) == (0, "")
    assert outputs() == FILES
    x = np.load("out/abundances.npy")
    np.testing.assert_array_equal(x, boxreg.solve_many(library, image, upper=1.0, axis=-1).x)
    np.testing.assert_allclose(x, truth, atol=1e-9)
    lines = out.splitlines()
    assert lines[1].startswith("Y       image.npy: 6 × 9 × 15, dense float64")
    assert lines[2] == "bounds  0 <= x <= 1"
    assert lines[3] == "boxreg: 54 of 54 right-hand sides solved, 54 to the gap asked for"
    assert lines[-1].startswith("Written: out/abundances.npy out/maps.png ")
    held = json.loads(Path("out/summary.json").read_text())
    assert (held["height"], held["width"], held["bands"], held["spectra"]) == (6, 9, 15, 5)
    assert (held["pixels"], held["solved"], held["proved"]) == (54, 54, 54)
    assert held["worst_relative_gap"] <= 1e-8
    means = {m["name"]: m["mean"] for m in held["largest_means"]}
    expected = dict(zip(NAMES, truth.mean(axis=(0, 1)), strict=True))
    assert means == pytest.approx(expected, abs=1e-9)
    assert list(means.values()) == sorted(means.values(), reverse=True)
    page = Path("out/index.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("data:image/png;base64,") == 2
    assert "http" not in page
    for name in ("maps.png", "residual.png"):
        assert Path("out", name).read_bytes().startswith(b"\x89PNG")


ODD_NAMES = [
    r"a$b \\frac{1} $x_$ 50% _ ^ # ~ & {",
    '</title><script>alert("1")</script>&amp;',
    "中文 \U0001f600 é \x00 \u202e \x07",
    "_hidden",
    "$",
]


@pytest.mark.parametrize("usetex", [False, True])
def test_names_are_words_not_formulas(run, usetex):
    """Names, and names of files, are shown as they are: no formula, no markup."""
    import matplotlib as mpl

    np.savez("library$.npz", A=library, names=np.array([*ODD_NAMES[:4], "\udcff$"]))
    np.save("im$age_50% <b>&.npy", image)
    with mpl.rc_context({"text.usetex": usetex}):
        code, _, err = run("unmix", "library$.npz", "im$age_50% <b>&.npy", "-o", "out")
    assert (code, err) == (0, "")
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>" not in page
    assert escape(ODD_NAMES[0]) in page
    held = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))
    assert held["scene"] == "im$age_50% <b>&.npy"
    assert {m["name"] for m in held["largest_means"]} == {*ODD_NAMES[:4], "\udcff$"}
    for name in ("maps.png", "residual.png"):
        assert Path("out", name).read_bytes().startswith(b"\x89PNG")


def test_materials_of_one_name_are_summed(run):
    assert run("unmix", "library.npy", "image.npy", "--names", "names.txt", "--group")[0] == 0
    held = json.loads(Path("out/unmix/summary.json").read_text())
    first = held["largest_means"][0]
    assert (held["materials"], first["name"], first["spectra"]) == (4, "Alunite", 2)
    assert first["mean"] == pytest.approx(truth[:, :, :2].sum(axis=2).mean(), abs=1e-9)


def _columns_first():
    return image.swapaxes(0, 1).reshape(-1, BANDS)


LAYOUTS = {
    "bands first": (lambda: np.moveaxis(image, -1, 0), ()),
    "pixels as rows": (lambda: image.reshape(-1, BANDS), ("--shape", "6", "9")),
    "pixels as columns": (lambda: image.reshape(-1, BANDS).T, ("--shape", "6", "9")),
    "down first": (_columns_first, ("--shape", "6", "9", "--column-major")),
    "down first, columns": (lambda: _columns_first().T, ("--shape", "6", "9", "--column-major")),
    "an axis": (lambda: image, ("--axis", "2")),
    "other units": (lambda: 1e4 * image, ("--scale", "1e-4")),
}


@pytest.mark.parametrize(("make", "options"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_layouts(run, make, options):
    np.save("image.npy", make())
    assert run("unmix", "library.npy", "image.npy", "-o", "out", "-q", *options) == (0, "", "")
    x = np.load("out/abundances.npy")
    bands_first = np.load("image.npy").shape[0] == BANDS
    np.testing.assert_allclose(np.moveaxis(x, 0, -1) if bands_first else x, truth, atol=1e-9)
    held = json.loads(Path("out/summary.json").read_text())
    assert (held["height"], held["width"]) == (HEIGHT, WIDTH)
    assert held["residual_largest"] < 1e-9


def test_keys_are_found(run):
    np.savez("scene.npz", A=library, Y=image, names=np.array(NAMES))
    assert run("unmix", "scene.npz", "scene.npz", "-o", "out", "-q")[0] == 0
    held = json.loads(Path("out/summary.json").read_text())
    assert {m["name"] for m in held["largest_means"]} == set(NAMES)
    io.savemat("scene.mat", {"M": library, "cube": image})
    names = ("--names", "scene.npz:names")
    assert run("unmix", "scene.mat:M", "scene.mat:cube", "-o", "out", "-q", *names)[0] == 0


def test_pixels_that_are_skipped(run):
    holes = image.copy()
    holes[2, 3, 1] = np.nan
    np.save("image.npy", holes)
    options = ("--nan", "skip", "-o", "out")
    assert run("unmix", "library.npy", "image.npy", *options)[0] == 0
    held = json.loads(Path("out/summary.json").read_text())
    assert (held["pixels"], held["solved"], held["proved"]) == (54, 53, 53)
    assert held["residual_largest"] < 1e-9
    assert "Every finite pixel solved" in Path("out/index.html").read_text()
    np.save("image.npy", np.full_like(image, np.nan))  # nothing to be seen, and no error
    assert run("unmix", "library.npy", "image.npy", *options)[0] == 0
    assert json.loads(Path("out/summary.json").read_text())["residual_median"] is None


def test_a_failure_while_writing_keeps_the_abundances_alone(run, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("boxreg.cli.unmix._put", full)
    code, _, err = run("unmix", "library.npy", "image.npy", "-o", "out")
    assert code == 2
    assert err == "boxreg: --output: out/maps.png cannot be written (No space left on device)\n"
    assert outputs() == {"abundances.npy"}
