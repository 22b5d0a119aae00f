"""The real data, or synthetic stand-ins of the same kind where they are not to be had."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..datasets import DataNotFound, dataset
from .case import Case

STAND_IN = "synthetic stand-in"
_TWINS = (1366, 1402)
"""Two documents of the NIPS data that are identical: neither serves as y."""
_FIRST_DOCUMENT = 100


@lru_cache(maxsize=8)
def arrays(name: str) -> dict[str, Any] | None:
    """The arrays of a data set; None where it cannot be had."""
    try:
        return dict(dataset(name))
    except DataNotFound:
        return None


def origin(name: str) -> str:
    """'real', or that it is a stand-in."""
    return "real" if arrays(name) is not None else STAND_IN


def titled(title: str, name: str) -> str:
    """A title that says so where the data are not the real ones."""
    return title if origin(name) == "real" else f"{title} ({STAND_IN} for {name})"


def explained(text: list[str], name: str) -> list[str]:
    """The text, after a warning where the data are not the real ones."""
    if origin(name) == "real":
        return text
    warning = (
        f"The data set {name} is not to be had here: these are made-up data of the same kind, and the "
        "paper's figures do not apply to them. What follows describes the real data."
    )
    return [warning, *text]


@lru_cache(maxsize=1)
def _documents() -> Any:
    """Documents as the columns of a sparse matrix, scaled to unit norm."""
    held = arrays("nips_1-17")
    if held is None:
        counts = _topics(words=3000, documents=400)
    else:
        parts = (held["data"].astype(float), held["indices"], held["indptr"])
        counts = sparse.csr_array(parts, shape=tuple(held["shape"]))
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts, norms = counts[norms > 0], norms[norms > 0]
    return sparse.csc_array((sparse.diags(1.0 / norms) @ counts).T)


def _topics(words: int, documents: int, topics: int = 25) -> Any:
    """Word counts of documents that mix a few topics."""
    rng = np.random.default_rng(17)
    common = 1.0 / np.arange(1, words + 1)
    topic = rng.gamma(0.05, size=(topics, words)) * common + 1e-3 * common
    topic /= topic.sum(axis=1, keepdims=True)
    mixture = rng.dirichlet(np.full(topics, 0.2), size=documents)
    lengths = rng.integers(300, 1500, size=documents)
    return sparse.csr_array(rng.poisson(mixture @ topic * lengths[:, None]).astype(float))


def document_indices(count: int) -> list[int]:
    """Which documents take their turn as y: the first is always the same, the others spread."""
    total = _documents().shape[1]
    first = min(_FIRST_DOCUMENT, total // 3)
    others = np.linspace(0, total - 1, count + 1).astype(int)[1:]
    return [first, *(int(j) for j in others if j not in (*_TWINS, first))][:count]


@lru_cache(maxsize=2)
def nips(document: int) -> Case:
    """One document by non-negative combinations of the others."""
    columns = _documents()
    others = np.delete(np.arange(columns.shape[1]), document)
    y = columns[:, [document]].toarray().ravel()
    return Case(f"nips-{document}", columns[:, others], y, 0.0, np.inf)


@lru_cache(maxsize=1)
def scene() -> tuple[Array, Array, list[str], tuple[int, int]]:
    """Library, pixels as columns, names of the minerals, and (height, width), column-major."""
    held = arrays("cuprite_usgs")
    if held is None:
        return _made_up_scene()
    height, width = (int(side) for side in held["image_shape"])
    pixels = held["Y_int16"] * float(held["Y_scale"])
    names = [str(name) for name in held["names"]]
    return np.asfortranarray(held["A"], dtype=np.float64), pixels, names, (height, width)


def _made_up_scene() -> tuple[Array, Array, list[str], tuple[int, int]]:
    """Smooth spectra with a few absorption bands, and a scene that mixes six of them in patches."""
    rng = np.random.default_rng(29)
    bands, minerals, height, width = 188, 120, 50, 90
    across = np.linspace(0.0, 1.0, bands)[:, None]
    level = rng.uniform(0.2, 0.8, minerals) * (1.0 + 0.4 * np.sin(3.0 * across))
    for _ in range(4):
        centre, depth = rng.uniform(0, 1, minerals), rng.uniform(0, 0.5, minerals)
        breadth = rng.uniform(0.01, 0.1, minerals)
        level *= 1.0 - depth * np.exp(-(((across - centre) / breadth) ** 2))
    rows, columns = np.mgrid[0:height, 0:width]
    weights = np.zeros((minerals, height * width))
    for j in rng.choice(minerals, 6, replace=False):
        away = ((rows - rng.uniform(0, height)) / 12) ** 2
        away = away + ((columns - rng.uniform(0, width)) / 18) ** 2
        weights[j] = np.exp(-away).ravel(order="F")
    weights /= weights.sum(axis=0) + 0.2
    noise = 0.002 * rng.standard_normal((bands, height * width))
    names = [f"Mineral{j:03d} made up" for j in range(minerals)]
    return (
        np.asfortranarray(level),
        np.maximum(level @ weights + noise, 0.0),
        names,
        (height, width),
    )


def pixel_indices(count: int) -> list[int]:
    """Pixels spread over the scene, the ends left out."""
    total = scene()[1].shape[1]
    return [int(j) for j in np.linspace(0, total - 1, count + 2).astype(int)[1:-1]]


@lru_cache(maxsize=2)
def cuprite(pixel: int, coded: bool) -> Case:
    """A pixel by the minerals of the library, each in [0, 1].

    As coded: columns and pixel scaled to unit norm, N(0, 0.1²) added to the pixel.
    """
    library, pixels, _, _ = scene()
    y = pixels[:, pixel]
    if not coded:
        return Case(f"cuprite-printed-{pixel}", library, y, 0.0, 1.0)
    noise = 0.1 * np.random.default_rng(pixel).standard_normal(len(y))
    unit = np.asfortranarray(library / np.linalg.norm(library, axis=0))
    return Case(f"cuprite-coded-{pixel}", unit, y / np.linalg.norm(y) + noise, 0.0, 1.0)


@lru_cache(maxsize=1)
def signatures() -> tuple[Array, Array]:
    """Mutational signatures as columns, and the counts of the tumours as columns."""
    held = arrays("mutational_signatures")
    if held is not None:
        return np.asfortranarray(held["A_cosmic_v34"]), held["Y_pcawg"].astype(float)
    rng = np.random.default_rng(96)
    A = rng.dirichlet(np.full(96, 0.15), size=80).T + 1e-6
    exposures = rng.gamma(0.1, 4000.0, size=(80, 200))
    return np.asfortranarray(A / A.sum(axis=0)), rng.poisson(A @ exposures).astype(float)
