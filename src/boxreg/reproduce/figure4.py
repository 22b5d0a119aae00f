"""Figure 4: hyperspectral unmixing with bounds, projected gradient and Chambolle–Pock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from . import data
from .case import Case
from .real import RealFigure
from .scale import Scale

_FEW = 2
"""Pixels as printed: without noise the plain algorithms take minutes and more."""


def _pixels(coded: bool, scale: Scale) -> Mapping[str, Callable[[], Case]]:
    kind = "coded" if coded else "printed"
    count = scale.pixels if coded else min(scale.pixels, _FEW)
    return {
        f"{kind}-{pixel}": partial(data.cuprite, pixel, coded)
        for pixel in data.pixel_indices(count)
    }


EXPERIMENT = RealFigure(
    name="figure4",
    title="Figure 4: hyperspectral unmixing, Cuprite × USGS library",
    text=(
        "A pixel of the Cuprite scene by 342 minerals of the USGS 1995 library, 188 bands, bounds "
        "[0, 1]. The paper's code scales columns and pixel to unit norm and adds N(0, 0.1²) to the "
        "pixel (as coded); as printed, reflectances are taken as they are.",
        "Not the paper's data to the letter: which 188 of the 224 bands it kept is an assumption here "
        "(channels 3–103, 114–147, 168–220), and the pixels are those of a 50 × 90 sub-scene.",
        "Steps and starts as in table 2.",
    ),
    dataset="cuprite_usgs",
    solvers=("projected_gradient", "chambolle_pock"),
    variants={"as coded": partial(_pixels, True), "as printed": partial(_pixels, False)},
    expected=3.0,
    longest=60.0,
)
