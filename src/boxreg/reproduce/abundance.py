"""Beyond the paper: an abundance map of the whole Cuprite sub-scene."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from ..api import solve
from ..arrays import Index
from ..reporting.plain_text import PLAIN
from . import data
from .scale import Scale
from .section import Column, Drawing, Row, Section, Table
from .store import Cell, Figures
from .theme import Theme, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

name = "abundance"
_SHOWN = 11
_TOLERANCE = 1e-8


def _sites(stride: int) -> tuple[Index, tuple[int, int]]:
    """Indices of the pixels taken, column-major, and the shape of their image."""
    height, width = data.scene()[3]
    index = np.arange(height * width).reshape((height, width), order="F")[::stride, ::stride]
    return index.ravel(order="F"), (index.shape[0], index.shape[1])


def _measure(stride: int) -> Figures:
    """Unmix pixel by pixel; sums of coefficients by kind of mineral, the largest ones as maps."""
    library, pixels, names, _ = data.scene()
    sites, shape = _sites(stride)
    kinds = [label.split()[0] for label in names]
    groups = sorted(set(kinds))
    member = np.array([groups.index(kind) for kind in kinds])
    sums = np.zeros((len(groups), len(sites)))
    residual, gaps, atoms, seconds = (np.zeros(len(sites)) for _ in range(4))
    proved = 0
    for k, site in enumerate(sites):
        y = pixels[:, int(site)]
        clock = perf_counter()
        result = solve(library, y, tol=_TOLERANCE)
        seconds[k] = perf_counter() - clock
        np.add.at(sums[:, k], member, result.x)
        residual[k] = np.linalg.norm(library @ result.x - y) / np.linalg.norm(y)
        gaps[k], atoms[k] = result.relative_gap, np.count_nonzero(result.x)
        proved += bool(result.success and result.certificate)
    order = np.argsort(-sums.mean(axis=1))[:_SHOWN]
    return {
        "pixels": len(sites),
        "shape": list(shape),
        "seconds": float(seconds.sum()),
        "milliseconds_median": float(1e3 * np.median(seconds)),
        "proved": proved,
        "worst_relative_gap": float(np.max(gaps)),
        "atoms_median": float(np.median(atoms)),
        "residual_median": float(np.median(residual)),
        "names": [groups[j] for j in order],
        "means": [float(sums[j].mean()) for j in order],
        "maps": [np.round(sums[j], 4).tolist() for j in order],
        "residual": np.round(residual, 5).tolist(),
    }


def cells(scale: Scale) -> list[Cell]:
    """The whole map is one measurement."""
    settings = {
        "workload": name,
        "stride": scale.stride,
        "tol": _TOLERANCE,
        "data": data.origin("cuprite_usgs"),
    }
    expected = 4500 / scale.stride**2 * 0.004
    return [Cell(f"{name}-{scale.stride}", settings, partial(_measure, scale.stride), expected)]


def section(scale: Scale, held: Mapping[str, Figures]) -> Section:
    """What was proved, the means, and the maps."""
    found = held.get(f"{name}-{scale.stride}")
    text = [
        "Every pixel of the sub-scene by non-negative combinations of the library, one call of "
        "boxreg.solve each, relative gap 1e-8; coefficients summed over the spectra of a mineral. "
        "Coefficients are those of reflectance spectra, not areas: no sum-to-one constraint."
    ]
    if scale.stride > 1:
        text.append(f"Every {scale.stride}th row and column of the scene.")
    title = data.titled("Beyond the paper: abundance map of Cuprite", "cuprite_usgs")
    text = data.explained(text, "cuprite_usgs")
    if found is None:
        return Section(name, title, text)
    drawing = Drawing(
        name,
        "Coefficients of the minerals with the largest means, and the relative residual.",
        partial(_draw, found),
    )
    return Section(name, title, text, [_summary(found), _means(found)], [drawing])


def _summary(found: Figures) -> Table:
    facts = (
        ("pixels", found["pixels"]),
        ("answers proved to 1e-8", found["proved"]),
        ("seconds in all", round(found["seconds"], 2)),
        ("milliseconds a pixel, median", round(found["milliseconds_median"], 2)),
        ("worst relative gap", f"{found['worst_relative_gap']:.1e}"),
        ("spectra in a pixel, median", found["atoms_median"]),
        ("relative residual, median", round(found["residual_median"], 4)),
    )
    rows: list[Row] = [{"what": what, "value": value, "marks": {}} for what, value in facts]
    return Table("The map", (Column("what", "what"), Column("value", "value")), rows)


def _means(found: Figures) -> Table:
    pairs = zip(found["names"], found["means"], strict=True)
    rows: list[Row] = [{"mineral": mineral, "mean": mean, "marks": {}} for mineral, mean in pairs]
    columns = (Column("mineral", "mineral"), Column("mean", "mean coefficient", "number"))
    return Table("Largest means", columns, rows)


def _draw(found: Figures, theme: Theme) -> Figure:
    shape = tuple(found["shape"])
    maps = [*zip(found["names"], found["maps"], strict=True), ("residual", found["residual"])]
    figure, axes = panels(theme, 3, 4, (10.0, 5.6))
    for axis, (title, values) in zip(axes, maps, strict=False):
        image = np.reshape(values, shape, order="F")
        drawn = axis.imshow(
            image, cmap="cividis", vmin=0.0, vmax=max(np.quantile(image, 0.99), 1e-9)
        )
        axis.set_title(title, fontsize=9, **PLAIN)
        figure.colorbar(drawn, ax=axis, shrink=0.7).ax.tick_params(labelsize=7)
    for axis in axes:
        axis.set_xticks([])
        axis.set_yticks([])
        axis.grid(False)
        axis.set_visible(bool(axis.images))
    return figure
