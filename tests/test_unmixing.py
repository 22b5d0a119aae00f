"""Maps, figures and scenes of an unmixing."""

from __future__ import annotations

import numpy as np
import pytest

import boxreg
from boxreg.unmixing import (
    Maps,
    Scene,
    abundance_figure,
    maps_of,
    residual_figure,
    scene_of_dataset,
)
from real_data import load


def test_residuals_and_sums_by_hand():
    held = Scene("by hand", np.eye(2), np.array([[[3.0, 4.0]], [[0.0, 0.0]]]), 2, ("a", "a"))
    x = np.array([[[3.0, 0.0]], [[0.0, 0.0]]])
    maps = maps_of(held, x)
    assert maps.abundance.tolist() == [[[3.0], [0.0]]]
    assert maps.residual.tolist() == [[0.8], [0.0]]  # ‖(0, 4)‖ / ‖(3, 4)‖
    assert (maps.names, maps.spectra, maps.means.tolist()) == (("a",), (2,), [1.5])


@pytest.mark.parametrize("shape", [(6, 9), (1, 40), (60, 4), (1, 1)])
@pytest.mark.parametrize("count", [1, 7])
def test_nothing_in_a_figure_overlaps(shape, count):
    """Titles, maps and colour bars of different panels stay apart, and inside the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    rng = np.random.default_rng(1)
    names = tuple(f"a mineral with a long name, {k}" for k in range(count))
    maps = Maps(names, (1,) * count, rng.random((count, *shape)), rng.random(shape))
    held = Scene("a_file_with_quite_a_long_name_of_its_own.npy", None, None, 0, ())
    for figure in (abundance_figure(held, maps, 6), residual_figure(held, maps)):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        drawn = [axes.get_tightbbox() for axes in figure.axes if axes.get_visible()]
        for k, box in enumerate(drawn):
            assert box.x0 >= -2
            assert box.x1 <= figure.bbox.x1 + 2
            assert box.y0 >= -2
            assert box.y1 <= figure.bbox.y1 + 2
            for other in drawn[k + 1 :]:
                assert not box.padded(-1).overlaps(other.padded(-1))
        for axes in figure.axes:
            assert axes.get_aspect() == 1.0


@pytest.mark.parametrize("name", ["cuprite_usgs", "jasper_ridge"])
def test_real_scenes(name):
    data = load(name)
    held = scene_of_dataset(name.split("_", maxsplit=1)[0])
    height, width = data["image_shape"]
    pixels = data["Y_int16"] if name == "cuprite_usgs" else data["Y_uint16"]
    assert held.image.shape == (len(pixels), height, width)
    assert np.array_equal(held.image[:, 3, 7], pixels[:, 3 + height * 7])
    assert held.names[0] == ("Acmite" if name == "cuprite_usgs" else held.names[0])
    one = boxreg.solve_many(held.matrix, held.image[:, :2, :2])
    again = boxreg.solve(data["A"].astype(float), pixels[:, 0] * float(data["Y_scale"]))
    np.testing.assert_allclose(one.x[:, 0, 0], again.x, atol=1e-6)
